/* Do frames of a series ask for other angles of the spindle than those given? (docs/theory/verdict.md, Turns of a series) */
#ifndef DB_FIT_SHOTS_SERIES_TURNS_H
#define DB_FIT_SHOTS_SERIES_TURNS_H

#include "fit/shots/links.h"

/* At the minimum of the last stage, whose frames have been noted and gathered: all->frames.turns says in words what turns of
 * frames are likelier than those of the model; "": none. All processes call it. */
db_status db_series_judge_turns(db_shots *all, const db_joint_minimum *at);

/* Then, with the light of frames: the same of frames that meet, though their widths are not their steps. All processes call
 * it. */
db_status db_series_judge_width(db_shots *all);

#endif
