/* Work on shots by all threads of all processes. */
#ifndef DB_FIT_SHOTS_WORKERS_H
#define DB_FIT_SHOTS_WORKERS_H

#include "fit/shots/shots.h"

db_status db_workers_create(db_shots *all);
void db_workers_destroy(db_shots *all);

/* Called for one shot after the other of a chunk, by one thread with its own context. A failure
 * ends the run. */
typedef db_status (*db_shot_work)(db_shots *all, db_context *context, size_t shot, void *user);

/* Calls work for shots from..to-1 that belong to this process and are in use. what: see
 * db_fit_shots_event; stage: of the stages. DB_OK in all processes or in none. */
db_status db_workers_each(db_shots *all, const char *what, int stage, size_t from, size_t to,
                          db_shot_work work, void *user);

/* Has this process been asked to cancel? */
int db_workers_cancelled(const db_shots *all);

/* Gives all processes what the owners of shots (or, by_chunk, of chunks) have written: element i of
 * `records`, each of `bytes` bytes. */
db_status db_workers_gather(db_shots *all, void *records, size_t bytes, int by_chunk);

/* The same for what is known of all shots: summaries, values, starts, errors, bounds. */
db_status db_workers_gather_shots(db_shots *all);

/* Gives all processes the data of rank 0. */
db_status db_workers_broadcast(db_shots *all, void *data, size_t bytes);

/* DB_OK if all processes call it with DB_OK; otherwise the first failure, with its message, in all
 * of them. */
db_status db_workers_common_status(db_shots *all, db_status status);

#endif
