/* Evaluation of an objective at values of the refined quantities. */
#ifndef DB_FIT_OBJECTIVE_EVALUATE_H
#define DB_FIT_OBJECTIVE_EVALUATE_H

#include "fit/objective/objective.h"

/* Fills the objective's results. Allocates nothing; the same bits for any number of threads. */
db_status db_objective_evaluate(db_objective *objective, const double *values,
                                db_objective_depth depth);

/* Two parts of an evaluation of the loss alone: the image, and the coefficients of its blocks, which may be found
 * again for the same image after weights have changed. A later evaluation at the same values, up to this depth,
 * uses the image. */
db_status db_objective_render(db_objective *objective, const double *values,
                              db_objective_depth depth);
db_status db_objective_solve(db_objective *objective);

#endif
