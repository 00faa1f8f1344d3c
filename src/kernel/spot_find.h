/* The input of a search for spots in closed form: bounds, lattice, sources and panels. The engine
 * (engine/spot_search.c) and devices (cuda/spot_search.cu) go through the lattice and keep the lists. */
#ifndef DB_KERNEL_SPOT_FIND_H
#define DB_KERNEL_SPOT_FIND_H

#include "ad/device_language.h"
#include "dualbragg/experiment.h"
#include "kernel/job.h"

#include <math.h>

/* Bounds of the spots of an experiment. */
typedef struct db_spot_bounds {
    double photons;  /* of a pixel, at most, per unit of a spot's amplitude */
    double per_spot; /* photons of a pixel that each spot may lack, to the power (1 - share); 0 */
    double share;    /* see db_spot_cut */
    double largest;  /* no spot's cut is larger */
    /* variance of directions along any line, at most: constant + growing |r|^2; along r: constant +
     * lengthening |r|^2 */
    double constant, growing, lengthening;
    double place;   /* the largest variance by the spread of places on the panels */
    double longest; /* no node that counts has a longer r (1/angstrom) */
    /* a node also counts if a further turn of up to this (radian) brings it there */
    double turn;
} db_spot_bounds;

/* Part of a spot's peak that is always left out: far below rounding. */
#define DB_SPOT_ALWAYS 1e-24

/* The z^2 beyond which a spot of this amplitude does not count; <= 0: it never counts. Each spot may lack
 * exp(-z^2/2) A G where A G exp(-(1 - share) z^2/2) <= t, with its amplitude A and the pixel's factor G. Together
 * the spots of a pixel then lack at most t times the sum of exp(-share z^2/2) over all nodes; t is the tolerance
 * divided by a bound of that sum. */
AD_PORTABLE_FN double db_spot_cut(const db_spot_bounds *b, double amplitude) {
    const double largest = 2 * log(1 / DB_SPOT_ALWAYS);
    if (!(b->per_spot > 0)) return largest;
    const double cut = 2 / (1 - b->share) * log(fabs(amplitude) * b->photons / b->per_spot);
    return cut < largest ? cut : largest;
}

/* A panel as the search sees it; nothing in it is a pointer, so that devices have it as it is. */
typedef struct db_spot_window {
    db_kernel_panel panel;
    uint32_t number;
    int pixels[2];
    double pixel_size[2]; /* mm */
    double size[2];       /* m */
    double middle[3];     /* unit vector to the middle of a cone that holds it */
    double cosine, sine;  /* of the cone's half angle */
    int everywhere;       /* 1: all of its cells have a tile */
    db_spot_cells cells;
} db_spot_window;

/* Sources of equal direction, for which nodes are looked for together (1/angstrom). */
typedef struct db_spot_group {
    double largest_kappa, largest[3], smallest_kappa, smallest[3]; /* with their s0 */
    double outwards, inwards; /* from a source's sphere: where spots of all nodes can be */
    double out, in;           /* radii about the spheres' middles */
} db_spot_group;

/* The input of a search beside sources and panels. */
typedef struct db_spot_search {
    db_spot_bounds bounds;
    double start[9], middle[9]; /* rows a*, b*, c* in the laboratory, there in the range */
    int most[3];                /* largest |h|, |k| and |l| */
    int parts;                  /* of spread_interface */
    double layer_step, attenuation;
    int turns;  /* 1: the crystal turns */
    int slopes; /* 1: derivatives are wanted */
    int listed; /* 1: amplitudes of nodes that are not listed, and their slopes, are 0 */
    /* number of structure factors that are parameters: their spots count even with amplitude 0 */
    int wanted;
    int wanted_hkl[DB_MAX_AMPLITUDE_SLOPES][3];
} db_spot_search;

typedef struct db_spot_find {
    const db_experiment *experiment;
    const db_spot_search *search;
    /* spread_interface, panel_interface [panels], and source_interface of the source */
    const double *spread, *panel, *source;
    const uint32_t *before; /* db_spot_tiles.before */
    uint32_t number;        /* of the source */
} db_spot_find;

#endif
