/* Loss of the pixels of a refinement. */
#ifndef DB_FIT_OBJECTIVE_LOSS_H
#define DB_FIT_OBJECTIVE_LOSS_H

#include <dualbragg/expert/boxes.h>
#include <dualbragg/fit.h>

_Static_assert((int)DB_LOSS_WEIGHTED == (int)DB_FIT_WEIGHTED &&
                   (int)DB_LOSS_GAUSSIAN == (int)DB_FIT_GAUSSIAN &&
                   (int)DB_LOSS_POISSON == (int)DB_FIT_POISSON &&
                   (int)DB_LOSS_HUBER == (int)DB_FIT_HUBER &&
                   (int)DB_LOSS_STUDENT == (int)DB_FIT_STUDENT,
               "targets have the numbers of their losses");

/* A known background may be a hundredth of a photon; a refined one needs a loss that keeps it positive. */
static inline double db_fewest_photons(const db_fit_settings *settings) {
    const double dark = 1e-3; /* photons: a tenth of such a background */
    const int known = settings->background == DB_FIT_BACKGROUND_FIXED ||
                      settings->background == DB_FIT_BACKGROUND_SMOOTH;
    return known ? dark : 0;
}

/* The loss of a target with the noise of the settings. */
static inline db_loss db_loss_make(const db_fit_settings *settings, db_fit_target target) {
    return (db_loss){ .target = (db_loss_target)target,
                      .gain = settings->gain,
                      .fewest = db_fewest_photons(settings),
                      .readout_variance = settings->readout_noise * settings->readout_noise,
                      .tuning = target == DB_FIT_HUBER ? settings->huber_limit
                                                       : settings->student_freedom };
}

#endif
