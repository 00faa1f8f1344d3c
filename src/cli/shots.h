/* dualbragg sim --shots and --random: many images in one file, with labels. */
#ifndef DB_CLI_SHOTS_H
#define DB_CLI_SHOTS_H

#include "cli/processes.h"
#include "cli/session.h"
#include <dualbragg/setup.h>

int db_shots_wanted(const db_settings *settings);

/* Reports flags and outputs that cannot be used with many shots. */
db_status db_shots_check(const db_session *session);

/* Renders and writes all shots, together with the other processes. Reports failures itself. */
db_status db_shots_run(db_session *session, const db_processes *all);

/* The shots of a training set, from a list or at random: how each differs from the set-up of the command line. */

/* A line of the list, read. */
typedef struct db_shot_line {
    char *words;   /* as db_text_words makes them; owned */
    size_t number; /* of the line in its file */
} db_shot_line;

typedef struct db_shot_list {
    char *path; /* owned; NULL: random shots */
    db_shot_line *line;
    size_t count, capacity;
} db_shot_list;

/* Reads a text file: in each line a name, which may be missing, and KEY=VALUE. */
db_status db_shot_list_read(db_context *context, const char *path, db_shot_list *list);
void db_shot_list_clear(db_shot_list *list);

/* Checks all lines against the set-up of the command line, without reading the files that they name. */
db_status db_shot_list_check(db_context *context, const db_shot_list *list, const db_setup *setup);

/* Changes the set-up to that of a shot (from 0), and *seed if the line has one. Names of files that the set-up
 * gets are in owned[2], to be freed. */
db_status db_shot_list_apply(db_context *context, const db_shot_list *list, size_t shot,
                             db_setup *setup, long *seed, char *owned[2]);

#endif
