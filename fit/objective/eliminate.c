/* Gaussian elimination of unknowns from a quadratic model. */
#include "fit/objective/eliminate.h"

double db_eliminate(size_t count, size_t from, double *gradient, double *normal, size_t stride) {
    const double least = 1e-12; /* of what the diagonal was: the rest is rounding */
    double decrease = 0;
    /* The diagonal as it was is kept beside it, in the unused upper triangle. */
    for (size_t k = 0; k + 1 < count; k++) normal[k * stride + k + 1] = normal[k * stride + k];
    const double last = count ? normal[(count - 1) * stride + count - 1] : 0;
    for (size_t t = count; t-- > from;) {
        double *const row = normal + t * stride;
        const double before = t + 1 < count ? row[t + 1] : last, pivot = row[t];
        if (!(pivot > least * before) || !(pivot > 0)) {
            row[t] = 0;
            continue;
        }
        decrease += 0.25 * gradient[t] * gradient[t] / pivot;
        for (size_t i = 0; i < t; i++) {
            const double factor = row[i] / pivot;
            double *const above = normal + i * stride;
            gradient[i] -= factor * gradient[t];
            for (size_t j = 0; j <= i; j++) above[j] -= factor * row[j];
        }
    }
    return decrease;
}

double db_eliminated_step(const double *row, size_t unknown, double gradient, const double *step) {
    if (!(row[unknown] > 0)) return 0;
    double sum = -0.5 * gradient;
    for (size_t i = 0; i < unknown; i++) sum -= row[i] * step[i];
    return sum / row[unknown];
}
