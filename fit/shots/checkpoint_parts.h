/* The files of a checkpoint that have the shots: one of each process, PREFIX.checkpoint.GENERATION.PART,
 * with a line for each shot. */
#ifndef DB_FIT_SHOTS_CHECKPOINT_PARTS_H
#define DB_FIT_SHOTS_CHECKPOINT_PARTS_H

#include "base/json_reader.h"
#include "base/md5.h"
#include "fit/report/json_document.h"
#include "fit/shots/shots.h"

enum { DB_PART_PATH_SIZE = 2 * DB_FIT_PATH_SIZE };

/* Files that were begun together. */
typedef struct db_part_set {
    char of[DB_PART_PATH_SIZE - 32]; /* the checkpoint that they belong to */
    int generation, count;
} db_part_set;

/* Where the record of a shot is. */
typedef struct db_record_place {
    int set, part; /* set -1: there is none */
    long long at;
    size_t bytes;
    int stage, used;
} db_record_place;

struct db_checkpoint {
    char run[DB_MD5_TEXT_SIZE]; /* digest of what the refinement is */
    int generation;             /* the last one that is known */
    db_part_set *set;           /* those that have the state of the run */
    size_t sets;
    int file;               /* of the last one, the part of this process; -1: none */
    long long end;          /* of its whole lines */
    db_record_place *place; /* [count] of a run that goes on; NULL: it began anew */
    size_t point;           /* numbers of a best point in records; 0: they have none */
    int records; /* 1 + the stage of joint intensities of which each part has records, in a file beside
                    it (fit/amplitudes/checkpoint.h); 0: there are none */
};

/* Begins a set: each process creates its part. whole: it has all shots that the process works on. point:
 * numbers of the best point of each; 0: these are not kept. */
db_status db_parts_begin(db_shots *all, int whole, size_t point);
void db_parts_close(db_checkpoint *checkpoint);

/* What the file beside a part is called, of the last set. */
void db_parts_records_path(const db_checkpoint *checkpoint, int part, char path[DB_PART_PATH_SIZE]);

/* Removes the files of sets of this checkpoint; each process its share. */
void db_parts_remove(const db_shots *all, const db_part_set *set, size_t sets);

/* A set that a checkpoint names; it is in the same folder. */
db_status db_parts_add(db_shots *all, const char *checkpoint, const char *of, int generation,
                       int count);

/* Finds the records of all shots. */
db_status db_parts_index(db_shots *all);

/* Have all shots of a task done what they do by themselves? path: of its checkpoint. */
db_status db_parts_check_task(const db_shots *all, const char *path, int task, int tasks);

/* Appends what has been found of a shot. By any thread. */
db_status db_checkpoint_note(db_shots *all, db_context *context, size_t shot);

/* What the state says of a shot: the next stage that it has to do, and whether it is in use; before it is
 * adopted. */
int db_checkpoint_stage(const db_shots *all, size_t shot, int *used);

/* Parts that the last set has, and which of them a shot is in; -1: none. */
int db_checkpoint_parts(const db_shots *all);
int db_checkpoint_part(const db_shots *all, size_t shot);

/* The record of a shot, if there is one, becomes what is known of it. */
db_status db_checkpoint_take(db_shots *all, db_context *context, size_t shot);

json_t *db_checkpoint_whole_numbers(db_document *d, const int *values, size_t count);
db_status db_checkpoint_whole_number(const db_json *at, const char *key, int least, int most,
                                     int *value);

/* Is a text in the file the same as `own`, once that is written to JSON? */
db_status db_checkpoint_same_text(const db_json *root, const char *text, const char *own,
                                  int *same);

#endif
