/* Derivatives by all structure factors of a plan: sums over pixels with a cotangent, and the image along
 * a direction. Structure factors are the entries of the box, then one for default_F; or, once several
 * entries share one, the values that they share (dualbragg/products.h). */
#ifndef DB_ENGINE_PLAN_AMPLITUDES_H
#define DB_ENGINE_PLAN_AMPLITUDES_H

#include "engine/plan_state.h"

/* A plan's data for derivatives by structure factors; NULL until first needed. */
typedef struct db_plan_amplitudes db_plan_amplitudes;
void db_plan_amplitudes_destroy(db_plan_amplitudes *own);

/* Number of values that the plan has; default_F is not among them. */
size_t db_plan_amplitude_values(const db_plan *plan);

/* Makes a plan's entries share values as in another plan of the same experiment. */
db_status db_plan_amplitudes_share_as(const db_plan *other, db_plan *plan);

/* Gradients by the values and by default_F; either may be NULL. by_spot: the kernel's sums for spots in closed
 * form (db_kernel_spots.by_amplitude); sampled spots are summed here. */
db_status db_plan_amplitudes_vjp(db_plan *plan, const void *cotangent, const double *by_spot,
                                 double *amplitudes, double *default_F);

/* From now on a call gets an array of amplitudes that is 0, adds to few of them, and sets the bits of these in
 * marks. NULL: a call fills the whole array. */
db_status db_plan_amplitudes_mark(db_plan *plan, uint64_t *marks);

/* Words of 64 bits that a set of numbers below count has. */
size_t db_amplitude_mark_words(size_t count);

/* The least number of a word that is not 0, taken out of the set. */
size_t db_amplitude_take_mark(uint64_t *marks, size_t word);

/* The image along a direction: of the values, and default_F; NULL: 0. */
db_status db_plan_amplitudes_jvp(db_plan *plan, const double *amplitudes, const double *default_F,
                                 void *tangent);

#endif
