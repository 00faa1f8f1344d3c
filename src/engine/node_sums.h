/* Sums over an image's pixels for each reflection: photons, and moments of their places. */
#ifndef DB_ENGINE_NODE_SUMS_H
#define DB_ENGINE_NODE_SUMS_H

#include <stddef.h>

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

#endif
