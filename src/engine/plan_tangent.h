#ifndef DB_ENGINE_PLAN_TANGENT_H
#define DB_ENGINE_PLAN_TANGENT_H

#include <dualbragg/plan.h>

/* Image and derivative along a direction in the space of the plan's parameters. */
db_status db_plan_tangent(db_plan *plan, const double *direction, void *image, void *tangent);

#endif
