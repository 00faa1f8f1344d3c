/* What quantities that are held do to the errors of refined ones (docs/theory/refinement.md, Errors). */
#ifndef DB_FIT_RESULT_HELD_H
#define DB_FIT_RESULT_HELD_H

#include "fit/result/estimates.h"

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
