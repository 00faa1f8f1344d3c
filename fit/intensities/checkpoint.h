/* What a stage of joint intensities leaves after each pass that was accepted, so that a run which was
 * interrupted goes on there, to the same bits: what all shots share, and linearization and record of each shot. */
#ifndef DB_FIT_INTENSITIES_CHECKPOINT_H
#define DB_FIT_INTENSITIES_CHECKPOINT_H

#include "fit/intensities/search.h"

/* All processes call these. */
db_status db_intensity_keep(db_intensity_search *search);

/* Puts the stage where it was when an interrupted run left it. */
db_status db_intensity_take_up(db_intensity_search *search);

#endif
