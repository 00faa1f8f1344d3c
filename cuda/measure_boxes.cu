/* Boxes in a measured image: each is filled from it, weighed, solved for and measured by a block of threads,
 * whose pixels stay in the device's memory. All but weights is in double precision, in an order that depends on
 * the box alone. */
#include "cuda/box_solve.h"
#include "loss/box_measure.h"
#include "loss/box_weight.h"

/* Sums over a box as an array of doubles. */
enum {
    PIXEL_SUMS = sizeof(db_box_pixel_sums) / sizeof(double),
    CENTROID_SUMS = sizeof(db_centroid_sums) / sizeof(double)
};

DB_CUDA_KERNEL(db_cuda_box_light_kernel, DB_CUDA_BOX_BLOCK, 3) {
    const db_region *const r = &a->measure.region[block_number()];
    double sum = 0;
    for (uint32_t i = thread_number(); i < pixels_of(r); i += thread_count()) {
        const box_pixel at = pixel_of(r, i);
        sum += (double)a->measure.shape[db_block_element(r, at.fast, at.slow)];
    }
    add_up(&sum, 1, block_memory());
    if (thread_number() == 0) a->measure.light[block_number()] = sum;
}

/* Three neighbours in a row of a box: sums of its own pixels' counts, and of their number. */
typedef struct {
    float counts, number;
} own_sums;
DB_CUDA_FN own_sums sum_row(const db_cuda_measure *m, const db_region *r, uint64_t start, int fast,
                            int slow) {
    own_sums sums = { 0.0F, 0.0F };
    float counts[3], number[3];
    if (slow < 0 || slow >= r->slow_count) return sums;
    DB_CUDA_UNROLL
    for (int k = 0; k < 3; k++) {
        const int f = fast + k - 1;
        const int is_own = f >= 0 && f < r->fast_count && m->own[db_block_element(r, f, slow)];
        number[k] = is_own ? 1.0F : 0.0F;
        counts[k] = is_own ? m->image[start + (uint64_t)slow * m->fast_pixels + (uint64_t)f] : 0.0F;
    }
    sums.counts = db_sum_three(counts[0], counts[1], counts[2]);
    sums.number = db_sum_three(number[0], number[1], number[2]);
    return sums;
}

DB_CUDA_FN float weight_of(const db_cuda_measure *m, const db_region *r, uint64_t start, int fast,
                           int slow, float level) {
    const own_sums above = sum_row(m, r, start, fast, slow - 1),
                   at = sum_row(m, r, start, fast, slow),
                   below = sum_row(m, r, start, fast, slow + 1);
    return db_box_weight_of(&m->noise, db_sum_rows(above.counts, at.counts, below.counts),
                            db_sum_rows(above.number, at.number, below.number), level)
        .weight;
}

/* Returns the mean background of the pixels in use. */
DB_CUDA_FN double fill_box(const db_cuda_measure *m, uint32_t b, double *room) {
    const db_region *const r = &m->region[b];
    const uint64_t start = m->start[b];
    double sums[2] = { 0, 0 };
    for (uint32_t i = thread_number(); i < pixels_of(r); i += thread_count()) {
        const box_pixel p = pixel_of(r, i);
        const size_t to = db_block_element(r, p.fast, p.slow);
        const uint64_t from = start + (uint64_t)p.slow * m->fast_pixels + (uint64_t)p.fast;
        const float level = m->background[from];
        const int is_own = m->own[to] != 0;
        const float weight = is_own ? weight_of(m, r, start, p.fast, p.slow, level) : 0.0F;
        m->value[to] = m->image[from];
        m->level[to] = level;
        m->own_strong[to] = (unsigned char)(is_own && m->strong[from]);
        m->weight[to] = weight;
        if (!(weight > 0)) continue;
        sums[0] += (double)level;
        sums[1] += 1;
    }
    add_up(sums, 2, room); /* all pixels are filled when it is done */
    return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

DB_CUDA_FN db_measured_block block_of(const db_cuda_measure *m, uint32_t b) {
    db_measured_block measured;
    db_block *const block = &measured.block;
    block->region = m->region[b];
    block->value = m->value;
    block->weight = m->weight;
    block->shape_variance = m->weight; /* nothing asks for it */
    block->shape = m->shape;
    block->offset = m->background_fixed ? m->level : NULL;
    block->loss = &m->loss;
    block->ridge = m->rule[b].ridge;
    for (int i = 0; i < DB_LINEAR; i++) block->used[i] = m->rule[b].solved[i];
    measured.background = m->level;
    measured.strong = m->own_strong;
    return measured;
}

DB_CUDA_FN void measure_pixels(const db_measured_block *block, const double *linear, double *room,
                               db_box_measured *to) {
    const db_region *const r = &block->block.region;
    db_box_pixel_sums sums;
    double *const own = (double *)(void *)&sums;
    for (int s = 0; s < PIXEL_SUMS; s++) own[s] = 0;
    for (uint32_t i = thread_number(); i < pixels_of(r); i += thread_count()) {
        const box_pixel at = pixel_of(r, i);
        db_box_pixel_add(block, linear, at.fast, at.slow, &sums);
    }
    add_up(own, PIXEL_SUMS, room);
    db_measure_sums(r, &sums, to);
}

DB_CUDA_FN void measure_centroid(const db_measured_block *block, double *room,
                                 db_box_measured *to) {
    const db_region *const r = &block->block.region;
    db_centroid_sums sums;
    double *const own = (double *)(void *)&sums;
    for (int s = 0; s < CENTROID_SUMS; s++) own[s] = 0;
    for (uint32_t i = thread_number(); i < pixels_of(r); i += thread_count()) {
        const box_pixel at = pixel_of(r, i);
        db_centroid_add(block, to->observed, at.fast, at.slow, &sums);
    }
    add_up(own, CENTROID_SUMS, room);
    db_measure_centroid(&sums, to);
}

DB_CUDA_KERNEL(db_cuda_measure_boxes_kernel, DB_CUDA_BOX_BLOCK, 3) {
    const uint32_t b = block_number();
    box_state *const state = (box_state *)(void *)block_memory();
    double *const room = block_memory() + DB_CUDA_BOX_STATE;
    const double mean = fill_box(&a->measure, b, room);
    db_measured_block block = block_of(&a->measure, b);
    db_box_measured measured;
    if (thread_number() == 0) {
        for (int i = 0; i < DB_LINEAR; i++) state->linear[i] = 0;
        if (block.block.used[1] && !block.block.offset) state->linear[1] = mean;
    }
    block_barrier();
    solve_box(&block.block, state, room);
    db_measure_no_more(0, &measured);
    measure_pixels(&block, state->linear, room, &measured);
    if (!a->measure.whole) {
        db_measure_no_more(measured.explained, &measured);
    } else {
        block.block.ridge = 0;
        db_block_sums sums = sum_linear(&block.block, state->linear, room);
        if (measured.strong > 0) measure_centroid(&block, room, &measured); /* all threads */
        if (thread_number() == 0) {
            db_block_close(&block.block, state->linear, &sums);
            db_measure_freely(&sums, state->linear, &measured);
        }
    }
    if (thread_number() == 0) {
        for (int i = 0; i < DB_LINEAR; i++) measured.solution.linear[i] = state->linear[i];
        measured.solution.variance = state->variance;
        measured.solution.loss = state->loss;
        a->measure.measured[b] = measured;
    }
}
