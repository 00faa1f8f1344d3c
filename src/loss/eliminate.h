/* Elimination of unknowns from a quadratic model
 *
 *     value + gradient x + x normal x        (normal: half the second derivatives)
 *
 * by setting each to its best value given those before it: Gaussian elimination from the last
 * unknown to the first, whose rows then give the unknowns from the first to the last. */
#ifndef DB_LOSS_ELIMINATE_H
#define DB_LOSS_ELIMINATE_H

#include "ad/names.h"

#include <stddef.h>

/* Does the model determine an unknown? Compares its diagonal with the one before later unknowns were eliminated:
 * less is rounding. */
AD_FN int db_is_determined(double pivot, double before) {
    return pivot > 1e-12 * before && pivot > 0;
}

/* Decrease of the value when an unknown with this slope and diagonal gets its best value. */
AD_FN double db_eliminated_fall(double slope, double pivot) { return 0.25 * slope * slope / pivot; }

/* Eliminates unknowns from..count-1 of normal (lower triangle, rows of `stride`) in place; the first `from` rows
 * become the model of the others (the Schur complement). Returns the decrease of the value. An unknown that the
 * model does not determine, because it is a combination of earlier ones to 12 digits, or has no influence, does
 * not move: its diagonal becomes 0. */
AD_FN double db_eliminate(size_t count, size_t from, double *gradient, double *normal,
                          size_t stride) {
    double decrease = 0;
    /* The unused upper triangle keeps the original diagonal. */
    for (size_t k = 0; k + 1 < count; k++) normal[k * stride + k + 1] = normal[k * stride + k];
    const double last = count ? normal[(count - 1) * stride + count - 1] : 0;
    for (size_t t = count; t-- > from;) {
        double *const row = normal + t * stride;
        const double before = t + 1 < count ? row[t + 1] : last, pivot = row[t];
        if (!db_is_determined(pivot, before)) {
            row[t] = 0;
            continue;
        }
        decrease += db_eliminated_fall(gradient[t], pivot);
        for (size_t i = 0; i < t; i++) {
            const double factor = row[i] / pivot;
            double *const above = normal + i * stride;
            gradient[i] -= factor * gradient[t];
            for (size_t j = 0; j <= i; j++) above[j] -= factor * row[j];
        }
    }
    return decrease;
}

/* The best step of an eliminated unknown, from its row of the normal matrix and its gradient, when the unknowns
 * before it are known. */
AD_FN double db_eliminated_step(const double *row, size_t unknown, double gradient,
                                const double *step) {
    if (!(row[unknown] > 0)) return 0;
    double sum = -0.5 * gradient;
    for (size_t i = 0; i < unknown; i++) sum -= row[i] * step[i];
    return sum / row[unknown];
}

#endif
