/* Derivatives by all structure factors of a plan: sums over pixels with a cotangent, and the image along
 * a direction. The structure factors are the entries of the box and default_F. If several entries share
 * a value, the shared values take the place of the entries (dualbragg/products.h). */
#ifndef DB_ENGINE_PLAN_AMPLITUDES_H
#define DB_ENGINE_PLAN_AMPLITUDES_H

#include "engine/plan_state.h"

/* A plan's data for derivatives by structure factors; NULL until first needed. */
typedef struct db_plan_amplitudes db_plan_amplitudes;
void db_plan_amplitudes_destroy(db_plan_amplitudes *own);

/* Number of the plan's values; default_F does not count. */
size_t db_plan_amplitude_values(const db_plan *plan);

/* Makes a plan's entries share values as in another plan of the same experiment. */
db_status db_plan_amplitudes_share_as(const db_plan *other, db_plan *plan);

/* Gradients by the values and by default_F; either may be NULL. by_spot: the kernel's sums for spots in closed
 * form (db_kernel_spots.by_amplitude); sampled spots are summed here. */
db_status db_plan_amplitudes_vjp(db_plan *plan, const void *cotangent, const double *by_spot,
                                 double *amplitudes, double *default_F);

/* marks not NULL: from now on each call of db_plan_amplitudes_vjp receives amplitudes that are 0, adds to few
 * of them, and sets their bits in marks. marks NULL: a call fills the whole array. */
db_status db_plan_amplitudes_mark(db_plan *plan, uint64_t *marks);

/* Number of 64-bit words in a set of numbers below count. */
size_t db_amplitude_mark_words(size_t count);

/* Takes the least number of a word out of the set and returns it; the word is not 0. */
size_t db_amplitude_take_mark(uint64_t *marks, size_t word);

/* The image along a direction in the space of the values and default_F. NULL means 0. */
db_status db_plan_amplitudes_jvp(db_plan *plan, const double *amplitudes, const double *default_F,
                                 void *tangent);

#endif
