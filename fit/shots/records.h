/* Messages between processes about shots. Only the process that works on a shot, and rank 0, have its results. */
#ifndef DB_FIT_SHOTS_RECORDS_H
#define DB_FIT_SHOTS_RECORDS_H

#include "fit/shots/blocks.h"
#include "fit/shots/shots.h"

/* Writes the results of a shot, without its pixels, to bytes, or reads them. */
void db_record_move(db_shots *all, size_t shot, db_pieces *pieces);
void db_shown_move(db_shown *shown, db_pieces *pieces);

/* Rank 0 gets summaries, values, starts, errors and bounds of all processes' shots; all processes get the number of
 * shots in use and of their degrees of freedom (db_shots.used, degrees). */
db_status db_records_collect(db_shots *all);

/* Items of `size` bytes, one of each shot, [count]: from the process that works on the shot to rank 0, and back. */
db_status db_records_hear(db_shots *all, void *items, size_t size);
db_status db_records_tell(db_shots *all, void *items, size_t size);

/* Items of different sizes, [count], of which each process gives its shots': rank 0 (everywhere: all processes) gets the
 * items of the others, to be freed, and all get the sizes. */
db_status db_records_gather(db_shots *all, size_t *bytes, void **item, int everywhere);

/* Counts shots in use and degrees of freedom anew, by rank 0. */
db_status db_records_count(db_shots *all);

#endif
