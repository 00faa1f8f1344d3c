/* Intensities of reflections from their shoeboxes (docs/theory/refinement.md, Intensities). */
#include "fit/objective/intensities.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/objective/run_boxes.h"
#include "fit/objective/statistics.h"
#include "loss/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Intensity of a spot of shape 1 and its variance, without the bounds and the prior that hold it in
 * a refinement: both would bias faint ones. */
typedef struct fitted {
    double intensity, variance;
    double chi2; /* of the box, with this intensity */
} fitted;

/* Sums of all boxes without their priors. */
static db_status sum_freely(db_objective *objective) {
    double *const ridge = objective->blocks.ridge;
    objective->blocks.ridge = NULL;
    const db_status status =
        db_objective_run_boxes(objective, DB_BOXES_AS_BEFORE, 0, DB_BOXES_LINEAR);
    objective->blocks.ridge = ridge;
    return status;
}

/* 0: the model has no light in the box. */
static int fit_freely(const db_objective *objective, size_t b, fitted *f) {
    db_block_sums s = objective->work->linear_sums[b];
    double step[DB_LINEAR] = { 0 };
    const double promise = db_eliminate(DB_LINEAR, 0, s.gradient, s.normal, DB_LINEAR);
    step[0] = db_eliminated_step(s.normal, 0, s.gradient[0], step);
    if (!(s.normal[0] > 0)) return 0;
    *f = (fitted){ objective->solution[b].linear[0] + step[0], 1 / s.normal[0], s.value - promise };
    return isfinite(f->variance);
}

/* Sums over the pixels in use. */
typedef struct pixel_sums {
    double shape, background, sum, variance;
    int strong, pixels;
} pixel_sums;

static pixel_sums sum_pixels(const db_objective *objective, const db_shoeboxes *boxes, size_t b) {
    const db_block block = db_objective_block(objective, b);
    const double *const plane = objective->solution[b].linear;
    const int width = boxes->width;
    pixel_sums all = { 0 };
    for (int slow = 0; slow < width; slow++)
        for (int fast = 0; fast < width; fast++) {
            const size_t at = b * boxes->pixels + (size_t)(slow * width + fast);
            if (!(boxes->weight[at] > 0)) continue;
            const double background = db_block_plane(plane, &boxes->region[b], fast, slow);
            all.shape += (double)objective->shape[at];
            all.background += background;
            all.sum += (double)boxes->value[at] - background;
            all.variance += db_block_pixel(&block, plane, fast, slow).variance;
            all.strong += boxes->strong[at];
            all.pixels++;
        }
    return all;
}

/* Of the centroid of strong pixels, whose noise it has; as wide as a pixel where there is but one. */
static void measure_centroid(const db_objective *objective, const db_shoeboxes *boxes, size_t b,
                             db_fit_reflection *i) {
    const db_block block = db_objective_block(objective, b);
    const double *const plane = objective->solution[b].linear;
    double weight = 0;
    for (size_t p = 0; p < boxes->pixels; p++) {
        const size_t at = b * boxes->pixels + p, width = (size_t)boxes->width;
        const int fast = (int)(p % width), slow = (int)(p / width);
        if (!boxes->strong[at] || !(boxes->weight[at] > 0)) continue;
        const double variance = db_block_pixel(&block, plane, fast, slow).variance;
        const double off[2] = { i->region.fast_start + fast + 0.5 - i->observed[0],
                                i->region.slow_start + slow + 0.5 - i->observed[1] };
        weight += (double)boxes->value[at] - (double)boxes->background[at];
        for (int k = 0; k < 2; k++) i->observed_variance[k] += variance * off[k] * off[k];
    }
    for (int k = 0; k < 2; k++)
        i->observed_variance[k] =
            i->observed_variance[k] / (weight * weight) + 1 / (12.0 * i->strong);
}

/* What a box misses more than noise is taken for noise of its own. */
static db_fit_reflection intensity_of(const db_objective *objective, const db_shoeboxes *boxes,
                                      size_t b, const fitted *f) {
    const db_reflection *const r = &boxes->reflection[b];
    const double kept = objective->solution[b].linear[0];
    const pixel_sums all = sum_pixels(objective, boxes, b);
    db_fit_reflection i = { .region = boxes->region[b],
                            .d_spacing = r->d_spacing,
                            .partiality = r->recorded,
                            .F = sqrt(fmax(0, kept)),
                            .square = f->intensity,
                            .background = all.background / all.pixels,
                            .sum = all.sum,
                            .sum_sigma = sqrt(all.variance),
                            .strong = all.strong,
                            .pixels = all.pixels };
    memcpy(i.hkl, r->hkl, sizeof i.hkl);
    memcpy(i.position, r->position, sizeof i.position);
    i.region.offset = 0;
    if (!db_statistics_observed_centroid(boxes, b, i.observed)) i.observed[0] = i.observed[1] = NAN;
    if (i.strong) measure_centroid(objective, boxes, b, &i);
    const double degrees = fmax(1, i.pixels - DB_LINEAR);
    i.square_sigma = sqrt(f->variance * fmax(1, f->chi2 / degrees));
    i.counts = i.square * all.shape;
    i.counts_sigma = i.square_sigma * all.shape;
    return i;
}

/* A rotation may show a reflection twice: the same F for all spots of one, their weighted mean. */
static void share_amplitudes(db_fit_reflection *list, size_t count) {
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

/* Room for every box, which says whether it has light. */
static size_t measure_all(const db_objective *objective, const db_shoeboxes *boxes,
                          uint8_t *has_light, db_fit_reflection *list) {
    const long all = (long)boxes->count;
    size_t count = 0;
#pragma omp parallel for schedule(dynamic, 16) num_threads(db_threads(objective->context))
    for (long b = 0; b < all; b++) {
        fitted f;
        has_light[b] = (uint8_t)fit_freely(objective, (size_t)b, &f);
        if (has_light[b]) list[b] = intensity_of(objective, boxes, (size_t)b, &f);
    }
    for (size_t b = 0; b < boxes->count; b++)
        if (has_light[b]) list[count++] = list[b];
    return count;
}

db_status db_intensities_measure(db_objective *objective, const db_shoeboxes *boxes,
                                 db_fit_reflection *list, size_t *count) {
    uint8_t *const has_light = malloc(boxes->count + 1);
    db_status status =
        has_light ? sum_freely(objective) : db_fail_memory(objective->context, "the intensities");
    *count = status == DB_OK ? measure_all(objective, boxes, has_light, list) : 0;
    share_amplitudes(list, *count);
    free(has_light);
    return status;
}
