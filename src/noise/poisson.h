/* Poisson deviates, exact up to means of 1e15.
 *
 *     mean < 20      inversion: one uniform deviate, cumulative probabilities
 *     up to 1e15     PTRS: transformed rejection with squeeze (Hoermann 1993,
 *                    Insurance: Mathematics and Economics 12, 39)
 *     above          rounded normal; its skewness is wrong by less than 3e-8
 *
 * Probabilities are taken relative to the Stirling form (Loader 2000), which keeps all digits at
 * any mean: log p(k) = -log(2 pi k)/2 - stirling(k) - deviance(k, mean). */
#ifndef DB_NOISE_POISSON_H
#define DB_NOISE_POISSON_H

#include "noise/normal.h"

#define DB_NOISE_POISSON_INVERSION 20.0 /* means below */
#define DB_NOISE_POISSON_REJECTION 1e15 /* means up to */

/* log k! - log( sqrt(2 pi k) (k/e)^k ) for whole k >= 1. */
AD_PORTABLE_FN double noise_stirling(double k) {
    const double small[16] = { 0.08106146679532725822, 0.04134069595540929409,
                               0.02767792568499833915, 0.02079067210376509311,
                               0.01664469118982119216, 0.01387612882307074800,
                               0.01189670994589177010, 0.01041126526197209650,
                               0.00925546218271273292, 0.00833056343336287126,
                               0.00757367548795184079, 0.00694284010720952987,
                               0.00640899418800420707, 0.00595137011275884774,
                               0.00555473355196280137, 0.00520765591960964044 };
    if (k <= 16) return small[(int)k - 1];
    const double t = 1 / (k * k);
    return (1.0 / 12 - t * (1.0 / 360 - t * (1.0 / 1260 - t * (1.0 / 1680 - t / 1188)))) / k;
}

/* k log(k/mean) + mean - k >= 0, without cancellation where k is near the mean. k > 0 */
AD_PORTABLE_FN double noise_deviance(double k, double mean) {
    const double d = k - mean, v = d / (k + mean);
    if (v > 0.1 || v < -0.1) return k * portable_log(k / mean) - d;
    const double t = v * v; /* log(k/mean) = 2 artanh v */
    return d * v + 2 * k * v * (t * portable_artanh_series(t));
}

/* log of the Poisson probability of a whole number k >= 0. */
AD_PORTABLE_FN double noise_poisson_log_probability(double k, double mean) {
    if (k < 1) return -mean;
    return -0.5 * portable_log(6.283185307179586477 * k) - noise_stirling(k) -
           noise_deviance(k, mean);
}

/* By inversion, mean below DB_NOISE_POISSON_INVERSION: continues from k photons, of probability p, with a uniform
 * deviate minus the probabilities of fewer. */
AD_PORTABLE_FN double noise_poisson_search(double rest, double mean, double p, int k) {
    /* The last of 200 terms is below 1e-110. */
    while (rest > p && k < 200) {
        rest -= p;
        k++;
        p *= mean / k;
    }
    return k;
}

/* Transformation of a uniform deviate u - 1/2 to a number near a Poisson deviate. With the published constants the
 * hat is up to 0.6 % below the probabilities, and the squeeze as much above them, for single k at means from 10 to
 * 1000; the factors correct both. */
#define DB_NOISE_PTRS_HAT 1.0065
#define DB_NOISE_PTRS_SQUEEZE 0.986
typedef struct noise_ptrs {
    double mean, a, b, inverse_alpha, squeeze;
} noise_ptrs;

AD_PORTABLE_FN noise_ptrs noise_ptrs_of(double mean) {
    noise_ptrs t;
    t.mean = mean;
    t.b = 0.931 + 2.53 * sqrt(mean);
    t.a = -0.059 + 0.02483 * t.b;
    t.inverse_alpha = DB_NOISE_PTRS_HAT * (1.1239 + 1.1328 / (t.b - 3.4));
    t.squeeze = DB_NOISE_PTRS_SQUEEZE * (0.9277 - 3.6224 / (t.b - 2));
    return t;
}

/* The whole number belonging to u, -1/2 < u < 1/2; side = 1/2 - |u|. */
AD_PORTABLE_FN double noise_ptrs_candidate(const noise_ptrs *t, double u, double side) {
    return floor((2 * t->a / side + t->b) * u + t->mean + 0.43);
}

/* log of the probability with which the number k >= 0 is accepted; <= 0, because the hat is above. */
AD_PORTABLE_FN double noise_ptrs_log_acceptance(const noise_ptrs *t, double k, double side) {
    return noise_poisson_log_probability(k, t->mean) +
           portable_log((t->a / (side * side) + t->b) / t->inverse_alpha);
}

/* Mean from DB_NOISE_POISSON_INVERSION on. */
AD_PORTABLE_FN double noise_poisson_by_rejection(noise_stream *s, double mean) {
    const noise_ptrs t = noise_ptrs_of(mean);
    for (;;) {
        const noise_pair pair = noise_next_pair(s);
        const double u = pair.first - 0.5, v = pair.second, side = 0.5 - (u < 0 ? -u : u);
        const double k = noise_ptrs_candidate(&t, u, side);
        if (side >= 0.07 && v <= t.squeeze) return k;
        if (k < 0 || (side < 0.013 && v > side)) continue;
        if (portable_log(v) <= noise_ptrs_log_acceptance(&t, k, side)) return k;
    }
}

/* Number of photons for a mean; 0 for a mean that is 0, negative or NaN. */
AD_PORTABLE_FN double noise_poisson(noise_stream *s, double mean) {
    if (!(mean > 0)) return 0;
    if (mean < DB_NOISE_POISSON_INVERSION) {
        const double uniform = noise_next_pair(s).first;
        if (uniform < 1 - 1e-15 - mean) return 0; /* below exp(-mean), however it is rounded */
        return noise_poisson_search(uniform, mean, portable_exp(-mean), 0);
    }
    if (mean <= DB_NOISE_POISSON_REJECTION) return noise_poisson_by_rejection(s, mean);
    return floor(mean + sqrt(mean) * noise_normal(s) + 0.5);
}

#endif
