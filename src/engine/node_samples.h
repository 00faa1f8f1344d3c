/* Assigns each sample of a pixel to the node nearest to it. */
#ifndef DB_ENGINE_NODE_SAMPLES_H
#define DB_ENGINE_NODE_SAMPLES_H

#include "engine/node_sums.h"
#include "engine/pixel_trace_model.h"

/* Lattice vectors (rows a, b, c) of each phi step and domain, domains fastest. */
void db_node_lattices(const db_trace *trace, db_matrix *lattice);

/* Adds a pixel's crystal scattering, up to a common factor, to the photons of its nodes (under panel 0). lattice:
 * from db_node_lattices. most: largest number of samples used, spread evenly; 0: all samples. Returns 0 if memory
 * runs out. */
int db_node_samples(const db_trace *trace, const db_matrix *lattice, size_t panel, int fast,
                    int slow, size_t most, db_node_sums *nodes);

#endif
