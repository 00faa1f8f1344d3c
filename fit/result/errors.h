/* Errors of refined quantities. */
#ifndef DB_FIT_RESULT_ERRORS_H
#define DB_FIT_RESULT_ERRORS_H

#include "fit/objective/objective.h"
#include "fit/result/estimates.h"

/* Fills errors, correlations, directions, shared_misfit and refined amplitudes of a result from an
 * objective as last evaluated with depth NORMAL, priors included. Quantities at a bound have none. */
db_status db_errors_estimate(db_context *context, const db_objective *objective,
                             double chi2_reduced, db_fit_result *result);

/* Raises robust errors that were estimated from the scatter of blocks to those by the scatter of
 * regions of the detector (fit/objective/region_scatter.h), if these disagree more than chance
 * brings. images: of whose regions the scatter is. *shared_misfit: as in db_fit_estimates. */
db_status db_errors_by_regions(db_context *context, const double *normal, const double *of_blocks,
                               const double *of_regions, size_t count, const int *used,
                               size_t images, db_covariance *estimate, double *shared_misfit);

/* Of an objective, so evaluated: the Gauss-Newton step of all variables (0 at a bound), and the error of one of
 * them, as quoted. found: which are at a bound. */
db_status db_errors_of_step(db_context *context, const db_objective *objective,
                            const db_fit_estimates *found, double chi2_reduced, size_t variable,
                            double *step, double *error);

#endif
