#include "support/unit_test.h"
#include "convergence.h"
#include "first_order.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An image of the program, and means and variances of runs of samples. */
typedef struct samples {
    int pixels, runs, length; /* draws of a run */
    double peak;
    double *image, *mean, *variance; /* [pixels], [runs][pixels] twice */
} samples;

static samples draw(const db_experiment *e, naive_region region, db_context *context, int runs,
                    int length) {
    const sampler s = sampler_of(e, region);
    samples out = { .pixels = region.fast_size * region.slow_size, .runs = runs, .length = length };
    const size_t pixels = (size_t)out.pixels;
    out.image = malloc(pixels * (1 + 2 * (size_t)runs) * sizeof *out.image);
    out.mean = out.image + pixels;
    out.variance = out.mean + pixels * (size_t)runs;
    rendered(context, e, region, out.image);
    for (int i = 0; i < out.pixels; i++) out.peak = fmax(out.peak, out.image[i]);
    for (int r = 0; r < runs; r++)
        sampler_random(&s, (size_t)length, 1000 + (uint64_t)r, out.mean + pixels * (size_t)r,
                       out.variance + pixels * (size_t)r);
    return out;
}

/* Mean of a number of runs from the first, at a pixel. */
static double mean_of(const samples *s, int first, int count, int pixel) {
    double sum = 0;
    for (int r = first; r < first + count; r++) sum += s->mean[r * s->pixels + pixel];
    return sum / count;
}

/* Variance of one draw at a pixel. */
static double variance_of(const samples *s, int pixel) {
    double sum = 0;
    for (int r = 0; r < s->runs; r++) sum += s->variance[r * s->pixels + pixel];
    return sum / s->runs;
}

/* Squares of the differences in units of the statistical error: their mean over bright pixels, for
 * each run, is 1 but for chance, which the runs themselves measure. All draws together: no pixel is
 * off by more than the bias and four standard deviations. */
static void check_squares(const samples *s, const char *name, double bias) {
    double sum = 0, squares = 0, worst = 0;
    double *run = calloc((size_t)s->runs, sizeof *run);
    int bright = 0;
    for (int i = 0; i < s->pixels; i++) {
        if (!(s->image[i] > 0.1 * s->peak)) continue;
        const double error = sqrt(variance_of(s, i) / s->length);
        bright++;
        for (int r = 0; r < s->runs; r++)
            run[r] += pow((mean_of(s, r, 1, i) - s->image[i]) / error, 2);
        const double off = fabs(mean_of(s, 0, s->runs, i) - s->image[i]) - bias * s->peak;
        worst = fmax(worst, off / error * sqrt(s->runs));
    }
    for (int r = 0; r < s->runs; r++) {
        sum += run[r] / bright / s->runs;
        squares += pow(run[r] / bright, 2) / s->runs;
    }
    free(run);
    const double error = sqrt((squares - sum * sum) / (s->runs - 1));
    print_message("%-34s squares %.3f +- %.3f, largest %.2f", name, sum, error, worst);
    if (!(fabs(sum - 1) <= 4 * error)) fail_msg("%s: squares", name);
    if (!(worst <= 4)) fail_msg("%s: a pixel is off", name);
}

/* Root mean square difference from the program's image, in parts of the peak, of means over `count`
 * runs. */
static double difference(const samples *s, int count) {
    double sum = 0;
    for (int first = 0; first + count <= s->runs; first += count)
        for (int i = 0; i < s->pixels; i++)
            sum += pow((mean_of(s, first, count, i) - s->image[i]) / s->peak, 2);
    return sqrt(sum / s->pixels / (s->runs / count));
}

void samples_converge(db_context *context, const spot_scene *scene, int draws) {
    naive_region region;
    db_experiment e = scene_experiment(context, scene, &region);
    samples s = draw(&e, region, context, 256, draws / 256);
    check_squares(&s, scene->name, scene->bias);
    /* the slope of a straight line through the logarithms for means of 1, 3, 9 and 27 runs */
    static const int runs[4] = { 1, 3, 9, 27 };
    double logarithm[4], slope = 0;
    for (int k = 0; k < 4; k++) logarithm[k] = log(difference(&s, runs[k])) / log(3);
    for (int k = 0; k < 4; k++) slope += (k - 1.5) * logarithm[k] / 5;
    print_message("; differences %.2e to %.2e, exponent %.3f\n", pow(3, logarithm[0]),
                  pow(3, logarithm[3]), slope);
    if (!(fabs(slope + 0.5) <= 0.12)) fail_msg("%s: exponent %.3f", scene->name, slope);
    free(s.image);
    db_experiment_clear(&e);
}

void first_order_suffices(db_context *context, const spot_scene *scene, int log2_points,
                          double precise) {
    naive_region region;
    db_experiment e = scene_experiment(context, scene, &region);
    const sampler s = sampler_of(&e, region);
    const size_t pixels = (size_t)(region.fast_size * region.slow_size);
    double *image = malloc(3 * pixels * sizeof *image), *missing = image + pixels,
           *error = missing + pixels, peak = 0, most = 0, least_sure = 0;
    first_order *f = first_order_of(&s, 1);
    rendered(context, &e, region, image);
    sampler_lattice(&s, first_order_missing, f, log2_points, 8, 5, missing, error);
    for (size_t i = 0; i < pixels; i++) peak = fmax(peak, image[i]);
    for (size_t i = 0; i < pixels; i++) {
        most = fmax(most, fabs(missing[i]) / peak);
        least_sure = fmax(least_sure, error[i] / peak);
        if (!(fabs(missing[i]) <= scene->bias * peak + 4 * error[i]))
            fail_msg("%s: pixel %zu lacks %.2e +- %.2e of the peak", scene->name, i,
                     missing[i] / peak, error[i] / peak);
    }
    print_message("%-34s first order leaves out %.2e, known to %.1e\n", scene->name, most,
                  least_sure);
    if (!(least_sure <= precise * scene->bias))
        fail_msg("%s: known to %.2e only", scene->name, least_sure);
    first_order_destroy(f);
    free(image);
    db_experiment_clear(&e);
}
