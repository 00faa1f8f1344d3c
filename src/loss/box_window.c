#include "loss/box_window.h"

#include "base/measured_pixels.h"
#include "loss/block.h"
#include "loss/box_measure.h"
#include "loss/box_weight.h"

#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 5 };

int db_box_window_make(const db_region *region, size_t count, db_box_window *w) {
    size_t most = 0, weighing = 0;
    for (size_t b = 0; b < count; b++) {
        const size_t width = (size_t)region[b].fast_count, rows = (size_t)region[b].slow_count,
                     room = db_box_weigh_room(width, rows);
        if (width * rows > most) most = width * rows;
        if (room > weighing) weighing = room;
    }
    memset(w, 0, sizeof *w);
    w->room = calloc(weighing + ARRAYS * most + 1, sizeof *w->room);
    w->strong = malloc(2 * most + 1);
    if (!w->room || !w->strong) {
        db_box_window_clear(w);
        return 0;
    }
    w->value = w->room + weighing;
    w->background = w->value + most;
    w->weight = w->background + most;
    w->shape_variance = w->weight + most;
    w->shape = w->shape_variance + most;
    w->own = w->strong + most;
    return 1;
}

void db_box_window_clear(db_box_window *w) {
    free(w->room);
    free(w->strong);
    memset(w, 0, sizeof *w);
}

static void copy_rows(const float *restrict from, size_t step, const db_region *r,
                      float *restrict to) {
    const size_t width = (size_t)r->fast_count, rows = (size_t)r->slow_count;
    for (size_t s = 0; s < rows; s++)
        for (size_t f = 0; f < width; f++) to[s * width + f] = from[s * step + f];
}

static void mark_strong(const unsigned char *restrict own, const unsigned char *restrict from,
                        size_t step, const db_region *r, unsigned char *restrict to) {
    const size_t width = (size_t)r->fast_count, rows = (size_t)r->slow_count;
    for (size_t s = 0; s < rows; s++)
        for (size_t f = 0; f < width; f++)
            to[s * width + f] = own[s * width + f] & from[s * step + f];
}

/* Copies the measured data of a region, without gaps. */
static void copy_measured(const db_box_frame *frame, const db_region *r, const unsigned char *own,
                          db_box_window *w) {
    const size_t step = (size_t)frame->image->fast_pixels,
                 start = db_measured_index(frame->image, r, 0, 0);
    copy_rows(frame->image->value + start, step, r, w->value);
    copy_rows(frame->background + start, step, r, w->background);
    mark_strong(own, frame->strong + start, step, r, w->strong);
}

/* Finds the box's own pixels and its part of the image, row by row. */
static void find_rows(const db_box_frame *frame, const db_region *r, const float *image,
                      db_box_window *w, const unsigned char **own, const float **shape) {
    const size_t width = (size_t)r->fast_count;
    *own = frame->own + r->offset;
    *shape = image + r->offset;
    if (r->stride == width) return;
    for (size_t s = 0; s < (size_t)r->slow_count; s++)
        memcpy(w->own + s * width, *own + s * r->stride, width);
    copy_rows(*shape, r->stride, r, w->shape);
    *own = w->own;
    *shape = w->shape;
}

/* Rows before the first and after the last must be empty. */
static void weigh_box(const db_box_noise *noise, const db_region *r, const unsigned char *own,
                      db_box_window *w) {
    const size_t width = (size_t)r->fast_count, rows = (size_t)r->slow_count;
    if (w->width != width || w->rows != rows)
        memset(w->room, 0, db_box_weigh_room(width, rows) * sizeof *w->room);
    w->width = width;
    w->rows = rows;
    db_box_weigh(noise, width, rows, own, w->value, w->background, w->room, w->shape_variance,
                 w->weight);
}

