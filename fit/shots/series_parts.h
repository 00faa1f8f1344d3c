/* Reflections that frames of a series show. Each part counts, also on a frame that shows nothing of a reflection
 * of its neighbour. */
#ifndef DB_FIT_SHOTS_SERIES_PARTS_H
#define DB_FIT_SHOTS_SERIES_PARTS_H

#include "fit/shots/shots.h"

/* Lists the reflections of the boxes of a joint stage, and of boxes with strong pixels. */
db_status db_shown_note(db_context *context, const db_shoeboxes *boxes, db_shot_state *state);

/* Lists those of boxes with strong pixels anew, for the model that the stage has found. */
db_status db_shown_note_again(db_context *context, const db_shoeboxes *boxes, db_shot_state *state);

/* After a joint stage: its shown reflections become the reflections of the previous stage, in all processes. */
db_status db_shown_pass_on(db_shots *all);

/* DB_ERROR_INPUT if all frames together show fewer different reflections than an image needs. */
db_status db_shown_refuse_blank(db_shots *all);

/* Lists [count] of the shots in use in all processes: the reflections of their boxes, or those that they show; to be
 * returned, also after a failure. All processes call it. */
db_status db_shown_lend(db_shots *all, int boxes, db_shown **list);
void db_shown_return(const db_shots *all, db_shown *list);

/* Reflections that a frame or one of its neighbours showed in the stage before; empty: there was none. */
db_status db_series_parts_of(const db_shots *all, db_context *context, size_t shot,
                             db_fit_spots *parts);

#endif
