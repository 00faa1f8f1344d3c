/* Assigns each sample of a pixel to the node nearest to it. */
#ifndef DB_ENGINE_NODE_SAMPLES_H
#define DB_ENGINE_NODE_SAMPLES_H

#include "engine/pixel_trace_model.h"
#include <stddef.h>

/* Sums over an image's pixels for each reflection: photons, and moments of their places. */

typedef struct db_node_sum {
    int hkl[3];
    size_t panel;
    double photons;
    double first[2];  /* photons times place (pixels): fast, slow */
    double second[3]; /* photons times products of places: fast, slow, both */
} db_node_sum;

typedef struct db_node_sums {
    db_node_sum *sum; /* owned; in the order in which nodes came */
    size_t count, capacity;
    size_t *slot; /* owned; hash table by hkl and panel: 1 + number in `sum`, or 0: free */
    size_t slots; /* a power of two, or 0 */
    size_t last;  /* number of the sum that was found last */
} db_node_sums;

/* The sum of a node; a new sum starts at 0. NULL: out of memory. */
db_node_sum *db_node_sums_find(db_node_sums *sums, const int hkl[3], size_t panel);

void db_node_sums_clear(db_node_sums *sums);

/* Lattice vectors (rows a, b, c) of each phi step and domain, domains fastest. */
void db_node_lattices(const db_trace *trace, db_matrix *lattice);

/* Adds a pixel's crystal scattering, up to a common factor, to the photons of its nodes (under panel 0). lattice:
 * from db_node_lattices. most: largest number of samples used, spread evenly; 0: all samples. Returns 0 if memory
 * runs out. */
int db_node_samples(const db_trace *trace, const db_matrix *lattice, size_t panel, int fast,
                    int slow, size_t most, db_node_sums *nodes);

#endif
