/* One block of pixels, a shoebox or a tile, and its model
 *
 *     expected counts = J x shape + offset + b0 + b1 fast + b2 slow
 *
 * J >= 0 and the background's coefficients are linear, and best for any shape: a small Newton
 * iteration finds them, for every loss. What is left is a function of the nonlinear parameters
 * alone (variable projection; Golub & Pereyra, SIAM J. Numer. Anal. 10, 413, 1973). Its gradient is
 * that at fixed coefficients (they are best, so they do not contribute), its normal matrix the
 * Schur complement of the one of all unknowns (docs/theory/refinement.md, Normal matrix). */
#ifndef DB_LOSS_BLOCK_MODEL_H
#define DB_LOSS_BLOCK_MODEL_H

#include "ad/names.h"

#include <dualbragg/expert/boxes.h>

typedef struct db_block {
    db_region region;            /* its pixels in the arrays below */
    const float *value;          /* counts */
    const float *weight;         /* 1/variance of the counts, as far as it is known; 0: not used */
    const float *shape_variance; /* part of the variance from the spots' shape error (counts^2) */
    const float *shape;          /* the rendered image */
    const float *offset;         /* fixed part of the background (counts); NULL: none */
    const db_loss *loss;
    double ridge; /* 1/sigma^2 of a prior J = expected +- sigma; 0: none */
    double expected;
    int used[DB_LINEAR]; /* 1: the coefficient is free */
} db_block;

/* Value of the plane at a pixel of a block, counted from its first pixel. */
AD_FN double db_block_plane(const double *linear, const db_region *block, int fast, int slow) {
    return linear[1] + linear[2] * (fast - 0.5 * (block->fast_count - 1)) +
           linear[3] * (slow - 0.5 * (block->slow_count - 1));
}

#endif
