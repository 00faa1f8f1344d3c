/* Truth about spots in closed form: blocks, rays, places and angles drawn at random, one exact image
 * of a single block for each draw, and their mean. Nothing is linearised: rotations and strains are
 * exponentials of matrices, rays start where they are scattered, photons stop within the sensor. */
#ifndef DB_TESTS_SPOTS_SAMPLER_H
#define DB_TESTS_SPOTS_SAMPLER_H

#include "naive_spots.h"

#include <stddef.h>
#include <stdint.h>

/* What is drawn; each takes one or more uniform numbers. */
enum { SAMPLER_NUMBERS = 24 };

typedef struct sampler {
    const db_experiment *e;
    naive_region region;
    int dimensions;              /* uniform numbers that a draw takes */
    int number[SAMPLER_NUMBERS]; /* which of a draw's they are; -1: the number does not count */
    int square_pixels;           /* 0: at pixels' middles only, the default 1: over their area */
} sampler;

sampler sampler_of(const db_experiment *e, naive_region region);

/* The image of one draw: uniform[dimensions], each in (0, 1). Overwrites image. */
void sampler_draw(const sampler *s, const double uniform[], double *image);

/* Independent draws, seeded: their mean and the variance of one of them, for each pixel. */
void sampler_random(const sampler *s, size_t draws, uint64_t seed, double *mean, double *variance);

/* The mean over a lattice of 2^log2_points points that is shifted at random `shifts` times; error:
 * the standard deviation of the mean, as its shifts tell it. */
void sampler_lattice(const sampler *s, int log2_points, int shifts, uint64_t seed, double *mean,
                     double *error);

#endif
