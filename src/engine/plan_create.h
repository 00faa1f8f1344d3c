/* Creates plans, and replaces parts of them. */
#ifndef DB_ENGINE_PLAN_CREATE_H
#define DB_ENGINE_PLAN_CREATE_H

#include <dualbragg/plan.h>

/* DB_ERROR_USAGE for options that no plan can have. */
db_status db_plan_options_check(db_context *context, const db_plan_options *options);

/* db_plan_create for the processor, even if the context has a device. */
db_status db_plan_create_on_processor(db_context *context, const db_experiment *experiment,
                                      const db_plan_options *options, db_plan **plan);

/* A plan that places spots in closed form, and cannot render them. */
db_status db_plan_create_to_place(db_context *context, const db_experiment *experiment,
                                  db_plan **plan);

/* Sets the plan's precision from now on; buffers of both precisions stay allocated. */
db_status db_plan_change_precision(db_plan *plan, db_precision precision);

#endif
