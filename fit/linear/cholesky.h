/* Cholesky's factor of a normal matrix, M = L L'. Unknowns that are held have rows of 0 in L, and do not move. Neither do those
 * that the matrix does not determine: their diagonal is 0, and their row says of which unknowns before them they are a
 * combination. */
#ifndef DB_FIT_LINEAR_CHOLESKY_H
#define DB_FIT_LINEAR_CHOLESKY_H

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Least parts of a diagonal that tell an unknown from those before it. Rounding of sums leaves some 1e-16, and errors of some
 * 1e-16 / p in a part p: 1e-4 in steps, which an evaluation checks; 1e-6 in variances, and in steps that nothing checks.
 * Boxes' sums are of single precision. */
#define DB_LEAST_FOR_STEP 1e-12
#define DB_LEAST_FOR_VARIANCE 1e-10
#define DB_LEAST_FOR_BOXES 1e-8

/* L, [n][n], lower triangle, of the first n unknowns of a symmetric matrix whose rows have `stride` elements, its diagonal
 * times 1 + damping. held: one flag per unknown; NULL: none is held. least: an unknown is not determined if less than
 * this part of its diagonal is left when the unknowns before it are eliminated. */
static inline void db_cholesky_factor(size_t n, const double *matrix, size_t stride, double damping,
                                      const unsigned char *held, double least, double *L) {
    memset(L, 0, n * n * sizeof *L);
    for (size_t i = 0; i < n; i++) {
        double *const row = L + i * n;
        const double diagonal = matrix[i * stride + i];
        double square = diagonal + damping * diagonal;
        if (held && held[i]) continue;
        for (size_t j = 0; j < i; j++) {
            const double *const above = L + j * n;
            double sum = matrix[i * stride + j];
            for (size_t k = 0; k < j; k++) sum -= row[k] * above[k];
            row[j] = above[j] > 0 ? sum / above[j] : 0;
            square -= row[j] * row[j];
        }
        if (square > least * diagonal && isfinite(square))
            row[i] = sqrt(square);
        else if (!isfinite(square))
            memset(row, 0, n * sizeof *row);
    }
}

/* x becomes L^-1 x, or L'^-1 x. */
static inline void db_cholesky_forward(size_t n, const double *L, double *x) {
    for (size_t i = 0; i < n; i++) {
        const double *const row = L + i * n;
        for (size_t j = 0; j < i; j++) x[i] -= row[j] * x[j];
        x[i] = row[i] > 0 ? x[i] / row[i] : 0;
    }
}
static inline void db_cholesky_back(size_t n, const double *L, double *x) {
    for (size_t i = n; i-- > 0;) {
        const double diagonal = L[i * n + i];
        for (size_t j = i + 1; j < n; j++) x[i] -= L[j * n + i] * x[j];
        x[i] = diagonal > 0 ? x[i] / diagonal : 0;
    }
}

/* Is an unknown a combination of those before it? x, [n], gets the change of all, of length 1 in units of their errors
 * alone, along which the matrix does not determine them. */
static inline int db_cholesky_combination(size_t n, const double *L, size_t unknown, double *x) {
    const double *const row = L + unknown * n;
    double square = 0, length = 0;
    for (size_t k = 0; k < unknown; k++) square += row[k] * row[k];
    if (row[unknown] > 0 || !(square > 0)) return 0;
    memcpy(x, row, n * sizeof *x);
    db_cholesky_back(n, L, x);
    for (size_t i = 0; i < unknown; i++) {
        double own = 0;
        for (size_t k = 0; k <= i; k++) own += L[i * n + k] * L[i * n + k];
        x[i] *= sqrt(own);
    }
    x[unknown] = -sqrt(square);
    for (size_t i = 0; i <= unknown; i++) length += x[i] * x[i];
    for (size_t i = 0; i <= unknown; i++) x[i] /= sqrt(length);
    return 1;
}

/* x becomes M^-1 x. */
static inline void db_cholesky_solve(size_t n, const double *L, double *x) {
    db_cholesky_forward(n, L, x);
    db_cholesky_back(n, L, x);
}

#endif
