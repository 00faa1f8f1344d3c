/* The difference between a mixed and a double image, from a trial on some of its pixels. */
#ifndef DB_ENGINE_PRECISION_H
#define DB_ENGINE_PRECISION_H

#include <dualbragg/plan.h>

/* Recommends as db_precision_recommend does, for a job of any size: renders trial pixels in both precisions. */
db_status db_precision_by_trial(db_context *context, const db_experiment *experiment,
                                const db_plan_options *options, db_precision_advice *advice);

#endif
