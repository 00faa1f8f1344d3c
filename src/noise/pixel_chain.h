/* From the expected value of a pixel to its number: the formulas of dualbragg/noise.h. */
#ifndef DB_NOISE_PIXEL_CHAIN_H
#define DB_NOISE_PIXEL_CHAIN_H

#include "noise/noise_work.h"
#include "noise/poisson.h"

/* Factor of the beam's intensity in the image of this seed, the same for all panels. */
AD_PORTABLE_FN double noise_flicker_factor(uint32_t seed, double flicker) {
    if (!(flicker > 0)) return 1;
    noise_stream s = noise_stream_at(seed, NOISE_STREAM_FLICKER, 0, 0, 0);
    const double factor = 1 + flicker * noise_normal(&s);
    return factor > 0 ? factor : 0;
}

/* Relative sensitivity of a pixel. */
AD_PORTABLE_FN double noise_sensitivity(const noise_chain *c, uint32_t fast, uint32_t slow) {
    noise_stream s =
        noise_stream_at(c->calibration_seed, NOISE_STREAM_CALIBRATION, c->panel, fast, slow);
    return 1 + c->calibration * noise_normal(&s);
}

/* Photons in a pixel: a number, or the mean if nothing is random. */
AD_PORTABLE_FN double noise_photons(const noise_chain *c, uint32_t fast, uint32_t slow,
                                    double expected) {
    double mean = expected * c->beam;
    if (!c->noisy) return mean;
    if (!(mean > 0)) return 0;
    if (c->calibration > 0) mean *= noise_sensitivity(c, fast, slow);
    noise_stream s = noise_stream_at(c->seed, NOISE_STREAM_PHOTONS, c->panel, fast, slow);
    return noise_poisson(&s, mean);
}

/* Signal (ADU) of a pixel with this light (photons). */
AD_PORTABLE_FN double noise_signal(const noise_chain *c, uint32_t fast, uint32_t slow,
                                   double light) {
    const double signal = light * c->gain + c->adc;
    if (!c->noisy || !(c->readout > 0)) return signal;
    noise_stream s = noise_stream_at(c->seed, NOISE_STREAM_READOUT, c->panel, fast, slow);
    return signal + c->readout * noise_normal(&s);
}

AD_PORTABLE_FN int32_t noise_number(const noise_chain *c, double signal) {
    if (!(signal > 0)) return 0;
    if (signal > c->limit) return (int32_t)c->limit;
    return (int32_t)(c->truncate ? signal : signal + 0.5);
}

AD_PORTABLE_FN float noise_float(double signal) {
    const double most = 3.4028234663852886e38; /* the largest float */
    return (float)(signal > most ? most : signal < -most ? -most : signal);
}

#endif
