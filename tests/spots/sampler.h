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
} sampler;

sampler sampler_of(const db_experiment *e, naive_region region);

/* One draw. */
typedef struct sampler_numbers {
    double block[3][3];     /* E */
    double longer;          /* relative change of the wavelength */
    double divergence[2];   /* radian: horizontal, vertical */
    double footprint[2];    /* m: horizontal, vertical */
    double point_spread[2]; /* m: fast, slow */
    double within[2];       /* of a pixel, in parts of it: uniform */
    double depth;           /* uniform */
    double angle;           /* radian from the start of the rotation */
} sampler_numbers;

/* The draw of uniform[dimensions], each in (0, 1). */
sampler_numbers sampler_draw(const sampler *s, const double uniform[]);

/* The image of one draw. Overwrites image. */
void sampler_image(const sampler *s, const double uniform[], double *image);

/* The normal deviate of a uniform number. */
double sampler_normal(double uniform);

/* Independent draws, seeded: their mean and the variance of one of them, for each pixel. */
void sampler_random(const sampler *s, size_t draws, uint64_t seed, double *mean, double *variance);

/* Images of draws, by any renderer. */
typedef void sampler_function(const sampler *s, void *own, const double uniform[], double *image);

/* The mean over a lattice of 2^log2_points points that is shifted at random `shifts` times; error:
 * the standard deviation of the mean, as its shifts tell it. */
void sampler_lattice(const sampler *s, sampler_function *image_of, void *own, int log2_points,
                     int shifts, uint64_t seed, double *mean, double *error);

/* The mean of the images themselves. */
sampler_function sampler_exact;

#endif