/* Mean local background of the pixels in use. */
static double mean_background(const db_box_window *w) {
    const size_t pixels = w->width * w->rows;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < pixels; i++) {
        if (!(w->weight[i] > 0)) continue;
        sum += (double)w->background[i];
        count++;
    }
    return count ? sum / (double)count : 0;
}

/* Number of strong pixels in use that the model explains, in an array without gaps: they are few. */
static int count_explained(const db_measured_block *m, double intensity) {
    const db_block *const block = &m->block;
    const size_t pixels = block->region.stride * (size_t)block->region.slow_count;
    const unsigned char *const begin = m->strong, *const end = begin + pixels;
    int count = 0;
    for (const unsigned char *next = begin;
         next < end && (next = memchr(next, 1, (size_t)(end - next))) != NULL; next++) {
        const size_t i = (size_t)(next - begin);
        if (block->weight[i] > 0)
            count += db_pixel_explained(intensity * (double)block->shape[i],
                                        (double)block->value[i], (double)m->background[i]);
    }
    return count;
}

static void sum_pixels(const db_measured_block *m, const double *linear, db_box_pixel_sums *sums) {
    db_box_pixel_sums all; /* nobody else's: it stays in registers */
    memset(&all, 0, sizeof all);
    for (int slow = 0; slow < m->block.region.slow_count; slow++)
        for (int fast = 0; fast < m->block.region.fast_count; fast++)
            db_box_pixel_add(m, linear, fast, slow, &all);
    *sums = all;
}

static void sum_centroid(const db_measured_block *m, const double *observed,
                         db_centroid_sums *sums) {
    memset(sums, 0, sizeof *sums);
    for (int slow = 0; slow < m->block.region.slow_count; slow++)
        for (int fast = 0; fast < m->block.region.fast_count; fast++)
            db_centroid_add(m, observed, fast, slow, sums);
}

/* Measures a solved block. */
static void measure_box(const db_measured_block *block, db_box_measured *m) {
    const double *const linear = m->solution.linear;
    db_block without = block->block;
    db_block_sums at;
    db_box_pixel_sums sums;
    db_centroid_sums centroid;
    without.ridge = 0;
    db_block_sum(&without, linear, &at);
    db_measure_freely(&at, linear, m);
    sum_pixels(block, linear, &sums);
    db_measure_sums(&block->block.region, &sums, m);
    if (!m->strong) return;
    sum_centroid(block, m->observed, &centroid);
    db_measure_centroid(&centroid, m);
}

void db_measure_box(const db_box_frame *frame, const db_region *region, const float *image,
                    const db_box_rule *rule, db_box_window *w, db_box_measured *m) {
    const db_box_noise noise = { frame->gain, frame->readout_noise, frame->model_error };
    const db_loss loss = { .target = DB_LOSS_WEIGHTED, .gain = frame->gain };
    const unsigned char *own;
    db_measured_block measured = { .block = { .region = *region } };
    db_block *const block = &measured.block;
    db_region *const r = &block->region;
    find_rows(frame, r, image, w, &own, &block->shape);
    r->offset = 0;
    r->stride = (size_t)r->fast_count;
    copy_measured(frame, r, own, w);
    weigh_box(&noise, r, own, w);
    measured.background = w->background;
    measured.strong = w->strong;
    block->value = w->value;
    block->weight = w->weight;
    block->shape_variance = w->shape_variance;
    block->offset = frame->background_fixed ? w->background : NULL;
    block->loss = &loss;
    block->ridge = rule->ridge;
    block->expected = rule->expected;
    for (int i = 0; i < DB_LINEAR; i++) block->used[i] = rule->solved[i];
    memset(m, 0, sizeof *m);
    if (block->used[1] && !block->offset) m->solution.linear[1] = mean_background(w);
    m->solution.loss = db_block_solve(block, m->solution.linear, &m->solution.variance);
    if (frame->whole)
        measure_box(&measured, m);
    else
        m->explained = count_explained(&measured, m->solution.linear[0]);
}
