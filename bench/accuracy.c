#include "bench/accuracy.h"
#include "base/context_internal.h"
#include "engine/exact_image.h"

#include <math.h>
#include <stdlib.h>

static int both_finite(const float *a, const float *b, size_t i) {
    return isfinite(a[i]) && isfinite(b[i]);
}

db_bench_comparison db_bench_compare(const float *image, const float *reference, size_t pixels) {
    double sum_a = 0, sum_b = 0, difference = 0, largest = 0, aa = 0, bb = 0, ab = 0;
    size_t used = 0;
    for (size_t i = 0; i < pixels; i++) {
        if (!both_finite(image, reference, i)) continue;
        used++;
        sum_a += (double)image[i];
        sum_b += (double)reference[i];
        difference = fmax(difference, fabs((double)image[i] - (double)reference[i]));
        largest = fmax(largest, (double)reference[i]);
    }
    const double mean_a = sum_a / (double)used, mean_b = sum_b / (double)used;
    for (size_t i = 0; i < pixels; i++) {
        if (!both_finite(image, reference, i)) continue;
        const double a = (double)image[i] - mean_a, b = (double)reference[i] - mean_b;
        aa += a * a;
        bb += b * b;
        ab += a * b;
    }
    return (db_bench_comparison){ aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN,
                                  largest > 0 ? difference / largest : NAN, pixels - used };
}

/* Pixels along each side of the detector, and the most rows that are rendered. */
enum { SIZE = 1024, MOST_ROWS = 127 };
/* Pixels count from this part of the maximum on. */
static const double BRIGHT = 1e-6;

typedef struct {
    db_region region[MOST_ROWS];
    size_t count;
} rows;

/* An odd number, evenly spread, so that one goes through the middle, where all samples of a pixel
 * are alike. */
static rows choose_rows(double samples_per_pixel, double samples) {
    rows chosen = { .count = 1 };
    while (chosen.count + 2 <= MOST_ROWS &&
           (double)(chosen.count + 2) * SIZE * samples_per_pixel <= samples)
        chosen.count += 2;
    for (size_t i = 0; i < chosen.count; i++)
        chosen.region[i] =
            (db_region){ .slow_start = (int)((2 * i + 1) * SIZE / (2 * chosen.count)),
                         .fast_count = SIZE,
                         .slow_count = 1,
                         .offset = i * SIZE,
                         .stride = SIZE };
    return chosen;
}

static db_status render(db_context *context, const db_experiment *experiment, const rows *chosen,
                        db_precision precision, float *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    options.precision = precision;
    options.regions = chosen->region;
    options.region_count = chosen->count;
    db_status status = db_plan_create(context, experiment, &options, &plan);
    if (status == DB_OK) status = db_plan_forward(plan, image);
    db_plan_destroy(&plan);
    return status;
}

static void compare(const long double *exact, const float *in_double, const float *mixed,
                    db_bench_rounding *r) {
    double maximum = 0;
    r->in_double = NAN;
    for (size_t i = 0; i < r->pixels; i++) maximum = fmax(maximum, (double)exact[i]);
    for (size_t i = 0; i < r->pixels; i++) {
        r->mixed = fmax(r->mixed, (double)fabsl(mixed[i] - exact[i]) / maximum);
        if (!(exact[i] > BRIGHT * maximum)) continue;
        r->bright++;
        r->in_double = fmax(r->in_double, (double)(fabsl(in_double[i] - exact[i]) / exact[i]));
    }
}

static db_status measure(db_context *context, const db_experiment *experiment, const rows *chosen,
                         db_bench_rounding *r) {
    long double *exact = malloc(r->pixels * sizeof *exact);
    float *in_double = malloc(r->pixels * sizeof *in_double),
          *mixed = malloc(r->pixels * sizeof *mixed);
    db_status status = exact && in_double && mixed
                           ? DB_OK
                           : db_fail_memory(context, "images of which the rounding is measured");
    if (status == DB_OK)
        status = db_exact_image(context, experiment, NULL, chosen->region, chosen->count, exact);
    if (status == DB_OK)
        status = render(context, experiment, chosen, DB_PRECISION_DOUBLE, in_double);
    if (status == DB_OK) status = render(context, experiment, chosen, DB_PRECISION_MIXED, mixed);
    if (status == DB_OK) compare(exact, in_double, mixed, r);
    free(exact);
    free(in_double);
    free(mixed);
    return status;
}

db_status db_bench_measure_rounding(db_context *context, const db_bench_load *load,
                                    const char *list, double samples, db_bench_rounding *r) {
    const db_bench_workload workload = { .size = SIZE, .load = load, .list = list };
    const rows chosen = choose_rows(db_bench_load_samples(load), samples);
    db_experiment experiment;
    *r = (db_bench_rounding){ .load = load, .pixels = chosen.count * SIZE };
    db_status status = db_bench_experiment(context, &workload, &experiment);
    if (status != DB_OK) return status;
    status = measure(context, &experiment, &chosen, r);
    db_experiment_clear(&experiment);
    return status;
}
