/* Derivatives by all structure factors of a plan: sums over pixels with a cotangent, and the image along
 * a direction. Structure factors are the entries of the box, then one for default_F; or, once several
 * entries share one, the values that they share (dualbragg/products.h). */
#ifndef DB_ENGINE_PLAN_AMPLITUDES_H
#define DB_ENGINE_PLAN_AMPLITUDES_H

#include "engine/plan_state.h"

/* What a plan keeps for it; NULL until it is asked for the first time. */
typedef struct db_plan_amplitudes db_plan_amplitudes;
void db_plan_amplitudes_destroy(db_plan_amplitudes *own);

/* Number of values that the plan has; default_F is not among them. */
size_t db_plan_amplitude_values(const db_plan *plan);

/* Lets a plan's entries share values as another's of the same experiment do. */
db_status db_plan_amplitudes_share_as(const db_plan *other, db_plan *plan);

/* Gradients by the values and by default_F; either may be NULL. by_spot: of spots in closed form, what
 * the kernel has summed (db_kernel_spots.by_amplitude); sampled spots are summed here. */
db_status db_plan_amplitudes_vjp(db_plan *plan, const void *cotangent, const double *by_spot,
                                 double *amplitudes, double *default_F);

/* The image along a direction: of the values, and default_F; NULL: 0. */
db_status db_plan_amplitudes_jvp(db_plan *plan, const double *amplitudes, const double *default_F,
                                 void *tangent);

#endif
