/* Which reflections the frames of a series show: each part counts, also where a frame shows nothing
 * of a reflection that its neighbour shows. */
#ifndef DB_FIT_SERIES_SERIES_PARTS_H
#define DB_FIT_SERIES_SERIES_PARTS_H

#include "fit/shots/shots.h"

/* Before the pixels of a joint stage are taken: what frames have shown becomes that of the stage
 * before. */
void db_series_begin_pass(db_shots *all);

/* Lists the reflections of boxes with strong pixels. */
db_status db_series_note(db_context *context, const db_shoeboxes *boxes, db_fit_spots *seen);

/* What a frame or one of its neighbours has shown to the stage before; empty: there was none. */
db_status db_series_parts_of(const db_shots *all, db_context *context, size_t shot,
                             db_fit_spots *parts);

#endif
