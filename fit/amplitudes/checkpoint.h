/* What a stage of joint intensities leaves after each pass that was accepted, so that a run which was
 * interrupted goes on there, to the same bits: what all shots share, and sheet and record of each shot. */
#ifndef DB_FIT_AMPLITUDES_CHECKPOINT_H
#define DB_FIT_AMPLITUDES_CHECKPOINT_H

#include "fit/amplitudes/work.h"

/* All processes call these. */
db_status db_amplitude_keep(db_amplitude_work *work);

/* Puts the stage where it was when an interrupted run left it. */
db_status db_amplitude_take_up(db_amplitude_work *work);

#endif
