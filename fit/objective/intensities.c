/* Intensities of reflections from their shoeboxes (docs/theory/refinement.md, Intensities). */
#include "fit/objective/intensities.h"

#include "fit/objective/statistics.h"
#include "loss/eliminate.h"

#include <math.h>
#include <string.h>

/* Intensity of a spot of shape 1 and its variance, without the bounds and the prior that hold it in
 * a refinement: both would bias faint ones. */
typedef struct fitted {
    double intensity, variance;
    double chi2; /* of the box, with this intensity */
} fitted;

/* 0: the model has no light in the box. */
static int fit_freely(const db_block *block, const double linear[DB_LINEAR], fitted *f) {
    db_block without = *block;
    db_block_sums s;
    double step[DB_LINEAR] = { 0 };
    without.ridge = 0;
    db_block_sum(&without, linear, &s);
    const double promise = db_eliminate(DB_LINEAR, 0, s.gradient, s.normal, DB_LINEAR);
    step[0] = db_eliminated_step(s.normal, 0, s.gradient[0], step);
    if (!(s.normal[0] > 0)) return 0;
    *f = (fitted){ linear[0] + step[0], 1 / s.normal[0], s.value - promise };
    return isfinite(f->variance);
}

/* Sums over the pixels in use. */
typedef struct pixel_sums {
    double shape, background, sum, variance;
    int strong, pixels;
} pixel_sums;

static pixel_sums sum_pixels(const db_block *block, const double *linear, const db_shoeboxes *box) {
    const int width = box->width;
    pixel_sums all = { 0 };
    for (int slow = 0; slow < width; slow++)
        for (int fast = 0; fast < width; fast++) {
            const size_t at = (size_t)slow * box->region[0].stride + (size_t)fast;
            if (!(box->weight[at] > 0)) continue;
            const double background = db_block_plane(linear, &block->region, fast, slow);
            all.shape += (double)block->shape[at];
            all.background += background;
            all.sum += (double)box->value[at] - background;
            all.variance += db_block_pixel(block, linear, fast, slow).variance;
            all.strong += box->strong[at];
            all.pixels++;
        }
    return all;
}

/* Of the centroid of strong pixels, whose noise it has; as wide as a pixel where there is but one. */
static void measure_centroid(const db_block *block, const double *linear, const db_shoeboxes *box,
                             db_fit_reflection *i) {
    double weight = 0;
    for (size_t at = 0; at < box->pixels; at++) {
        const size_t width = (size_t)box->width;
        const int fast = (int)(at % width), slow = (int)(at / width);
        if (!box->strong[at] || !(box->weight[at] > 0)) continue;
        const double variance = db_block_pixel(block, linear, fast, slow).variance;
        const double off[2] = { i->region.fast_start + fast + 0.5 - i->observed[0],
                                i->region.slow_start + slow + 0.5 - i->observed[1] };
        weight += (double)box->value[at] - (double)box->background[at];
        for (int k = 0; k < 2; k++) i->observed_variance[k] += variance * off[k] * off[k];
    }
    for (int k = 0; k < 2; k++)
        i->observed_variance[k] =
            i->observed_variance[k] / (weight * weight) + 1 / (12.0 * i->strong);
}

/* What a box misses more than noise is taken for noise of its own. */
int db_intensity_measure(const db_block *block, const double linear[DB_LINEAR],
                         const db_shoeboxes *box, db_fit_reflection *spot) {
    const db_reflection *const r = box->reflection;
    fitted f;
    if (!fit_freely(block, linear, &f)) return 0;
    const pixel_sums all = sum_pixels(block, linear, box);
    db_fit_reflection i = { .region = box->region[0],
                            .d_spacing = r->d_spacing,
                            .partiality = r->recorded,
                            .F = sqrt(fmax(0, linear[0])),
                            .square = f.intensity,
                            .background = all.background / all.pixels,
                            .sum = all.sum,
                            .sum_sigma = sqrt(all.variance),
                            .strong = all.strong,
                            .pixels = all.pixels };
    memcpy(i.hkl, r->hkl, sizeof i.hkl);
    memcpy(i.position, r->position, sizeof i.position);
    if (!db_statistics_observed_centroid(box, 0, i.observed)) i.observed[0] = i.observed[1] = NAN;
    if (i.strong) measure_centroid(block, linear, box, &i);
    const double degrees = fmax(1, i.pixels - DB_LINEAR);
    i.square_sigma = sqrt(f.variance * fmax(1, f.chi2 / degrees));
    i.counts = i.square * all.shape;
    i.counts_sigma = i.square_sigma * all.shape;
    *spot = i;
    return 1;
}

void db_intensities_share(db_fit_reflection *list, size_t count) {
    for (size_t i = 0, end; i < count; i = end) {
        double sum = 0, weights = 0;
        for (end = i; end < count && db_compare_hkl(list[i].hkl, list[end].hkl) == 0; end++) {
            const double weight = 1 / (list[end].square_sigma * list[end].square_sigma);
            sum += weight * list[end].F * list[end].F;
            weights += weight;
        }
        for (size_t k = i; k < end && end > i + 1; k++) list[k].F = sqrt(sum / weights);
    }
}
