/* Chooses the sub-pixels that a spot's shape needs. */
#include "engine/spot_oversample.h"

#include "base/context_internal.h"
#include "base/given.h"

#include <dualbragg/expert/spot_places.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 4 };
static const double CUMULANT = 960; /* docs/theory/spots.md, Limits */

static int compare_numbers(const void *first, const void *second) {
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Standard deviation (pixels) along the short axis. */
static double narrow_width(const db_spot *spot) {
    const double *const v = spot->covariance;
    return sqrt(fmax(0.5 * (v[0] + v[1]) - hypot(0.5 * (v[0] - v[1]), v[2]), 0));
}

db_status db_spots_oversample(db_context *context, const db_predicted_spots *spots, double error,
                              int *oversample, double *width) {
    *oversample = 1;
    *width = INFINITY;
    if (!(error > 0) || !isfinite(error))
        return db_fail(context, DB_ERROR_USAGE,
                       "sub-pixels of spots: expected an error above 0, found %g", error);
    DB_TRY(db_need_list(context, "spots", spots->spot, spots->count));
    if (spots->count == 0) return DB_OK;
    double *const widths = malloc(spots->count * sizeof *widths);
    if (!widths) return db_fail_memory(context, "the widths of spots");
    for (size_t i = 0; i < spots->count; i++) widths[i] = narrow_width(&spots->spot[i]);
    qsort(widths, spots->count, sizeof *widths, compare_numbers);
    *width = widths[spots->count / 10];
    free(widths);
    const double enough = pow(CUMULANT * error, -0.25); /* sub-pixels */
    *oversample = enough < MOST * *width ? (int)fmax(1, ceil(enough / *width)) : MOST;
    return DB_OK;
}

/* The error relative to the spot's photons. Each sub-pixel counts as the Gaussian's value in its middle times its
 * area. The sum of such values over a grid differs from the integral by the Gaussian's Fourier transform at the
 * grid's reciprocal nodes (Poisson), of which the innermost eight count. */
static double error_of_sum(const db_spot *spot, int oversample) {
    const double two_pi_square = 19.739208802178717238, even = 1.0 / 12,
                 square = (double)oversample * oversample, *const v = spot->covariance,
                 fast = square * fmax(v[0] - even, 0) + even,
                 slow = square * fmax(v[1] - even, 0) + even, both = square * v[2];
    const double at[4] = { fast, slow, fast + slow + 2 * both, fast + slow - 2 * both };
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += 2 * exp(-two_pi_square * fmax(at[i], even));
    return sum;
}

db_status db_spots_error_of_sums(db_context *context, const db_predicted_spots *spots,
                                 int oversample, double *error) {
    *error = 0;
    if (spots->count == 0) return DB_OK;
    double *const errors = malloc(spots->count * sizeof *errors);
    if (!errors) return db_fail_memory(context, "the errors of spots");
    for (size_t i = 0; i < spots->count; i++) errors[i] = error_of_sum(&spots->spot[i], oversample);
    qsort(errors, spots->count, sizeof *errors, compare_numbers);
    *error = errors[spots->count - 1 - spots->count / 10];
    free(errors);
    return DB_OK;
}

db_status db_spots_oversample_for_sums(db_context *context, const db_predicted_spots *spots,
                                       double error, int most, int *oversample) {
    int less = 0, enough = most;
    DB_TRY(db_need_list(context, "spots", spots->spot, spots->count));
    while (enough - less > 1) {
        const int middle = (less + enough) / 2;
        double found;
        DB_TRY(db_spots_error_of_sums(context, spots, middle, &found));
        if (found <= error)
            enough = middle;
        else
            less = middle;
    }
    *oversample = enough;
    return DB_OK;
}
