/* Errors of refined quantities. */
#ifndef DB_FIT_RESULT_ERRORS_H
#define DB_FIT_RESULT_ERRORS_H

#include "fit/objective/objective.h"
#include "fit/result/estimates.h"

/* Fills errors, correlations, directions and shared_misfit of a result from an objective as last evaluated with
 * depth NORMAL, priors included. Quantities at a bound have no error. */
db_status db_errors_estimate(db_context *context, const db_objective *objective,
                             double chi2_reduced, db_fit_result *result);

/* Independent parts of the data (blocks, shots) and sums over them of the products of half their gradients. */
typedef struct db_scatter {
    const double *of_parts;   /* [count][count] */
    const double *of_regions; /* scatter of regions of the detector (see below); NULL: none */
    size_t parts, images;     /* number of parts; number of images with regions */
    size_t quantities;        /* number of refined quantities, which absorb part of the scatter */
    const double *priors;     /* [count][count] the priors' part of the normal matrix; NULL: none */
} db_scatter;

/* Errors, correlations and directions of quantities from their normal matrix (fit/result/covariance.h), and robust
 * errors: the largest by any of the scatters. If regions scatter more than by chance, their scatter replaces the
 * scatter of their parts, and sets shared_misfit (db_fit_estimates). Too few parts give no error. Clear the
 * estimate, also after a failure. */
db_status db_errors_of_parts(db_context *context, const double *normal, size_t count,
                             const int *used, double least, const db_scatter *scatter,
                             size_t scatters, db_covariance *estimate, double *shared_misfit);

/* Errors of some variables of an objective as last evaluated, the others held, with priors of these variables.
 * used: one flag for each of them; regions: scatter of regions by all variables; NULL: none. */
db_status db_errors_of_variables(db_context *context, const db_objective *objective,
                                 const size_t *variable, size_t count, const int *used,
                                 const double *regions, db_covariance *estimate,
                                 double *shared_misfit);

/* Gauss-Newton step of all variables of an objective as last evaluated, in the determined directions (0 at a bound), and
 * the error of one of them, as quoted. found: tells which are at a bound. */
db_status db_errors_of_step(db_context *context, const db_objective *objective,
                            const db_fit_estimates *found, double chi2_reduced, size_t variable,
                            double *step, double *error);

/* Pull of regions of the detector on an objective's variables. If the model is wrong, for example for a bent
 * crystal, neighbouring blocks miss the data in the same way; a sum over single blocks (db_objective.scatter)
 * takes this for chance. */

enum { DB_REGIONS = 16 };

/* Sum over regions of the products of half their gradients, [count][count], after an evaluation of depth NORMAL;
 * the regions hold equal numbers of blocks. *made: 0, and scatter 0, if there are too few blocks, or if blocks of
 * several regions share intensities. */
db_status db_objective_region_scatter(const db_objective *objective, double *scatter, int *made);

/* What quantities that are held do to the errors of refined ones (docs/theory/refinement.md, Errors). */

/* How far the minimum of refined quantities moves with a held one: [n] changes for a unit of quantity `held`, from the
 * normal matrix of all n, [n][n]. The refined quantities move by -H^-1 h, with their own matrix H and the held
 * quantity's column h; those that are not `used`, at a bound, stay, and so do those that the data do not determine. */
db_status db_held_response(db_context *context, const double *normal, size_t n, const int *used,
                           size_t held, double *change);

/* Adds the product of changes by an uncertain quantity to the covariance of estimates. change: [n] of quantity
 * index[k], for one standard deviation. Undetermined estimates stay so. */
void db_held_widen(const double *change, const size_t *index, size_t n,
                   db_fit_estimates *estimates);

#endif
