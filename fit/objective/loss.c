#include "fit/objective/loss.h"

db_loss db_loss_make(const db_fit_settings *settings, db_fit_target target) {
    return (db_loss){ .target = target,
                      .gain = settings->gain,
                      .readout_variance = settings->readout_noise * settings->readout_noise,
                      .tuning = target == DB_FIT_HUBER ? settings->huber_limit
                                                       : settings->student_freedom };
}
