/* What a stage of joint intensities leaves after each pass that was accepted, so that a run which was
 * interrupted goes on there, to the same bits: beside the parts of the checkpoint (checkpoint_parts.h) a file
 * of each process with the records of its shots. That of rank 0 begins with what all shots share. */
#ifndef DB_FIT_AMPLITUDES_CHECKPOINT_H
#define DB_FIT_AMPLITUDES_CHECKPOINT_H

#include "fit/amplitudes/work.h"

/* All processes call these. */
db_status db_amplitude_keep(db_amplitude_work *work);

/* Has an interrupted run left such a state of this stage? */
int db_amplitude_was_kept(const db_amplitude_work *work);

/* Puts the stage where it was when that was left. */
db_status db_amplitude_take_up(db_amplitude_work *work);

#endif
