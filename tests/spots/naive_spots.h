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

/* A rectangle of pixels of a panel. reach: spots whose node points farther away from its middle
 * (radian), or lies 12 standard deviations off the sphere, are left out; 0: none is. */
typedef struct naive_region {
    size_t panel;
    int fast, slow;           /* the first pixel */
    int fast_size, slow_size; /* pixels */
    double reach;
} naive_region;

/* A spot: a node, seen by a source, of the blocks of a tail, about an angle of the spindle at which
 * it is nearest to the sphere. Directions have no unit; the laboratory's frame. The node moves along
 * straight lines here; cap tells how far rotations bend them. */
typedef struct naive_spot {
    size_t source;
    int tail;
    double angle;          /* radian from the start */
    double turn[3][3];     /* there: where the axes of the standard frame point */
    double node[3], r[3];  /* 1/angstrom, in the standard frame and there */
    double wavelength;     /* angstrom */
    double distance;       /* to the panel's plane at its mean depth along the ray (m) */
    double depth_variance; /* m^2 */
    long double c[3];      /* where it points */
    long double covariance[3][3], amplitude; /* of all spreads; the peak */
    long double v[3], low, high;             /* motion per radian; range of angles from its own */
    long double cap;                         /* f/|rho|^2 */
    long double weight;                      /* of all such spots of its node; 1 */
} naive_spot;

typedef struct naive_list {
    naive_spot *spot;
    size_t count, room;
} naive_list;

/* The spots of a region; free list.spot. intervals: of the rotation, for NAIVE_TRUE_ROTATION. */
naive_list naive_spot_list(const db_experiment *e, naive_region region, naive_rotation how,
                           int intervals);

/* A pixel's point (mm from the panel's corner): its direction, and what multiplies all spots there
 * but the polarization and the Debye-Waller factor. */
typedef struct naive_point {
    double d[3], factor;
} naive_point;
naive_point naive_point_of(const db_experiment *e, size_t panel, double fast, double slow);

/* Polarization and Debye-Waller factor of a source's photons in a direction. */
double naive_factor(const db_experiment *e, size_t source, const double d[3]);

/* Directions across the beam, horizontal and vertical. */
void naive_across_beam(const db_experiment *e, double axis[2][3]);

/* Adds to image[slow_size * fast_size] the expected photons of the crystal. intervals: of Simpson's
 * rule, even. */
void naive_spots(const db_experiment *e, naive_region region, naive_rotation how, int intervals,
                 double *image);

#endif
