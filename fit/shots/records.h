/* Messages between processes about shots. Only the process that works on a shot, and rank 0, have its results. */
#ifndef DB_FIT_SHOTS_RECORDS_H
#define DB_FIT_SHOTS_RECORDS_H

#include "fit/shots/blocks.h"
#include "fit/shots/shots.h"

/* Writes the results of a shot, without its pixels, to bytes, or reads them. */
void db_record_move(db_shots *all, size_t shot, db_pieces *pieces);
void db_shown_move(db_shown *shown, db_pieces *pieces);

/* Brings summaries, values, starts, errors and bounds of all processes' shots to rank 0; all processes get the
 * number of shots in use and of their degrees of freedom (db_shots.used, degrees). */
db_status db_records_collect(db_shots *all);

/* Afterwards: brings them back to the shots' processes, as rank 0 has changed them. */
db_status db_records_return(db_shots *all);

/* Passes items of `size` bytes, one for each shot, [count]: from the shot's process to rank 0, and back. */
db_status db_records_hear(db_shots *all, void *items, size_t size);
db_status db_records_tell(db_shots *all, void *items, size_t size);

/* Passes items of different sizes, [count], of which each process has those of its shots: rank 0 (everywhere: all
 * processes) gets the others' items, to be freed, and all get the sizes. Items that are not NULL have room already. */
db_status db_records_gather(db_shots *all, size_t *bytes, void **item, int everywhere);

/* As db_records_gather, with sizes that rank 0 (everywhere: all processes) knows; in the others those of their shots. */
db_status db_records_gather_known(db_shots *all, const size_t *bytes, void **item, int everywhere);

/* Counts shots in use and degrees of freedom again, in rank 0. */
db_status db_records_count(db_shots *all);

#endif
