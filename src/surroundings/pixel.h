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

/* 1: a trusted pixel is strong. limit: variances. */
AD_PORTABLE_FN int db_surroundings_strong(float value, float mean, double gain,
                                          double readout_noise, double limit) {
    const double excess = (double)value - (double)mean,
                 variance = db_count_variance(gain, readout_noise, (double)mean);
    return (excess > 0) & (excess * excess > limit * variance);
}

#endif
