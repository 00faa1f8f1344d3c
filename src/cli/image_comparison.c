#include "cli/image_comparison.h"

#include "base/moments.h"

#include <math.h>

enum { LEFT_OUT, ONE_SIDED, COUNTS };

static int kind_of_pixel(const float *a, const float *b, const uint8_t *left_out, size_t i) {
    const int finite = (isfinite(a[i]) != 0) + (isfinite(b[i]) != 0);
    return left_out[i] || !finite ? LEFT_OUT : finite == 1 ? ONE_SIDED : COUNTS;
}

static double brightest(const float *a, const float *b, const uint8_t *left_out, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (kind_of_pixel(a, b, left_out, i) == COUNTS) largest = fmax(largest, fabs((double)a[i]));
    return largest;
}

static void take_in(db_comparison *c, db_co_moments *moments, size_t place, double a, double b,
                    double bound) {
    const double pixel[2] = { a, b }, difference = b - a;
    for (int k = 0; k < 2; k++)
        if (!moments->x.count || pixel[k] > c->largest[k]) {
            c->largest[k] = pixel[k];
            c->largest_place[k] = place;
        }
    if (!moments->x.count || fabs(difference) > fabs(c->difference)) {
        c->difference = difference;
        c->place = place;
        for (int k = 0; k < 2; k++) c->at_place[k] = pixel[k];
    }
    for (int k = 0; k < 2; k++) c->sum[k] += pixel[k];
    c->rms += difference * difference;
    c->beyond += fabs(difference) > bound;
    db_co_moments_add(moments, a, b);
}

db_comparison db_compare_images(const float *a, const float *b, const uint8_t *left_out,
                                size_t count, const db_comparison_bounds *bounds) {
    db_comparison c = { 0 };
    db_co_moments moments = { 0 };
    const double fixed = bounds->absolute + bounds->of_brightest * brightest(a, b, left_out, count);
    for (size_t i = 0; i < count; i++) {
        const int kind = kind_of_pixel(a, b, left_out, i);
        if (kind == COUNTS)
            take_in(&c, &moments, i, (double)a[i], (double)b[i],
                    fixed + bounds->relative * fabs((double)a[i]));
        c.left_out += kind == LEFT_OUT;
        c.one_sided += kind == ONE_SIDED;
    }
    const size_t both = moments.x.count;
    c.pixels = both + c.one_sided;
    c.beyond += c.one_sided;
    c.share = c.pixels ? (double)c.beyond / (double)c.pixels : 0;
    c.rms = sqrt(c.rms / (double)both);
    c.correlation = db_co_moments_correlation(&moments);
    for (int k = 0; k < 2; k++) {
        c.mean[k] = c.sum[k] / (double)both;
        if (!both) c.sum[k] = c.largest[k] = c.at_place[k] = NAN;
    }
    if (!both) c.difference = NAN;
    return c;
}

double db_closest_scale(const float *a, const float *b, const uint8_t *left_out, size_t count) {
    double ab = 0, bb = 0;
    for (size_t i = 0; i < count; i++) {
        if (kind_of_pixel(a, b, left_out, i) != COUNTS) continue;
        ab += (double)a[i] * (double)b[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / bb;
}
