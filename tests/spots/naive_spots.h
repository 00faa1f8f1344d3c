/* Spots in closed form from first principles: the image of an experiment whose blocks, rays and
 * places have Gaussian distributions, computed naively in long double from the formulas alone. Every
 * node of the sphere of resolution counts in every pixel, unless a region has a reach. It shares no
 * code with the project. */
#ifndef DB_TESTS_SPOTS_NAIVE_SPOTS_H
#define DB_TESTS_SPOTS_NAIVE_SPOTS_H

#include <dualbragg/experiment.h>

/* How the mean over a rotation is taken. */
typedef enum naive_rotation {
    NAIVE_ERROR_FUNCTION, /* in closed form, of the linearised motion of each node */
    NAIVE_SIMPSON,        /* of the same motion by Simpson's rule */
    NAIVE_TRUE_ROTATION   /* of stills along the true rotation by Simpson's rule */
} naive_rotation;

/* A rectangle of pixels of a panel. reach: spots whose node points farther away from its middle are
 * left out (radian); 0: none is. */
typedef struct naive_region {
    size_t panel;
    int fast, slow;           /* the first pixel */
    int fast_size, slow_size; /* pixels */
    double reach;
} naive_region;

/* Adds to image[slow_size * fast_size] the expected photons of the crystal. intervals: of Simpson's
 * rule, even. */
void naive_spots(const db_experiment *e, naive_region region, naive_rotation how, int intervals,
                 double *image);

#endif
