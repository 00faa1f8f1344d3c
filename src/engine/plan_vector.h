/* Parts of products with a cotangent and along a direction. */
#ifndef DB_ENGINE_PLAN_VECTOR_H
#define DB_ENGINE_PLAN_VECTOR_H

#include <dualbragg/products.h>

/* Gradient by the plan's parameters, of which there may be none. by_spot: NULL, or receives the sums for spots in
 * closed form from which the gradient by structure factors is made; the caller frees them, also after an error. */
db_status db_plan_vjp_sums(db_plan *plan, const void *cotangent, void *image, double *gradient,
                           double **by_spot);

/* Image and derivative along a direction in the space of the plan's parameters (plan_tangent.c). */
db_status db_plan_tangent(db_plan *plan, const double *direction, void *image, void *tangent);

/* DB_OK if the cotangent is not NULL and all its pixels are finite. */
db_status db_plan_check_cotangent(const db_plan *plan, const void *cotangent);

#endif
