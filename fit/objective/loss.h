/* Which loss the pixels of a refinement have. */
#ifndef DB_FIT_OBJECTIVE_LOSS_H
#define DB_FIT_OBJECTIVE_LOSS_H

#include <dualbragg/fit.h>

typedef struct db_loss {
    db_fit_target target;
    double gain;             /* counts per photon */
    double readout_variance; /* counts squared */
    double tuning;           /* huber: standard deviations k; student: degrees of freedom nu */
} db_loss;

/* The loss of a target with the noise of the settings. */
static inline db_loss db_loss_make(const db_fit_settings *settings, db_fit_target target) {
    return (db_loss){ .target = target,
                      .gain = settings->gain,
                      .readout_variance = settings->readout_noise * settings->readout_noise,
                      .tuning = target == DB_FIT_HUBER ? settings->huber_limit
                                                       : settings->student_freedom };
}

#endif
