/* An image being made, for a device; without random numbers. */
#ifndef DB_NOISE_NOISE_WORK_H
#define DB_NOISE_NOISE_WORK_H

#include <dualbragg/noise.h>

/* Constants of all pixels of a panel. */
typedef struct noise_chain {
    uint32_t seed, calibration_seed, panel;
    int noisy, truncate;
    double beam; /* scale and this image's flicker */
    double calibration, gain, adc, readout, limit;
} noise_chain;

/* Result of a row of the panel, inside the region. */
typedef struct noise_row {
    double photons; /* added up from left to right */
    int32_t overloads, underflows, negative;
    int32_t bad;     /* first pixel that is not finite; -1: none */
    float brightest; /* expected, at least 0 */
} noise_row;

/* Largest allowed mean. */
#define NOISE_MOST_PHOTONS 1e300

typedef struct noise_work {
    noise_chain chain;
    db_noise_frame frame; /* with the region filled in */
    noise_row *row;       /* [frame.slow_pixels] */
} noise_work;

#endif
