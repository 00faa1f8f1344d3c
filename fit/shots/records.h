/* What processes tell each other of shots. Only the process that works on a shot, and rank 0, know what has
 * been found of it. */
#ifndef DB_FIT_SHOTS_RECORDS_H
#define DB_FIT_SHOTS_RECORDS_H

#include "fit/shots/blocks.h"
#include "fit/shots/shots.h"

/* All that is known of a shot beside its pixels, into bytes or out of them. */
void db_record_move(db_shots *all, size_t shot, db_pieces *pieces);
void db_shown_move(db_shown *shown, db_pieces *pieces);

/* Rank 0 learns what all processes know of their shots: summaries, values, starts, errors, bounds; all
 * learn how many are in use and of how many degrees of freedom (db_shots.used, degrees). */
db_status db_records_collect(db_shots *all);

/* An item of so many bytes of each shot, [count]: from the process that works on it to rank 0, and back. */
db_status db_records_hear(db_shots *all, void *items, size_t size);
db_status db_records_tell(db_shots *all, void *items, size_t size);

/* Items of different sizes, [count], those of this process' shots given: rank 0, or everywhere all processes,
 * get those of the others, to be freed; bytes become those of all. */
db_status db_records_gather(db_shots *all, size_t *bytes, void **item, int everywhere);

/* Rank 0 counts anew what it knows. */
db_status db_records_count(db_shots *all);

#endif
