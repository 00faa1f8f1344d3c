/* The search for a box's coefficients by a block of threads, all in double precision, in an order that depends
 * on the box alone. */
#ifndef DB_CUDA_BOX_SOLVE_H
#define DB_CUDA_BOX_SOLVE_H

#include "cuda/arguments.h"
#include "cuda/device_code.h"
#include "loss/block_pixel.h"

/* What the threads of a block share; the rest of its memory is for sums. */
typedef struct {
    double linear[DB_LINEAR], variance, loss;
    double before[DB_LINEAR]; /* diagonal of the coefficients before any is eliminated */
    double going;             /* 0: coefficients have been found */
    double unused;
} box_state;
#if !defined(__cplusplus)
_Static_assert(sizeof(box_state) == DB_CUDA_BOX_STATE * sizeof(double),
               "what the host counts with");
#endif

enum { LINEAR_SUMS = sizeof(db_block_sums) / sizeof(double) };

/* Pixel number i of a box. */
typedef struct {
    int fast, slow;
} box_pixel;
DB_CUDA_FN box_pixel pixel_of(const db_region *r, uint32_t i) {
    const uint32_t columns = (uint32_t)r->fast_count, slow = i / columns;
    box_pixel p = { (int)(i - slow * columns), (int)slow };
    return p;
}

DB_CUDA_FN uint32_t pixels_of(const db_region *r) {
    return (uint32_t)r->fast_count * (uint32_t)r->slow_count;
}

/* Adds up `count` numbers of each thread, pairwise; all threads get the sums. room: as many for each thread. */
DB_CUDA_FN void add_up(double *own, int count, double *room) {
    const uint32_t thread = thread_number(), threads = thread_count();
    for (int s = 0; s < count; s++) room[(uint32_t)s * threads + thread] = own[s];
    for (uint32_t step = threads / 2; step > 0; step /= 2) {
        block_barrier();
        if (thread < step)
            for (int s = 0; s < count; s++)
                room[(uint32_t)s * threads + thread] += room[(uint32_t)s * threads + thread + step];
    }
    block_barrier();
    for (int s = 0; s < count; s++) own[s] = room[(uint32_t)s * threads];
    block_barrier(); /* it may be written again */
}

/* Sums over all pixels by the coefficients alone, for the first thread, which is to close them. room:
 * LINEAR_SUMS doubles for each thread. */
DB_CUDA_FN db_block_sums sum_linear(const db_block *block, const double *linear, double *room) {
    const uint32_t thread = thread_number(), threads = thread_count(),
                   pixels = pixels_of(&block->region);
    db_block_sums sums;
    double *const own = (double *)(void *)&sums;
    for (int s = 0; s < LINEAR_SUMS; s++) own[s] = 0;
    for (uint32_t i = thread; i < pixels; i += threads) {
        const box_pixel at = pixel_of(&block->region, i);
        const size_t element = db_block_element(&block->region, at.fast, at.slow);
        if (!(block->weight[element] > 0)) continue;
        const db_block_place p = db_block_place_of(block, linear, at.fast, at.slow);
        const db_pixel_cost cost = db_block_cost(block, &p);
        db_block_add(block, &p, &cost, &sums);
    }
    add_up(own, LINEAR_SUMS, room);
    return sums;
}

/* Moves the coefficients to their best values; the first thread decides. */
DB_CUDA_FN void solve_box(const db_block *block, box_state *state, double *room) {
    db_block_search search;
    db_block_search_begin(&search);
    do {
        db_block_sums sums = sum_linear(block, state->linear, room);
        if (thread_number() == 0) {
            db_block_close(block, state->linear, &sums);
            state->going = db_block_search_on(block, &sums, state->linear, &search);
            state->variance = search.variance;
            state->loss = search.value;
        }
        block_barrier();
    } while (state->going > 0);
}

#endif
