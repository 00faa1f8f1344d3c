/* The best step within bounds of a quadratic model. */
#ifndef DB_FIT_SEARCH_BOX_STEP_H
#define DB_FIT_SEARCH_BOX_STEP_H

#include <stddef.h>

/* Minimizes gradient p + p (normal + damping diag(scale)) p over lower <= p <= upper, of which
 * bounds 0 is within, by an active set: solve for the free unknowns, go as far as the first bound,
 * hold what it holds, release what pulls away from its bound. normal: [count][count], symmetric,
 * half the second derivatives. What the model does not determine rests. Returns the decrease that
 * the undamped model promises for the step. memory: db_box_room(count) doubles. */
size_t db_box_room(size_t count);
double db_box_step(size_t count, const double *gradient, const double *normal, double damping,
                   const double *scale, const double *lower, const double *upper, double *step,
                   double *memory);

#endif
