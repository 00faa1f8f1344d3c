/* A joint stage of a rotation series with free intensities: parts of a reflection on neighbouring
 * frames have one intensity (fit/objective/frames.h). All frames are in memory. */
#ifndef DB_FIT_SERIES_SERIES_STAGE_H
#define DB_FIT_SERIES_SERIES_STAGE_H

#include "fit/shots/joint.h"

/* Finds out whether the shots share intensities. DB_ERROR_UNSUPPORTED if they do in a team of
 * several processes. */
db_status db_series_begin(db_shots *all);

/* As db_joint_run, without a log: a run that was interrupted repeats the stage. */
db_status db_series_run(db_shots *all, int stage, db_stage_result *end,
                        db_fit_shots_result *result);

#endif
