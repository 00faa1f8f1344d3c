/* Creates plans, and recreates parts of them. */
#ifndef DB_ENGINE_PLAN_CREATE_H
#define DB_ENGINE_PLAN_CREATE_H

#include <dualbragg/plan.h>

/* DB_ERROR_USAGE for options that no plan has. */
db_status db_plan_options_check(db_context *context, const db_plan_options *options);

/* As db_plan_create, for the processor, whatever the context's device. */
db_status db_plan_create_on_processor(db_context *context, const db_experiment *experiment,
                                      const db_plan_options *options, db_plan **plan);

/* Has the plan work in another precision from now on; buffers of both stay. */
db_status db_plan_change_precision(db_plan *plan, db_precision precision);

#endif
