/* Scatter between shots at the minimum: error model, errors of intensities, the two halves of the shots. */
#ifndef DB_FIT_INTENSITIES_ERRORS_H
#define DB_FIT_INTENSITIES_ERRORS_H

#include "fit/intensities/search.h"

/* At the best point, by the sums of its equations. */

/* Fits the error model. */
db_status db_intensity_fit_errors(db_intensity_search *search);

/* Finds errors of the intensities and of shared quantities, and the intensities of two halves of the shots. */
db_status db_intensity_conclude(db_intensity_search *search, db_fit_estimates *estimates);

#endif
