/* From nodes near the Ewald sphere to spots and their boxes, in vectors of nodes. One instance
 * per instruction set; the engine (engine/spot_search.c) goes through the lattice and keeps the
 * lists. */
#ifndef DB_KERNEL_SPOT_FIND_H
#define DB_KERNEL_SPOT_FIND_H

#include "base/context_internal.h"
#include "dualbragg/experiment.h"
#include "kernel/job.h"

#include <math.h>

/* What bounds the spots of an experiment. */
typedef struct db_spot_bounds {
    double photons;  /* of a pixel, at most, per unit of a spot's amplitude */
    double per_spot; /* photons of a pixel that each spot may lack, to the power (1 - share); 0 */
    double share;    /* see db_spot_cut */
    double largest;  /* no spot's cut is larger */
    /* variance of directions along any line, at most: constant + growing |r|^2; along r: constant +
     * lengthening |r|^2 */
    double constant, growing, lengthening;
    double place;   /* the same of what spreads places on the panels */
    double longest; /* no node that counts has a longer r (1/angstrom) */
    double turn;    /* nodes count also if a turn by so much more brings them there (radian) */
} db_spot_bounds;

/* Of a spot's peak, always left out: far below what rounding does. */
#define DB_SPOT_ALWAYS 1e-24

/* Of z^2, from which on a spot of that amplitude does not count; <= 0: it does not anywhere. Let
 * every spot lack exp(-z^2/2) A G where A G exp(-(1 - share) z^2/2) <= t, A being its amplitude
 * and G the pixel's factor. Together the spots of a pixel then lack at most t times the sum of
 * exp(-share z^2/2) over all nodes: t is the tolerance over a bound of that sum. */
static inline double db_spot_cut(const db_spot_bounds *b, double amplitude) {
    const double largest = 2 * log(1 / DB_SPOT_ALWAYS);
    if (!(b->per_spot > 0)) return largest;
    const double cut = 2 / (1 - b->share) * log(fabs(amplitude) * b->photons / b->per_spot);
    return cut < largest ? cut : largest;
}

/* Nodes of one source, in the order of the search; angles in radian from the start of the
 * rotation. */
enum { DB_SPOT_NODES = 128 };
typedef struct db_spot_nodes {
    int count;
    double hkl[3][DB_SPOT_NODES];
    double r[3][DB_SPOT_NODES];      /* laboratory, where the spot is expanded (1/angstrom) */
    double amplitude[DB_SPOT_NODES]; /* structure factor */
    double at[DB_SPOT_NODES], from[DB_SPOT_NODES], to[DB_SPOT_NODES]; /* as in db_spot_passage */
    double cosine[DB_SPOT_NODES], sine[DB_SPOT_NODES];                /* of at */
    unsigned char moves[DB_SPOT_NODES];
    /* of those near the sphere, in the order of their list: unit vector along s0 + r, and how far from it
     * spots can be */
    double ray[3][DB_SPOT_NODES], across[DB_SPOT_NODES];
} db_spot_nodes;

/* Rectangles of pixels of a panel, in which tiles are looked for. */
enum { DB_SPOT_CELL_FAST = DB_SPOT_TILE_FAST, DB_SPOT_CELL_SLOW = DB_SPOT_TILE_SLOW };

/* Which of them have a tile. */
typedef struct db_spot_cells {
    /* [rows + 1][columns + 1]: of those in the rows and columns before; NULL: look into all */
    const uint32_t *before;
    int columns, rows;
} db_spot_cells;

/* A panel as the search sees it. */
typedef struct db_spot_window {
    const db_kernel_panel *panel;
    double size[2];         /* m */
    double middle[3];       /* unit vector to the middle of a cone that holds it */
    double cosine, sine;    /* of the cone's half angle */
    const double *values;   /* panel_interface */
    const db_panel *pixels; /* counts and sizes */
    db_spot_cells cells;
} db_spot_window;

typedef struct db_spot_find {
    const db_experiment *experiment;
    const db_spot_bounds *bounds;
    const double *spread, *source; /* spread_interface and source_interface */
    int parts;                     /* of spread_interface */
    int slopes;                    /* 1: derivatives are wanted */
    double layer_step, attenuation;
    int turns;       /* 1: the crystal turns */
    uint32_t number; /* of the source */
} db_spot_find;

typedef struct db_spot_found {
    int node, tail;
    double cut;
    int32_t fast[2], slow[2];
} db_spot_found;

/* Spots of a source at rest on a panel, of one class of blocks. */
typedef struct db_placed_spots {
    int count;
    double hkl[3][DB_SPOT_NODES], amplitude[DB_SPOT_NODES]; /* structure factor */
    /* how bright: photons less what depends on the pixel, and the logarithm of what is left of it
     * at the brightest direction */
    double bright[DB_SPOT_NODES], exponent[DB_SPOT_NODES];
    double pixel[2][DB_SPOT_NODES], obliquity[DB_SPOT_NODES]; /* <= 0 behind the panel */
    double covariance[3][DB_SPOT_NODES]; /* pixels^2, the pixel's own as far as the spot has it */
    double distance[DB_SPOT_NODES], width[DB_SPOT_NODES]; /* see spot_values */
    double rho[DB_SPOT_NODES], arm[DB_SPOT_NODES];        /* |r| wavelength; see spot_arm */
} db_placed_spots;

typedef struct db_spot_finder {
    /* Numbers of those nodes whose spots can reach the sphere; returns how many. */
    int (*near_sphere)(const db_spot_find *find, db_spot_nodes *nodes, int near[DB_SPOT_NODES]);
    /* Numbers of those, from the list of them, whose spots can reach a panel. */
    int (*near_panel)(const db_spot_find *find, const db_spot_window *window,
                      const db_spot_nodes *nodes, const int *from, int count, int *near);
    /* Spots of nodes, all of which move or none does: for each node those of all classes of blocks.
     * Returns how many; < 0: -1 - number of a node whose covariance is none. */
    int (*spots)(const db_spot_find *find, const db_spot_window *window, const db_spot_nodes *nodes,
                 const int *from, int count, db_spot_found *found, db_kernel_spot *spot);
    /* Where spots are, of hkl and amplitude. tail: the class of blocks. */
    void (*places)(const db_spot_find *find, const db_spot_window *window, int tail,
                   db_placed_spots *places);
} db_spot_finder;

const db_spot_finder *db_spot_finder_instance(db_isa isa);

#endif
