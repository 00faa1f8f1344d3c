/* How far a mixed image is from the double one, by trial on some of its pixels. */
#ifndef DB_ENGINE_PRECISION_H
#define DB_ENGINE_PRECISION_H

#include <dualbragg/plan.h>

/* Advises as db_precision_recommend does, whatever the job's size: renders trial pixels in both
 * precisions. */
db_status db_precision_by_trial(db_context *context, const db_experiment *experiment,
                                const db_plan_options *options, db_precision_advice *advice);

#endif
