/* Adds noise: a block of threads makes a row of the panel, with the processor's formulas and random numbers.
 * Compiled without fused multiply-add (-fmad=false) for the same bits; therefore a row's photons are also added
 * from left to right. */
#include "noise/pixel_chain.h"

#include "cuda/arguments.h"
#include "cuda/device_code.h"

/* A thread's summary of its pixels, and the light of its last one. */
typedef struct {
    double light;
    noise_row row;
} noise_thread;

DB_CUDA_FN int is_finite(float value) { return value - value == 0; }

/* Returns the pixel's photons; nothing is made of values that the host refuses. */
DB_CUDA_FN double make_pixel(const noise_work *work, uint32_t fast, uint32_t slow, noise_row *row) {
    const db_noise_frame *const f = &work->frame;
    const size_t pixel = (size_t)slow * (size_t)f->fast_pixels + fast;
    const float expected = f->expected[pixel];
    if (!is_finite(expected)) {
        if (row->bad < 0) row->bad = (int32_t)fast;
        return 0;
    }
    if (expected < 0) row->negative++;
    if (expected > row->brightest) row->brightest = expected;
    /* which has the image's flicker, too */
    if (!((double)expected * work->chain.beam < 1e5 * NOISE_MOST_PHOTONS)) return 0;
    const double photons = noise_photons(&work->chain, fast, slow, (double)expected),
                 signal = noise_signal(&work->chain, fast, slow, photons);
    row->overloads += signal > work->chain.limit;
    row->underflows += signal < 0;
    if (f->signal) f->signal[pixel] = noise_float(signal);
    if (f->number) f->number[pixel] = noise_number(&work->chain, signal);
    return photons;
}

DB_CUDA_FN void clear_pixel(const db_noise_frame *f, uint32_t fast, uint32_t slow) {
    const size_t pixel = (size_t)slow * (size_t)f->fast_pixels + fast;
    if (f->signal) f->signal[pixel] = 0;
    if (f->number) f->number[pixel] = 0;
}

/* Adds a thread's summary of the row; one thread does so for all. */
DB_CUDA_FN void add_thread(const noise_row *own, noise_row *sum) {
    sum->overloads += own->overloads;
    sum->underflows += own->underflows;
    sum->negative += own->negative;
    if (own->bad >= 0 && (sum->bad < 0 || own->bad < sum->bad)) sum->bad = own->bad;
    if (own->brightest > sum->brightest) sum->brightest = own->brightest;
}

DB_CUDA_KERNEL(db_cuda_noise_rows, DB_CUDA_NOISE_BLOCK, 1) {
    const noise_work *const work = &a->noise;
    const db_noise_frame *const f = &work->frame;
    const uint32_t thread = thread_number(), threads = thread_count(), slow = block_number(),
                   pixels = (uint32_t)f->fast_pixels, left = (uint32_t)f->fast_start,
                   right = left + (uint32_t)f->fast_count, top = (uint32_t)f->slow_start;
    const int in_rows = slow >= top && slow < top + (uint32_t)f->slow_count;
    noise_thread *const all = (noise_thread *)(void *)block_memory();
    noise_row row = { 0, 0, 0, 0, -1, 0 };
    double photons = 0; /* of thread 0 */
    for (uint32_t first = 0; first < pixels; first += threads) {
        const uint32_t fast = first + thread;
        double light = 0;
        if (fast < pixels) {
            if (in_rows && fast >= left && fast < right)
                light = make_pixel(work, fast, slow, &row);
            else
                clear_pixel(f, fast, slow);
        }
        all[thread].light = light;
        block_barrier();
        if (thread == 0)
            for (uint32_t t = 0; t < threads; t++) photons += all[t].light;
        block_barrier();
    }
    all[thread].row = row;
    block_barrier();
    if (thread == 0) {
        for (uint32_t t = 1; t < threads; t++) add_thread(&all[t].row, &row);
        row.photons = photons;
        work->row[slow] = row;
    }
}
