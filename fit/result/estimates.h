/* What a refinement has found of its parameters: of one shot, of what many share. */
#ifndef DB_FIT_RESULT_ESTIMATES_H
#define DB_FIT_RESULT_ESTIMATES_H

#include "fit/result/covariance.h"

/* Gives estimates the parameters of the settings, without values and errors, in one block that
 * belongs to them, in place of the one that they had. */
db_status db_estimates_make(db_context *context, const db_fit_settings *settings,
                            db_fit_estimates *estimates);

/* Raises robust errors to those by how much so many parts of the data disagree. Variable k of `count`
 * is parameter index[k]; quantities: all that is refined. */
void db_estimates_raise_robust(db_fit_estimates *estimates, const db_covariance *covariance,
                               const size_t *index, size_t count, size_t parts, size_t quantities);

/* Takes the other errors, of which misfit (of chi2 per degree of freedom) is a factor, and
 * correlations and directions. Variables as above; robust errors are there before. */
void db_estimates_take(db_fit_estimates *estimates, const db_covariance *covariance,
                       const size_t *index, size_t count, double misfit);

#endif
