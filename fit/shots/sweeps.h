/* Sweeps of a series: runs of frames on which a crystal turns on, on one setting of the goniometer. */
#ifndef DB_FIT_SHOTS_SWEEPS_H
#define DB_FIT_SHOTS_SWEEPS_H

#include "fit/shots/shots.h"

/* The setting that a parameter goes with (db_fit_setting); -1: none. */
int db_setting_of(db_parameter parameter);

/* Takes the numbers of the frames' settings from the source of a series, where there are several. */
db_status db_settings_find(db_shots *all);

/* Numbers the sweeps of the frames in use, in all->sweep. All processes call it. */
db_status db_sweeps_find(db_shots *all);

#endif
