/* Background and strong pixels: one pass. A block of threads goes down a strip of rows. Each thread has the running
 * sums of two columns in registers; for each row they go to the block's memory, where each thread adds up those around
 * two pixels. Which pixels count follows from the means of the pass before. Counts are whole numbers, whose sums of
 * columns are exact; along rows they are added in the processor's order. Compiled without fused multiply-add
 * (-fmad=false), so that all has the processor's bits. */
#include "surroundings/pixel.h"

#include "cuda/arguments.h"
#include "cuda/device_code.h"

enum { OWN = DB_CUDA_WINDOW_COLUMNS };

/* Of the pixels that count: in a column of the window, or in neighbouring ones. */
typedef struct {
    float sum, number;
} sums;

DB_CUDA_FN sums plus(sums a, sums b) {
    const sums both = { a.sum + b.sum, a.number + b.number };
    return both;
}

/* Sums of 2, 4, 8, 16, 32, 64 and 128 neighbours, pairwise. */
DB_CUDA_FN sums two(const sums *x) { return plus(x[0], x[1]); }
DB_CUDA_FN sums four(const sums *x) { return plus(two(x), two(x + 2)); }
DB_CUDA_FN sums eight(const sums *x) { return plus(four(x), four(x + 4)); }
DB_CUDA_FN sums sixteen(const sums *x) { return plus(eight(x), eight(x + 8)); }
DB_CUDA_FN sums many(const sums *x, int width) {
    const sums none = { 0, 0 };
    sums large = none;
    DB_CUDA_LOOP
    for (int i = 0; i < width; i += 64) {
        sums half = none;
        DB_CUDA_LOOP
        for (int k = i; k < i + 64 && k < width; k += 32)
            half = plus(half, plus(sixteen(x + k), sixteen(x + k + 16)));
        large = plus(large, half);
    }
    return large;
}

/* Of so many neighbours, an odd number below 256, as band_instance.c adds them up. */
DB_CUDA_FN sums along(const sums *x, int width) {
    sums total = *x++;
    if (width & 2) total = plus(total, two(x)), x += 2;
    if (width & 4) total = plus(total, four(x)), x += 4;
    if (width & 8) total = plus(total, eight(x)), x += 8;
    if (width & 16) total = plus(total, sixteen(x)), x += 16;
    DB_CUDA_LOOP
    for (int step = 32; step <= width; step *= 2)
        if (width & step) total = plus(total, many(x, step)), x += step;
    return total;
}

/* 1: the pixel counts in this pass. */
DB_CUDA_FN int counts(const db_cuda_surroundings *s, size_t i, float value) {
    return db_surroundings_trusted(value) &&
           (!s->last ||
            db_surroundings_keep(value, s->last[i], s->gain_float, s->readout_variance));
}

DB_CUDA_FN void enter(const db_cuda_surroundings *s, int32_t row, int32_t column, sums *own) {
    const size_t i = (size_t)row * (size_t)s->fast_pixels + (size_t)column;
    const float value = s->value[i];
    if (!counts(s, i, value)) return;
    own->sum += value;
    own->number += 1;
}

DB_CUDA_FN void leave(const db_cuda_surroundings *s, int32_t row, int32_t column, sums *own) {
    const size_t i = (size_t)row * (size_t)s->fast_pixels + (size_t)column;
    const float value = s->value[i];
    if (!counts(s, i, value)) return;
    own->sum -= value;
    own->number -= 1;
}

DB_CUDA_FN void finish_pixel(const db_cuda_surroundings *s, size_t i, sums around) {
    const float mean =
        db_surroundings_mean(around.sum, (int)around.number, s->last ? s->last[i] : 0);
    const float value = s->is_last ? s->value[i] : DB_SURROUNDINGS_MASKED;
    const int strong = db_surroundings_trusted(value) &&
                       db_surroundings_strong(value, mean, s->gain, s->readout_noise, s->limit);
    s->mean[i] = strong ? -mean : mean;
}

DB_CUDA_KERNEL(db_cuda_surroundings_rows, DB_CUDA_WIDE_WINDOW, 2) {
    const db_cuda_surroundings *const s = &a->surroundings;
    const int32_t thread = (int32_t)thread_number(), threads = (int32_t)thread_count(),
                  half = s->half_width, width = s->fast_pixels, pixels = OWN * threads - 2 * half,
                  left = (int32_t)(block_number() % s->chunks) * pixels;
    const db_cuda_strip strip = s->strip[block_number() / s->chunks];
    const int32_t begin =
        strip.first - half > strip.panel_begin ? strip.first - half : strip.panel_begin;
    sums *const memory = (sums *)(void *)block_memory();
    sums own[OWN];
    DB_CUDA_IN_BLOCK_MEMORY(memory);
    DB_CUDA_UNROLL
    for (int k = 0; k < OWN; k++) {
        own[k].sum = 0;
        own[k].number = 0;
    }
    for (int32_t row = begin; row < strip.first + half && row < strip.panel_end; row++) {
        DB_CUDA_UNROLL
        for (int k = 0; k < OWN; k++) {
            const int32_t column = left - half + thread + k * threads;
            if (column >= 0 && column < width) enter(s, row, column, &own[k]);
        }
    }
    for (int32_t row = strip.first; row < strip.end; row++) {
        /* two lines in turn: one is read while the next is written */
        sums *const line = memory + (size_t)(row & 1) * (size_t)(OWN * threads);
        DB_CUDA_UNROLL
        for (int k = 0; k < OWN; k++) {
            const int32_t column = left - half + thread + k * threads;
            const int is_there = column >= 0 && column < width;
            if (is_there && row + half < strip.panel_end) enter(s, row + half, column, &own[k]);
            if (is_there && row - half - 1 >= begin) leave(s, row - half - 1, column, &own[k]);
            line[thread + k * threads] = own[k];
        }
        block_barrier();
        DB_CUDA_UNROLL
        for (int k = 0; k < OWN; k++) {
            const int32_t pixel = thread + k * threads;
            if (pixel < pixels && left + pixel < width)
                finish_pixel(s, (size_t)row * (size_t)width + (size_t)(left + pixel),
                             along(line + pixel, 2 * half + 1));
        }
    }
}
