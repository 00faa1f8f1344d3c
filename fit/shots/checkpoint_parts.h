/* Files of a checkpoint with shots: one for each process, PREFIX.checkpoint.GENERATION.PART, with a block for each
 * shot. */
#ifndef DB_FIT_SHOTS_CHECKPOINT_PARTS_H
#define DB_FIT_SHOTS_CHECKPOINT_PARTS_H

#include "base/md5.h"
#include "fit/shots/blocks.h"
#include "fit/shots/shots.h"

#define DB_CHECKPOINT_BEGINS "checkpoint " /* then the number of its format */
enum { DB_PART_PATH_SIZE = 2 * DB_FIT_PATH_SIZE };

/* Files that were begun together. */
typedef struct db_part_set {
    char of[DB_PART_PATH_SIZE - 32]; /* checkpoint of these files */
    int generation, count;
    int whole; /* 1: written at once; 0: shot by shot, and the last one may be truncated */
} db_part_set;

/* Place of a shot's block. */
typedef struct db_record_place {
    int set, part; /* set -1: none */
    long long at;
    size_t bytes;
    int stage, used;
} db_record_place;

/* State of a stage of many shots beside the shots' records; the functions write or read it. */
typedef struct db_stage_state {
    const char *name; /* name of its block */
    int stage;
    size_t history; /* entries of the history before it */
    db_status (*common)(void *user, db_pieces *pieces);
    db_status (*shot)(void *user, size_t shot, db_pieces *pieces);
    void *user;
} db_stage_state;

struct db_checkpoint {
    char *identity;             /* text of the refinement (db_identity_text); owned */
    char run[DB_MD5_TEXT_SIZE]; /* digest that identifies the refinement */
    int generation;             /* the last known one */
    db_part_set *set;           /* sets with the state of the run */
    size_t sets;
    int file;               /* this process' part of the last set; -1: none */
    long long end;          /* end of its complete blocks */
    db_record_place *place; /* [count] for a resumed run; NULL: it began from the start */
    int stage;              /* 1 + the stage in which it continues; 0: between stages */
    char *state;            /* state of this stage; owned */
    size_t state_size;
};

/* Begins a set: each process creates its part. whole: it contains all shots of the process, with their state in a
 * stage (NULL: none). */
db_status db_parts_begin(db_shots *all, int whole, const db_stage_state *state);
void db_parts_close(db_checkpoint *checkpoint);

/* Removes the files of sets of this checkpoint; each process its own. */
void db_parts_remove(const db_shots *all, const db_part_set *set, size_t sets);

/* Adds a set that a checkpoint names, in the same folder. */
db_status db_parts_add(db_shots *all, const char *checkpoint, const db_part_set *set);

/* Finds the blocks of all shots. */
db_status db_parts_index(db_shots *all);

/* Have all shots of a task done their own stages? path: of its checkpoint. */
db_status db_parts_check_task(const db_shots *all, const char *path, int task, int tasks);

/* Appends the record of a shot; called by any thread. */
db_status db_checkpoint_note(db_shots *all, db_context *context, size_t shot);

/* The next stage of a shot by the state, and whether it is in use, before the shot begins. */
int db_checkpoint_stage(const db_shots *all, size_t shot, int *used);

/* Restores a shot from its record, if there is one. */
db_status db_checkpoint_take(db_shots *all, db_context *context, size_t shot);

/* Reads the stage's state of a shot, which follows its record. */
db_status db_parts_take_state(db_shots *all, size_t shot, const db_stage_state *state);

#endif
