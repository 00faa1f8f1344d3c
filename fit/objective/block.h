/* One block of pixels, a shoebox or a tile, and its model
 *
 *     expected counts = J x shape + offset + b0 + b1 fast + b2 slow
 *
 * J >= 0 and the background's coefficients are linear, and best for any shape: a small Newton
 * iteration finds them, for every loss. What is left is a function of the nonlinear parameters
 * alone (variable projection; Golub & Pereyra, SIAM J. Numer. Anal. 10, 413, 1973). Its gradient is
 * that at fixed coefficients (they are best, so they do not contribute), its normal matrix the
 * Schur complement of the one of all unknowns (docs/theory/refinement.md, Normal matrix). */
#ifndef DB_FIT_OBJECTIVE_BLOCK_H
#define DB_FIT_OBJECTIVE_BLOCK_H

#include "fit/objective/loss.h"

enum { DB_LINEAR = 4 }; /* J, b0, b1, b2 */

typedef struct db_block {
    db_region region;    /* its pixels in the arrays below */
    const float *value;  /* counts */
    const float *weight; /* 1/variance of the counts as far as known beforehand; 0: not used */
    const float *shape_variance; /* what of it is the spots' shape error (counts^2) */
    const float *shape;          /* the rendered image */
    const float *offset;         /* fixed part of the background (counts); NULL: none */
    const db_loss *loss;
    double ridge;        /* 1/sigma^2 of a prior J = 0 +- sigma; 0: none */
    int used[DB_LINEAR]; /* which coefficients are free */
} db_block;

/* Value of the plane at a pixel of a block, counted from its first one. */
static inline double db_block_plane(const double linear[DB_LINEAR], const db_region *block,
                                    int fast, int slow) {
    return linear[1] + linear[2] * (fast - 0.5 * (block->fast_count - 1)) +
           linear[3] * (slow - 0.5 * (block->slow_count - 1));
}

/* A block's loss at given coefficients, with slopes and half second derivatives (lower triangle) by
 * them. Rows and columns of unused ones are 0. */
typedef struct db_block_sums {
    double value, gradient[DB_LINEAR], normal[DB_LINEAR * DB_LINEAR];
} db_block_sums;
void db_block_sum(const db_block *block, const double linear[DB_LINEAR], db_block_sums *sums);

/* Moves the coefficients to their best values, J not below 0. They may start anywhere; from the
 * last evaluation's values two or three passes over the pixels do. Returns the loss; *variance is
 * that of J, 0 if J is not free. */
double db_block_solve(const db_block *block, double linear[DB_LINEAR], double *variance);

/* A derivative image's part in the derivative by a refined quantity. */
typedef struct db_link {
    size_t column, variable;
    double slope; /* d parameter / d quantity */
} db_link;

typedef struct db_derivatives {
    float *const *image; /* of shape, by the parameters of each column; laid out like it */
    const db_link *links;
    size_t link_count, variables;
} db_derivatives;

/* Loss, gradient and normal matrix (lower triangle, rows of variables + DB_LINEAR; NULL: not
 * wanted) of variables, then J, b0, b1, b2, at given coefficients. */
double db_block_derive(const db_block *block, const double linear[DB_LINEAR],
                       const db_derivatives *derivatives, double *gradient, double *normal);

/* Cost of one pixel under the model, for statistics. */
typedef struct db_pixel_report {
    double expected, spot, variance, trust; /* counts, counts, counts^2, 1: no outlier */
} db_pixel_report;
db_pixel_report db_block_pixel(const db_block *block, const double linear[DB_LINEAR], int fast,
                               int slow);

#endif
