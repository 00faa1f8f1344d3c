/* Work on shots by all threads of all processes. */
#ifndef DB_FIT_SHOTS_WORKERS_H
#define DB_FIT_SHOTS_WORKERS_H

#include "fit/shots/shots.h"
#include "fit/shots/tree_sum.h"

db_status db_workers_create(db_shots *all);
void db_workers_destroy(db_shots *all);

/* Before the first pass, when a checkpoint has been read. Shots that this process owns already get their
 * state from the checkpoint; other shots get theirs when a process takes them. */
db_status db_workers_begin(db_shots *all);

/* Work on a shot, called for all shots of a chunk by one thread with its own context. sum: of the chunk, to which
 * the shot adds; NULL: none. A failure ends the run. */
typedef db_status (*db_shot_work)(db_shots *all, db_context *context, size_t shot, void *user,
                                  double *sum);

/* Calls work for the shots of this process that are in use. what: see db_fit_shots_event; stage: of the stages.
 * DB_OK in all processes or in none. */
db_status db_workers_each(db_shots *all, const char *what, int stage, db_shot_work work,
                          void *user);

/* As db_workers_each, with a sum: total, `size` doubles, becomes the sum over all shots in each process. */
db_status db_workers_sum(db_shots *all, const char *what, int stage, db_shot_work work, void *user,
                         size_t size, double *total);

/* Has this or another process been asked to cancel? */
int db_workers_cancelled(const db_shots *all);

/* DB_OK if all processes call it with DB_OK; otherwise the first failure, with its message, in all
 * of them. */
db_status db_workers_common_status(db_shots *all, db_status status);

/* DB_OK if the memory was there in all processes. */
#define db_workers_need_memory(all, made, what)                                                    \
    db_workers_common_status((all), db_need_memory((all)->context, (made), (what)))

#endif
