/* Random numbers by counting (Salmon, Moraes, Dror, Shaw 2011: "Parallel random numbers: as easy as 1, 2, 3"): a
 * number is a function of seed, stream, pixel and draw only. So the image does not depend on the order of the
 * pixels, on threads or on the region. */
#ifndef DB_NOISE_RANDOM_STREAM_H
#define DB_NOISE_RANDOM_STREAM_H

#include "ad/portable_math.h"

#include <Random123/philox.h>

/* Purposes of random numbers, part of the generator's key. The values are part of what a seed means: never change
 * them. */
enum {
    NOISE_STREAM_PHOTONS = 1,
    NOISE_STREAM_READOUT = 2,
    NOISE_STREAM_FLICKER = 3,
    NOISE_STREAM_CALIBRATION = 4
};

typedef struct noise_stream {
    philox4x32_key_t key;     /* seed, stream */
    philox4x32_ctr_t counter; /* fast, slow, panel, draw */
} noise_stream;

/* The stream of a pixel, numbered in the whole panel. */
AD_PORTABLE_FN noise_stream noise_stream_at(uint32_t seed, uint32_t stream, uint32_t panel,
                                            uint32_t fast, uint32_t slow) {
    noise_stream s;
    s.key.v[0] = seed;
    s.key.v[1] = stream;
    s.counter.v[0] = fast;
    s.counter.v[1] = slow;
    s.counter.v[2] = panel;
    s.counter.v[3] = 0;
    return s;
}

/* 52 bits in the middle of their intervals: never 0 or 1, and exact in a double. */
AD_PORTABLE_FN double noise_uniform(uint32_t high, uint32_t low) {
    const uint64_t bits = (uint64_t)(high >> 6) << 26 | low >> 6;
    return ((double)bits + 0.5) * (1.0 / 4503599627370496.0);
}

typedef struct noise_pair {
    double first, second;
} noise_pair;

/* The next two independent uniform deviates between 0 and 1. */
AD_PORTABLE_FN noise_pair noise_next_pair(noise_stream *s) {
    const philox4x32_ctr_t r = philox4x32(s->counter, s->key);
    s->counter.v[3]++;
    noise_pair pair;
    pair.first = noise_uniform(r.v[0], r.v[1]);
    pair.second = noise_uniform(r.v[2], r.v[3]);
    return pair;
}

#endif
