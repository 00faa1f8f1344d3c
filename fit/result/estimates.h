/* Estimates of the parameters of a refinement: of one shot, or shared by many. */
#ifndef DB_FIT_RESULT_ESTIMATES_H
#define DB_FIT_RESULT_ESTIMATES_H

#include "fit/result/covariance.h"

/* Makes estimates for the parameters of the settings, without values and errors, in one block, which replaces the
 * block that they had. */
db_status db_estimates_make(db_context *context, const db_fit_settings *settings,
                            db_fit_estimates *estimates);

/* Takes errors, which include the factor misfit (of chi2 per degree of freedom), correlations and directions.
 * Variable k is parameter index[k]. Larger robust errors stay. */
void db_estimates_take(db_fit_estimates *estimates, const db_covariance *covariance,
                       const size_t *index, double misfit);

#endif
