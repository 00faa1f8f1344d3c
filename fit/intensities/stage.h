/* Stage of joint intensities: one for each reflection of the asymmetric unit, shared by all shots that show it,
 * refined together with shared quantities and the shots' own (docs/theory/joint-intensities.md). */
#ifndef DB_FIT_INTENSITIES_STAGE_H
#define DB_FIT_INTENSITIES_STAGE_H

#include "fit/intensities/joint_intensities.h"
#include "fit/shots/shots.h"

/* Minimizes over all shots, whose pixels are in the store. Afterwards their models are at the minimum. result:
 * receives the intensities, and statistics of shots. */
db_status db_intensity_stage_run(db_shots *all, int stage, db_stage_result *end,
                                 db_fit_shots_result *result);

#endif
