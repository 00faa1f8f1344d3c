/* Sums over a plan's pixels: normal equations, and the row of them that a cotangent wants. */
#ifndef DB_ENGINE_PLAN_NORMAL_H
#define DB_ENGINE_PLAN_NORMAL_H

#include <dualbragg/plan.h>

/* A plan's data for normal equations. db_normal_destroy ignores NULL. */
typedef struct db_normal db_normal;
void db_normal_destroy(db_normal *normal);

/* The gradient by the plan's parameters (there may be none). by_spot: NULL, or receives the sums that the gradient
 * by structure factors needs for spots in closed form; the caller frees them, also after an error. */
db_status db_plan_vjp_sums(db_plan *plan, const void *cotangent, void *image, double *gradient,
                           double **by_spot);

/* DB_OK for a cotangent that is there, and finite. */
db_status db_plan_check_cotangent(const db_plan *plan, const void *cotangent);

#endif
