#include "fit/covariance.h"

#include <dualbragg/parameters.h>
#include <math.h>

typedef double square[DB_PARAMETER_COUNT][DB_PARAMETER_COUNT];

/* m := its inverse, for a symmetric positive definite matrix with unit diagonal (Cholesky, then
 * L^-T L^-1). 0 if some combination of parameters is determined worse than one part in 10^6 of the
 * single ones. */
static int invert(size_t n, square m) {
    const double least = 1e-12;
    square inverse = { { 0 } }; /* of the lower triangle L */
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = m[i][j];
            for (size_t k = 0; k < j; k++) sum -= m[i][k] * m[j][k];
            if (i == j && !(sum > least)) return 0;
            m[i][j] = i == j ? sqrt(sum) : sum / m[j][j];
        }
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            double sum = i == j;
            for (size_t k = j; k < i; k++) sum -= m[i][k] * inverse[k][j];
            inverse[i][j] = sum / m[i][i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = i; k < n; k++) sum += inverse[k][i] * inverse[k][j];
            m[i][j] = m[j][i] = sum;
        }
    }
    return 1;
}

void db_covariance(const double *normal, size_t count, const int *used, double inflation,
                   double *error, double *correlation, size_t stride) {
    size_t list[DB_PARAMETER_COUNT], n = 0;
    double scale[DB_PARAMETER_COUNT];
    square m = { { 0 } };
    for (size_t i = 0; i < count; i++) {
        error[i] = NAN;
        for (size_t j = 0; j < count; j++) correlation[i * stride + j] = i == j;
        if (!used[i]) continue;
        error[i] = INFINITY;
        scale[n] = 1 / sqrt(normal[i * count + i]);
        if (isfinite(scale[n])) list[n++] = i; /* else of no influence at all */
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            m[a][b] = a == b ? 1 : normal[list[a] * count + list[b]] * scale[a] * scale[b];
    if (!invert(n, m)) return;
    for (size_t a = 0; a < n; a++) {
        error[list[a]] = sqrt(m[a][a] * inflation) * scale[a];
        for (size_t b = 0; b < n; b++)
            if (a != b) correlation[list[a] * stride + list[b]] = m[a][b] / sqrt(m[a][a] * m[b][b]);
    }
}
