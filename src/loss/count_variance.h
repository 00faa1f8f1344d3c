/* Variance of a pixel's counts by photons and readout. */
#ifndef DB_LOSS_COUNT_VARIANCE_H
#define DB_LOSS_COUNT_VARIANCE_H

#include "ad/portable_math.h"

/* Variance (counts squared) that photons and readout give a pixel of `counts` expected counts. Half
 * a photon at least: an empty surrounding does not make one count significant. */
AD_PORTABLE_FN double db_count_variance(double gain, double readout_noise, double counts) {
    const double least = 0.5 * gain;
    return gain * (counts > least ? counts : least) + readout_noise * readout_noise;
}
AD_PORTABLE_FN float db_count_variance_float(float gain, float readout_variance, float counts) {
    const float least = 0.5F * gain;
    return gain * (counts > least ? counts : least) + readout_variance;
}

#endif
