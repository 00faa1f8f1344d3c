/* Errors of refined quantities. */
#ifndef DB_FIT_RESULT_ERRORS_H
#define DB_FIT_RESULT_ERRORS_H

#include "fit/objective/objective.h"
#include "fit/result/estimates.h"

/* Fills errors, correlations, directions and shared_misfit of a result from an
 * objective as last evaluated with depth NORMAL, priors included. Quantities at a bound have none. */
db_status db_errors_estimate(db_context *context, const db_objective *objective,
                             double chi2_reduced, db_fit_result *result);

/* Independent parts of the data (blocks, shots) and sums over them of the products of half their gradients. */
typedef struct db_scatter {
    const double *of_parts; /* [count][count] */
    const double
        *of_regions; /* the same of regions of the detector (fit/result/errors.h); NULL: none */
    size_t parts, images; /* how many parts; images of whose regions the scatter is */
    size_t quantities;    /* all that is refined; each takes some of the disagreement away */
} db_scatter;

/* Errors, correlations and directions of quantities from their normal matrix (fit/result/covariance.h), and robust errors:
 * the largest by any of the scatters. Where regions disagree more than chance brings, their scatter takes the place of that
 * of their parts, and shared_misfit is as in db_fit_estimates; else it stays. Too few parts tell nothing. Clear the
 * estimate, also after a failure. */
db_status db_errors_of_parts(db_context *context, const double *normal, size_t count,
                             const int *used, const db_scatter *scatter, size_t scatters,
                             db_covariance *estimate, double *shared_misfit);

/* Of some of the variables of an objective, so evaluated, the others held, with priors of theirs. used: as above, one for
 * each of them; regions: scatter of regions by all variables; NULL: none. */
db_status db_errors_of_variables(db_context *context, const db_objective *objective,
                                 const size_t *variable, size_t count, const int *used,
                                 const double *regions, db_covariance *estimate,
                                 double *shared_misfit);

/* Of an objective, so evaluated: the Gauss-Newton step of all variables (0 at a bound), and the error of one of
 * them, as quoted. found: which are at a bound. */
db_status db_errors_of_step(db_context *context, const db_objective *objective,
                            const db_fit_estimates *found, double chi2_reduced, size_t variable,
                            double *step, double *error);

/* How much whole regions of the detector pull an objective's variables. Blocks next to each other miss
 * the data in the same way where the model is wrong, for example of a bent crystal; a sum over
 * single blocks (db_objective.scatter) takes that for chance. */

enum { DB_REGIONS = 16 };

/* Sum over regions of the products of half their gradients, [count][count], after an evaluation of
 * depth NORMAL; the regions hold equal numbers of blocks. *made: 0 if there are too few blocks, or
 * intensities are shared by blocks of several regions; scatter is 0 then. */
db_status db_objective_region_scatter(const db_objective *objective, double *scatter, int *made);

#endif
