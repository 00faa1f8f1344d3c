/* Variable projection (Golub & Pereyra 1973) of one block of pixels, a shoebox or a region:
 *
 *     model = J x shape + b0 + b1 fast + b2 slow
 *
 * J and the plane are linear. For any shape, their best values follow from normal equations, and
 * what is left is a function of the nonlinear parameters alone. All that is needed, the target, its
 * gradient and its normal matrix, follows from weighted sums over the pixels, taken in one pass. */
#ifndef DB_FIT_VARPRO_H
#define DB_FIT_VARPRO_H

#include <dualbragg/fit.h>

enum { DB_LINEAR = 4 }; /* J, b0, b1, b2 */

/* Weighted sums over pixels of products of data y, columns x = (shape, 1, fast, slow) and
 * derivatives d of the shape by the nonlinear parameters. */
typedef struct db_varpro_sums {
    double yy, xy[DB_LINEAR], xx[DB_LINEAR][DB_LINEAR]; /* xx: lower triangle */
    double *dy;                                         /* [n] */
    double *dx;                                         /* [n][DB_LINEAR] */
    double *dd;                                         /* [n][n], lower triangle */
    size_t parameters;                                  /* n */
} db_varpro_sums;

/* Some rows of a block. Pixel (fast, slow) of them stands at element offset + slow stride + fast.
 */
typedef struct db_varpro_pixels {
    const float *value, *weight; /* counts, 1/variance (0: not used) */
    const float *shape;
    float *const *derivative; /* [n] images */
    size_t offset, stride;
    int fast_count, slow_count;
    double fast_start, slow_start; /* of the first pixel, from the block's centre (pixels) */
} db_varpro_pixels;

/* Doubles needed for the arrays of sums with n parameters. */
size_t db_varpro_sums_room(size_t parameters);
/* Lays the arrays out in memory of that size. */
void db_varpro_sums_init(db_varpro_sums *sums, size_t parameters, double *memory);
void db_varpro_sums_zero(db_varpro_sums *sums);
/* with_normal: dd too. */
void db_varpro_accumulate(db_varpro_sums *sums, const db_varpro_pixels *pixels, int with_normal);
void db_varpro_sums_add(db_varpro_sums *sums, const db_varpro_sums *more);

typedef struct db_varpro_solution {
    double linear[DB_LINEAR];
    double intensity_variance; /* of J: element of the inverse normal matrix; 0 if J is not free */
    double target;             /* sum of weight x residual^2, plus ridge x J^2 */
} db_varpro_solution;

/* Solves for J >= 0 and plane. A J that would be negative is set to 0 and the plane is found again.
 * gradient [n] of the target (the linear coefficients being best, they do not contribute), and
 * normal [n][n], J^T J with Kaufman's (1975) projected Jacobian, are added to; either may be NULL.
 */
void db_varpro_solve(const db_varpro_sums *sums, double ridge, db_varpro_solution *solution,
                     double *gradient, double *normal);

/* One J for several blocks, each with its own plane: what the blocks say about it once their planes
 * are eliminated. J = numerator/denominator. */
typedef struct db_varpro_shared {
    double numerator, denominator;
    double cross[DB_PARAMETER_COUNT]; /* of the shape with its derivatives */
} db_varpro_shared;

/* Adds a block's part. */
void db_varpro_share(const db_varpro_sums *sums, db_varpro_shared *shared);

/* Solves a block for its plane at a given J; adds to gradient and normal as above. */
void db_varpro_solve_plane(const db_varpro_sums *sums, double intensity,
                           db_varpro_solution *solution, double *gradient, double *normal);

/* After all blocks: takes what a change of J would make up for out of the normal matrix. */
void db_varpro_project_shared(const db_varpro_shared *shared, double intensity, size_t parameters,
                              double *normal);

#endif
