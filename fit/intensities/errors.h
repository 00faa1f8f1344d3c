/* Scatter between shots at the minimum: error model, errors of intensities, the two halves of the shots. */
#ifndef DB_FIT_INTENSITIES_ERRORS_H
#define DB_FIT_INTENSITIES_ERRORS_H

#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/shot.h"
#include "fit/intensities/system.h"

/* The minimum, or an earlier point, with the sums of its equations. */
typedef struct db_intensity_minimum {
    const db_intensity_pass *pass;
    db_joint_system *system;
    const double *value; /* [reflections] */
    double *step;        /* [reflections + shared] room */
    double misfit;       /* loss per degree of freedom */
} db_intensity_minimum;

/* Fits the error model. */
db_status db_intensity_fit_errors(const db_intensity_minimum *at, db_error_model *errors);

/* Finds errors of the intensities and of shared quantities, and the intensities of two halves of the shots. */
db_status db_intensity_conclude(const db_intensity_minimum *at, db_merged *merged,
                                db_fit_estimates *estimates);

#endif
