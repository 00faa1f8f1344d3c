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
db_loss db_loss_make(const db_fit_settings *settings, db_fit_target target);

#endif
