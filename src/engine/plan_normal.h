/* Sums over a plan's pixels: normal equations, and products with a cotangent, which are one row of them. */
#ifndef DB_ENGINE_PLAN_NORMAL_H
#define DB_ENGINE_PLAN_NORMAL_H

#include <dualbragg/plan.h>

/* A plan's data for normal equations. db_normal_destroy ignores NULL. */
typedef struct db_normal db_normal;
void db_normal_destroy(db_normal *normal);

/* Gradient by the plan's parameters, of which there may be none. by_spot: NULL, or receives the sums for spots in
 * closed form from which the gradient by structure factors is made; the caller frees them, also after an error. */
db_status db_plan_vjp_sums(db_plan *plan, const void *cotangent, void *image, double *gradient,
                           double **by_spot);

/* DB_OK if the cotangent is not NULL and all its pixels are finite. */
db_status db_plan_check_cotangent(const db_plan *plan, const void *cotangent);

#endif
