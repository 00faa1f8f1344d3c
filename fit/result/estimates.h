/* What a refinement has found of its parameters: of one shot, of what many share. */
#ifndef DB_FIT_RESULT_ESTIMATES_H
#define DB_FIT_RESULT_ESTIMATES_H

#include "fit/result/covariance.h"

/* Gives estimates the parameters of the settings, without values and errors, in one block that
 * belongs to them, in place of the one that they had. */
db_status db_estimates_make(db_context *context, const db_fit_settings *settings,
                            db_fit_estimates *estimates);

/* Takes errors, of which misfit (of chi2 per degree of freedom) is a factor, correlations and directions. Variable k is
 * parameter index[k]. Robust errors that are there and larger stay. */
void db_estimates_take(db_fit_estimates *estimates, const db_covariance *covariance,
                       const size_t *index, double misfit);

#endif
