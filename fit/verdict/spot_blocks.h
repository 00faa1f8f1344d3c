/* Blocks of spots, for which nodes of a lattice, densities and weights are computed side by side (fit/verdict/evidence.h has
 * what they mean). Results have the same bits for each spot wherever it stands in a block, and on any instruction set. */
#ifndef DB_FIT_VERDICT_SPOT_BLOCKS_H
#define DB_FIT_VERDICT_SPOT_BLOCKS_H

#include "fit/search/moments.h"
#include "fit/verdict/evidence_spots.h"

#include <stddef.h>

enum { DB_SPOT_BLOCK = 8 };
/* Student's density of one number at its maximum, for a width of 1. */
#define DB_STUDENT_PEAK 0.375

/* Spots with their coordinates in widths. */
typedef struct db_spot_block {
    double q[3][DB_SPOT_BLOCK], offset[9][DB_SPOT_BLOCK], shifted[3][DB_SPOT_BLOCK];
    double volume[DB_SPOT_BLOCK];
    double recorded[DB_SPOT_BLOCK]; /* by which rotation and spectrum lower the density */
} db_spot_block;

/* The listed spots, 1 to DB_SPOT_BLOCK; the places behind them repeat the last one. */
void db_spot_block_take(const db_evidence *e, const db_evidence_width *width, const size_t *spots,
                        size_t count, db_spot_block *block);
/* Spots from the first one on, in steps, of those before `count`, of which it is one; returns how many they are. */
size_t db_spot_block_take_run(const db_evidence *e, const db_evidence_width *width, size_t first,
                              size_t step, size_t count, db_spot_block *block);

/* Weights in a fit to spots of the lattice; part: probabilities that the lattice has made the spots; at: their nodes. */
typedef struct db_spot_weights {
    double weight[DB_SPOT_BLOCK], part[DB_SPOT_BLOCK], at[3][DB_SPOT_BLOCK];
} db_spot_weights;

typedef struct db_spot_block_calls {
    /* Squares of the distances of the nearest nodes, in widths. at, corner: NULL, or these nodes' places, in widths from
     * the spots, and their corners of the cells in which the spots are (bit i: the upper one along direction i). */
    void (*nearest)(const db_evidence *e, const db_evidence_nodes *nodes,
                    const db_spot_block *block, double square[DB_SPOT_BLOCK],
                    double at[3][DB_SPOT_BLOCK], double corner[DB_SPOT_BLOCK]);
    /* Student's density of some numbers, at `square` from its middle, relative to spots at random places, whose density
     * is 1 in a cell of the lattice (of this volume). Along the recorded lines of a node it is as high as in the middle. */
    void (*density)(const db_spot_block *block, const db_evidence_width *width, double cell,
                    int numbers, const double square[DB_SPOT_BLOCK], double density[DB_SPOT_BLOCK]);
    void (*weigh)(const db_evidence *e, const db_evidence_nodes *nodes,
                  const db_evidence_width *width, const db_spot_block *block,
                  db_spot_weights *weights);
} db_spot_block_calls;

const db_spot_block_calls *db_spot_block_calls_of(db_isa isa);

#endif
