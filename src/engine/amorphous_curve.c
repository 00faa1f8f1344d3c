/* Cubics through the amplitudes of amorphous matter. */
#include "engine/amorphous_curve.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_PER_POINT = 4, MOST_BINS = 1 << 16 };

static int32_t bins_for(size_t count) {
    return count < MOST_BINS / BINS_PER_POINT ? (int32_t)(count * BINS_PER_POINT) : MOST_BINS;
}

db_status db_amorphous_curve_create(db_context *context, size_t count, db_amorphous_curve *curve) {
    memset(curve, 0, sizeof *curve);
    if (count == 0) return DB_OK;
    const size_t intervals = count + 1;
    curve->knot = malloc((intervals + 1) * sizeof *curve->knot);
    curve->cubic = malloc(intervals * 4 * sizeof *curve->cubic);
    curve->bin = malloc((size_t)bins_for(count) * sizeof *curve->bin);
    if (curve->knot && curve->cubic && curve->bin) return DB_OK;
    db_amorphous_curve_clear(curve);
    return db_fail_memory(context, "the amplitudes of an amorphous layer");
}

void db_amorphous_curve_clear(db_amorphous_curve *curve) {
    free(curve->knot);
    free(curve->cubic);
    free(curve->bin);
    memset(curve, 0, sizeof *curve);
}

/* Coefficients of powers of u = x - origin of the polynomial through `count` <= 4 points (Newton's
 * divided differences, expanded from the highest inwards). */
static void polynomial_through(const double *x, const double *y, int count, double origin,
                               double power[4]) {
    double difference[4];
    memcpy(difference, y, (size_t)count * sizeof *difference);
    for (int order = 1; order < count; order++)
        for (int i = count - 1; i >= order; i--)
            difference[i] = (difference[i] - difference[i - 1]) / (x[i] - x[i - order]);
    memset(power, 0, 4 * sizeof *power);
    for (int i = count - 1; i >= 0; i--) { /* power := power (u - (x_i - origin)) + difference_i */
        const double root = x[i] - origin;
        for (int n = 3; n > 0; n--) power[n] = power[n - 1] - root * power[n];
        power[0] = difference[i] - root * power[0];
    }
}

static void fill_bins(db_amorphous_curve *curve, const db_background *b) {
    const size_t last = b->count - 1;
    const int32_t bins = bins_for(b->count);
    const double width = (b->stol[last] - b->stol[0]) / bins;
    int32_t interval = 0;
    for (int32_t i = 0; i < bins; i++) {
        const double low = b->stol[0] + i * width;
        while ((size_t)interval < last && low >= curve->knot[interval + 1]) interval++;
        /* the first bin also serves values below it; rounding may put a value into the bin above its own */
        curve->bin[i] = i == 0 || interval == 0 ? 0 : interval - 1;
    }
    curve->job.first = b->stol[0];
    curve->job.per_bin = width > 0 ? 1 / width : 0;
    curve->job.bins = bins;
}

void db_amorphous_curve_fill(db_amorphous_curve *curve, const db_background *b) {
    if (b->count == 0) return;
    const size_t intervals = b->count + 1;
    /* interval i lies between points i - 1 and i; the outermost intervals have one end, beyond which the curve is
     * flat: a polynomial would grow without bounds */
    curve->knot[0] = b->stol[0];
    memcpy(curve->knot + 1, b->stol, b->count * sizeof *curve->knot);
    curve->knot[intervals] = HUGE_VAL;
    for (size_t i = 0; i < intervals; i++) {
        const size_t least = i == b->count ? b->count - 1 : 0, most = i == 0 ? 1 : b->count,
                     first = i < least + 2 ? least : i - 2, end = i + 2 < most ? i + 2 : most;
        polynomial_through(b->stol + first, b->amplitude + first, (int)(end - first),
                           curve->knot[i], curve->cubic + 4 * i);
    }
    curve->job.knot = curve->knot;
    curve->job.cubic = curve->cubic;
    curve->job.bin = curve->bin;
    fill_bins(curve, b);
}
