/* Sweeps of a series: runs of frames on which a crystal turns on, on one setting of the goniometer. */
#ifndef DB_FIT_SHOTS_SWEEPS_H
#define DB_FIT_SHOTS_SWEEPS_H

#include "fit/shots/shots.h"

/* Numbers the sweeps of the frames in use, in all->frames.sweep. All processes call it. */
db_status db_sweeps_find(db_shots *all);

#endif
