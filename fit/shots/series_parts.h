/* Which reflections the frames of a series show: each part counts, also where a frame shows nothing
 * of a reflection that its neighbour shows. */
#ifndef DB_FIT_SHOTS_SERIES_PARTS_H
#define DB_FIT_SHOTS_SERIES_PARTS_H

#include "fit/shots/shots.h"

/* Lists the reflections of the boxes of a joint stage, and of those with strong pixels. */
db_status db_shown_note(db_context *context, const db_shoeboxes *boxes, db_shot_state *state);

/* After a joint stage what frames have shown becomes that of the stage before, which all processes learn. */
db_status db_shown_pass_on(db_shots *all);

/* DB_ERROR_INPUT if all frames together show fewer different reflections than an image needs. */
db_status db_shown_refuse_blank(db_shots *all);

/* Lists [count], of which those of this process' shots are given: gets those of the others. */
db_status db_shown_gather(db_shots *all, db_shown *shown);

/* What a frame or one of its neighbours has shown to the stage before; empty: there was none. */
db_status db_series_parts_of(const db_shots *all, db_context *context, size_t shot,
                             db_fit_spots *parts);

#endif
