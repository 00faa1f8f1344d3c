#include "fit/verdict.h"

#include "core/context_internal.h"
#include "fit/verdict_tests.h"

#include <math.h>
#include <stdlib.h>

/* Fewer cannot show more. */
static const size_t FEWEST_INTENSITIES = 40;

/* What a shoebox says of its reflection. */
typedef struct intensity {
    double d_spacing;
    double calculated, measured; /* F^2, and what it would have to be for the light measured */
} intensity;

static int coarser_first(const void *a, const void *b) {
    const double x = ((const intensity *)a)->d_spacing, y = ((const intensity *)b)->d_spacing;
    return (x < y) - (x > y);
}

static double square_of(const db_structure_factors *factors, const int hkl[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = hkl[i] - factors->min[i];
        if (from < 0 || from >= factors->extent[i]) return 0;
        at = at * (size_t)factors->extent[i] + (size_t)from;
    }
    return factors->amplitude ? factors->amplitude[at] * factors->amplitude[at] : 0;
}

/* Standard deviations by which the order of measured intensities is that of calculated ones, each
 * compared with those of like resolution only, as both fall with it (Kendall, Biometrika 30, 81,
 * 1938). */
static double rank_intensities(intensity *list, size_t count) {
    enum { GROUP = 8 };
    double sum = 0, variance = 0;
    qsort(list, count, sizeof *list, coarser_first);
    for (size_t first = 0; first + GROUP <= count; first += GROUP) {
        for (size_t i = first; i < first + GROUP; i++)
            for (size_t k = first; k < i; k++) {
                const double order = (list[i].calculated - list[k].calculated) *
                                     (list[i].measured - list[k].measured);
                sum += (order > 0) - (order < 0);
            }
        variance += GROUP * (GROUP - 1) * (2 * GROUP + 5) / 18.0;
    }
    return variance > 0 ? sum / sqrt(variance) : (double)NAN;
}

db_status db_verdict_of_intensities(db_context *context, const db_fit_result *result,
                                    db_fit_verdict *v) {
    const db_structure_factors *const factors = &result->experiment.structure_factors;
    intensity *const list = malloc((result->shoebox_count + 1) * sizeof *list);
    double sum[2] = { 0 };
    if (!list) return db_fail_memory(context, "the ranking of intensities");
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        const double square = square_of(factors, box->hkl);
        const double model = box->light[0], measured = box->light[1];
        sum[0] += model;
        sum[1] += measured;
        if (square > 0 && model > 0)
            list[v->intensities++] =
                (intensity){ box->d_spacing, square, measured * square / model };
    }
    const double sigma =
        v->intensities >= FEWEST_INTENSITIES ? rank_intensities(list, v->intensities) : (double)NAN;
    const double brightness = sum[1] > 0 ? sum[0] / sum[1] : (double)NAN;
    free(list);
    db_verdict_test(
        v, DB_FIT_TEST_BRIGHTNESS, brightness,
        "the model's spots have %.2g times the light of those measured; expected %g to %g: scale "
        "is "
        "to be refined, or wider bounds for it",
        brightness, v->test[DB_FIT_TEST_BRIGHTNESS].least, v->test[DB_FIT_TEST_BRIGHTNESS].most);
    db_verdict_test(
        v, DB_FIT_TEST_INTENSITIES, sigma,
        "intensities of %zu spots are in the order of those calculated by %.1f standard "
        "deviations of "
        "what chance brings; expected at least %g: the structure factors are another crystal's, "
        "or the "
        "indices are those of an equivalent lattice, turned or mirrored",
        v->intensities, sigma, v->test[DB_FIT_TEST_INTENSITIES].least);
    return DB_OK;
}
