/* Sums of vectors over the pieces of a whole, such as chunks of shots. A binary tree over the pieces
 * says which two sums are added: a node of level L is the sum of pieces k 2^L to (k + 1) 2^L - 1. The
 * tree depends on the number of pieces alone, so the result has the same bits for any number of threads
 * and processes, for any owner of a piece and any order of arrival.
 *
 * A process adds up what it has by itself as soon as both sums of a node are there, so it holds about
 * log2(pieces) vectors for each run of neighbouring pieces that it works on. Nodes with parts of several
 * processes are added by the one that has the first piece: each of the others sends it one vector. */
#ifndef DB_FIT_SHOTS_TREE_SUM_H
#define DB_FIT_SHOTS_TREE_SUM_H

#include <dualbragg/fit_shots.h>

typedef struct db_tree_sum {
    size_t pieces, size;
    struct db_tree_node
        *node;              /* [pieces] sums that wait for their neighbour, at their first piece */
    double *spare;          /* spare vectors, chained; NULL: none */
    size_t held, most_held; /* vectors in memory; the most so far */
} db_tree_sum;

/* size: doubles of each vector. */
db_status db_tree_sum_begin(db_context *context, size_t pieces, size_t size, db_tree_sum *sum);
void db_tree_sum_clear(db_tree_sum *sum);

/* A vector of zeros for one piece; NULL: out of memory. Any thread may call it. */
double *db_tree_sum_take(db_tree_sum *sum);

/* Gives back the vector of a piece with its sum; each piece once. Any thread may call it. */
void db_tree_sum_put(db_tree_sum *sum, size_t piece, double *vector);

/* Process that has put a piece. */
typedef int (*db_piece_owner)(const void *user, size_t piece);

/* Adds the nodes of all processes, after each owner has put its pieces. All processes get the total. The sum is
 * then empty, for the next one. One thread of each process calls it. */
db_status db_tree_sum_total(const db_fit_team *team, db_context *context, db_tree_sum *sum,
                            db_piece_owner owner, const void *user, double *total);

#endif
