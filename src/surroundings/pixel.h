/* One pixel and the mean of its surroundings: formulas that have the same bits with all
 * instruction sets, since nothing is contracted to fused operations (ad/portable_math.h). */
#ifndef DB_SURROUNDINGS_PIXEL_H
#define DB_SURROUNDINGS_PIXEL_H

#include "loss/count_variance.h"

/* The mean of `count` pixels, never below 0; where all are left out, the mean of the last pass stays. */
AD_PORTABLE_FN float db_surroundings_mean(float sum, int count, float last) {
    const float number = count ? (float)count : 1, average = sum / number,
                light = average > 0 ? average : 0;
    return count ? light : last;
}

/* 1: a pixel counts in the next pass, if it is trusted: it exceeds the mean by no more than three standard
 * deviations. */
AD_PORTABLE_FN int db_surroundings_keep(float value, float mean, float gain,
                                        float readout_variance) {
    const float excess = value - mean,
                variance = db_count_variance_float(gain, readout_variance, mean),
                above = excess > 0 ? excess : 0;
    return above * above <= 9 * variance;
}

/* Noise stays within this many standard deviations of counts, and some photons. Poisson's law is skewed: at means above
 * one its quantile lies (sigma^2 - 1)/6 photons beyond that of a normal law (Cornish and Fisher). Half a photon more,
 * because photons are whole. */
#define DB_NOISE_SIGMA 3.0F
#define DB_NOISE_PHOTONS ((DB_NOISE_SIGMA * DB_NOISE_SIGMA - 1) / 6 + 0.5F)

/* 1: counts exceed their mean by `excess`, more than photons and readout noise make likely. The counts of photons below
 * have a mean too low by the probability of the largest of them, as a fraction: at most 0.007. A mean below 0 has no
 * photons. */
AD_PORTABLE_FN int db_surroundings_lit(float excess, float mean, float gain,
                                       float readout_variance) {
    const float beyond = excess - DB_NOISE_PHOTONS * gain, above = beyond > 0 ? beyond : 0,
                light = mean > 0 ? mean : 0, variance = gain * light + readout_variance;
    return above * above > DB_NOISE_SIGMA * DB_NOISE_SIGMA * variance;
}

/* 1: a trusted pixel is strong. limit: variances. */
AD_PORTABLE_FN int db_surroundings_strong(float value, float mean, double gain,
                                          double readout_noise, double limit) {
    const double excess = (double)value - (double)mean,
                 variance = db_count_variance(gain, readout_noise, (double)mean);
    return (excess > 0) & (excess * excess > limit * variance);
}

#endif
