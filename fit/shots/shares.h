/* Distribution of chunks of shots over processes. In the first pass a free process takes a run of chunks, long
 * runs first and single chunks at the end, so that slow shots delay nobody. Later, shots stay with their process,
 * like their pixels. Lattices of an image are in one process from the start. Results do not depend on the
 * distribution. */
#ifndef DB_FIT_SHOTS_SHARES_H
#define DB_FIT_SHOTS_SHARES_H

#include "fit/shots/shots.h"

db_status db_shares_create(db_shots *all);
void db_shares_destroy(db_shots *all);

/* Begins before the first pass. A single process, or one of a team without turns, gets its shots now. */
db_status db_shares_begin(db_shots *all);

/* Does this process work on the shot? */
int db_shots_own(const db_shots *all, size_t shot);

/* The next chunk of this process; -1: none is left. after: the previous one, at first -1. One thread at a time. */
long db_shares_next(db_shots *all, long after);

/* Gives all processes the owners of all chunks, after the first pass. */
db_status db_shares_agree(db_shots *all);

/* Does a task of an array work on the shot? Tasks count from 1; each has neighbours of the list, and all lattices
 * of their images. */
int db_shares_is_of_task(const db_shots *all, size_t shot, int task, int tasks);

/* Owner of a chunk (db_piece_owner); all: the shots. */
int db_shares_owner(const void *all, size_t chunk);

/* Is any process cancelled? own: 1: this process is, and tells the others. Any thread may call it. */
int db_shares_cancelled(const db_shots *all, int own);

/* Seconds of a monotonic clock. */
double db_seconds(void);

#endif
