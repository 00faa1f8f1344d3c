/* Computes spots and their boxes from nodes near the Ewald sphere, in vectors of nodes. One instance per
 * instruction set. */
#ifndef DB_KERNEL_SPOT_FINDER_H
#define DB_KERNEL_SPOT_FINDER_H

#include "base/context_internal.h"
#include "kernel/spot_find.h"

/* Nodes of one source, in the order of the search; angles in radian from the start of the
 * rotation. */
enum { DB_SPOT_NODES = 128 };
typedef struct db_spot_nodes {
    int count;
    double hkl[3][DB_SPOT_NODES];
    double r[3][DB_SPOT_NODES];   /* laboratory, where the spot is expanded (1/angstrom) */
    double square[DB_SPOT_NODES]; /* of the structure factor */
    double at[DB_SPOT_NODES], from[DB_SPOT_NODES], to[DB_SPOT_NODES]; /* as in db_spot_passage */
    double cosine[DB_SPOT_NODES], sine[DB_SPOT_NODES];                /* of at */
    unsigned char moves[DB_SPOT_NODES];
    /* of the listed nodes near the sphere, in that order: the unit vector along s0 + r, and the largest distance
     * of their spots from it */
    double ray[3][DB_SPOT_NODES], across[DB_SPOT_NODES];
} db_spot_nodes;

typedef struct db_spot_found {
    int node, tail;
} db_spot_found;

/* Spots of a source at rest on a panel, of one class of blocks. */
typedef struct db_placed_spots {
    int count;
    double hkl[3][DB_SPOT_NODES], square[DB_SPOT_NODES]; /* of the structure factor */
    /* brightness: photons without the pixel's factors, and the exponent at the brightest direction */
    double bright[DB_SPOT_NODES], exponent[DB_SPOT_NODES];
    double pixel[2][DB_SPOT_NODES], obliquity[DB_SPOT_NODES]; /* <= 0 behind the panel */
    /* pixels^2; includes the pixel's own variance if the spot does */
    double covariance[3][DB_SPOT_NODES];
    double distance[DB_SPOT_NODES], width[DB_SPOT_NODES]; /* see spot_values */
    double rho[DB_SPOT_NODES], arm[DB_SPOT_NODES];        /* |r| wavelength; see spot_arm */
} db_placed_spots;

typedef struct db_spot_finder {
    /* Lists the numbers of the nodes whose spots can reach the sphere; returns how many. */
    int (*near_sphere)(const db_spot_find *find, db_spot_nodes *nodes, int near[DB_SPOT_NODES]);
    /* Lists those of the numbers in `from` whose spots can reach a panel. */
    int (*near_panel)(const db_spot_find *find, const db_spot_window *window,
                      const db_spot_nodes *nodes, const int *from, int count, int *near);
    /* Makes the spots of nodes, all of which move or none does: for each node those of all classes of blocks.
     * Returns how many; < 0: -1 - number of a node whose spread is no covariance. */
    int (*spots)(const db_spot_find *find, const db_spot_window *window, const db_spot_nodes *nodes,
                 const int *from, int count, db_spot_found *found, db_kernel_spot *spot);
    /* Where spots are, of hkl and square. tail: the class of blocks. */
    void (*places)(const db_spot_find *find, const db_spot_window *window, int tail,
                   db_placed_spots *places);
} db_spot_finder;

const db_spot_finder *db_spot_finder_instance(db_isa isa);

#endif
