/* Which process works on which chunk of shots. In the first pass a process takes a run of chunks whenever
 * it has done one, long runs first and single chunks at the end, so that shots that take long hold nobody
 * up. Afterwards shots stay where they are, as their pixels do. Lattices of an image are in one process from the
 * start. Results do not depend on it. */
#ifndef DB_FIT_SHOTS_SHARES_H
#define DB_FIT_SHOTS_SHARES_H

#include "fit/shots/shots.h"

db_status db_shares_create(db_shots *all);
void db_shares_destroy(db_shots *all);

/* Before the first pass. A process alone, or one of a team that cannot take turns, knows its shots now. */
db_status db_shares_begin(db_shots *all);

/* Is it this process that works on the shot? */
int db_shots_own(const db_shots *all, size_t shot);

/* The next chunk of this process; -1: none is left. after: the one before it, at first -1. One thread at a
 * time. */
long db_shares_next(db_shots *all, long after);

/* After the first pass all processes get the owners of all chunks. */
db_status db_shares_agree(db_shots *all);

/* Does a task of an array work on the shot? Tasks count from 1; each has neighbours of the list, and all lattices of
 * their images. */
int db_shares_is_of_task(const db_shots *all, size_t shot, int task, int tasks);

/* A db_piece_owner; all: the shots. */
int db_shares_owner(const void *all, size_t chunk);

/* Is any process cancelled? own: 1: this process is, and tells the others. Any thread may call it. */
int db_shares_cancelled(const db_shots *all, int own);

/* Of a clock that only goes forward. */
double db_seconds(void);

#endif
