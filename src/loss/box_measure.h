/* Measurement of a box: sums over its pixels, an unbounded intensity, the place of its strong pixels. */
#ifndef DB_LOSS_BOX_MEASURE_H
#define DB_LOSS_BOX_MEASURE_H

#include "loss/block_pixel.h"
#include "loss/strong_pixel.h"

/* A block with known weights, and other measurements in it; arrays are laid out like the block's. */
typedef struct db_measured_block {
    db_block block;
    const float *background;     /* local background (counts) */
    const unsigned char *strong; /* 1: strong, and belongs to this box */
} db_measured_block;

/* Sums over the pixels in use; observed: over strong ones. Only doubles. */
typedef struct db_box_pixel_sums {
    double shape, background, sum, variance;
    double strong, pixels, explained; /* numbers */
    db_place_sums observed;
} db_box_pixel_sums;

AD_FN void db_box_pixel_add(const db_measured_block *m, const double *linear, int fast, int slow,
                            db_box_pixel_sums *sums) {
    const db_block *const block = &m->block;
    const size_t at = db_block_element(&block->region, fast, slow);
    const double value = (double)block->value[at], weight = (double)block->weight[at],
                 shape = (double)block->shape[at];
    const double level = (double)m->background[at];
    if (m->strong[at]) db_place_add(value - level, fast, slow, &sums->observed);
    if (!(weight > 0)) return;
    double background = db_block_plane(linear, &block->region, fast, slow);
    if (block->offset) background += (double)block->offset[at];
    sums->shape += shape;
    sums->background += background;
    sums->sum += value - background;
    sums->variance += 1 / weight;
    sums->pixels += 1;
    if (!m->strong[at]) return;
    sums->strong += 1;
    sums->explained += db_pixel_explained(linear[0] * shape, value, level);
}

/* Sums for the centroid of strong pixels in use, and its noise. */
typedef struct db_centroid_sums {
    double weight, variance[2];
} db_centroid_sums;

AD_FN void db_centroid_add(const db_measured_block *m, const double *observed, int fast, int slow,
                           db_centroid_sums *sums) {
    const db_block *const block = &m->block;
    const size_t at = db_block_element(&block->region, fast, slow);
    if (!m->strong[at] || !(block->weight[at] > 0)) return;
    const double variance = 1 / (double)block->weight[at];
    const double off[2] = { block->region.fast_start + fast + 0.5 - observed[0],
                            block->region.slow_start + slow + 0.5 - observed[1] };
    sums->weight += (double)block->value[at] - (double)m->background[at];
    for (int k = 0; k < 2; k++) sums->variance[k] += variance * off[k] * off[k];
}

/* Intensity of a spot of shape 1 and its variance, without bounds and prior of a refinement, which would bias
 * faint ones. at: the block's sums without a ridge, closed; they are overwritten. has_light 0: the model has no
 * light in the box. */
AD_FN void db_measure_freely(db_block_sums *at, const double *linear, db_box_measured *m) {
    double step[DB_LINEAR] = { 0, 0, 0, 0 };
    const double promise = db_eliminate(DB_LINEAR, 0, at->gradient, at->normal, DB_LINEAR);
    step[0] = db_eliminated_step(at->normal, 0, at->gradient[0], step);
    m->intensity = linear[0] + step[0];
    m->variance = at->normal[0] > 0 ? 1 / at->normal[0] : 0;
    m->chi2 = at->value - promise;
    m->has_light = at->normal[0] > 0 && m->variance - m->variance == 0; /* a finite number */
}

AD_FN void db_measure_sums(const db_region *region, const db_box_pixel_sums *sums,
                           db_box_measured *m) {
    const db_place_sums *const o = &sums->observed;
    m->shape = sums->shape;
    m->background = sums->background;
    m->sum = sums->sum;
    m->sum_variance = sums->variance;
    m->strong = (int)sums->strong;
    m->pixels = (int)sums->pixels;
    m->explained = (int)sums->explained;
    m->observed[0] = m->observed[1] = (double)NAN;
    if (!(o->weight > 0)) return;
    m->observed[0] = region->fast_start + 0.5 + o->fast / o->weight;
    m->observed[1] = region->slow_start + 0.5 + o->slow / o->weight;
}

/* A single pixel has the width of a pixel. */
AD_FN void db_measure_centroid(const db_centroid_sums *sums, db_box_measured *m) {
    for (int k = 0; k < 2; k++)
        m->observed_variance[k] =
            sums->variance[k] / (sums->weight * sums->weight) + 1 / (12.0 * m->strong);
}

#endif
