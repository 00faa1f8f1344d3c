/* Sums over one block of pixels: its loss, its best coefficients, and the loss with these eliminated. */
#ifndef DB_LOSS_BLOCK_H
#define DB_LOSS_BLOCK_H

#include "loss/block_model.h"

/* A block's loss at given coefficients, with slopes and half second derivatives by them. */
DB_API void db_block_sum(const db_block *block, const double linear[DB_LINEAR],
                         db_block_sums *sums);

/* Moves the coefficients to their best values, J not below 0, from any start; from the last evaluation's values
 * two or three passes over the pixels suffice. Returns the loss; *variance is the variance of J, 0 if J is not
 * free. */
DB_API double db_block_solve(const db_block *block, double linear[DB_LINEAR], double *variance);

/* Derivatives of shape by a block's variables. */
typedef struct db_derivatives {
    float *const *image; /* of shape, by the parameters of each column; laid out like it */
    const db_link *links;
    size_t link_count, variables;
} db_derivatives;

/* Loss, gradient and normal matrix (lower triangle, rows of variables + DB_LINEAR; NULL: not
 * wanted) of variables, then J, b0, b1, b2, at given coefficients. */
DB_API double db_block_derive(const db_block *block, const double linear[DB_LINEAR],
                              const db_derivatives *derivatives, double *gradient, double *normal);

/* Cost of one pixel under the model, for statistics. */
typedef struct db_pixel_report {
    double expected, spot, variance, trust; /* counts, counts, counts^2, 1: no outlier */
} db_pixel_report;
DB_API db_pixel_report db_block_pixel_any(const db_block *block, const double linear[DB_LINEAR],
                                          int fast, int slow);

/* As db_block_pixel_report for the commonest target without a call, because statistics need millions. */
static inline db_pixel_report db_block_pixel(const db_block *block, const double linear[DB_LINEAR],
                                             int fast, int slow) {
    if (block->loss->target != DB_LOSS_WEIGHTED)
        return db_block_pixel_any(block, linear, fast, slow);
    const db_region *const r = &block->region;
    const size_t at = r->offset + (size_t)slow * r->stride + (size_t)fast;
    const double spot = linear[0] * (double)block->shape[at];
    double plane = db_block_plane(linear, r, fast, slow);
    if (block->offset) plane += (double)block->offset[at];
    return (db_pixel_report){ spot + plane, spot, 1 / (double)block->weight[at], 1 };
}

#endif
