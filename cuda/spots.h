/* Spots in closed form: a block of threads renders a tile, a region with a list of its spots. The
 * spots come to the block's memory in pieces, each thread adds them up in its pixel. What is summed
 * is linear in the spots: a pixel's factors are worked out for each piece, and the background goes
 * with the first. */
#ifndef DB_CUDA_SPOTS_H
#define DB_CUDA_SPOTS_H

#include "cuda/spot_list.h"

/* A block's memory, the tile's spots, and which of them are there. */
typedef struct {
    db_kernel_spot *spot;
    quad *slope;
    uint32_t first, end;       /* in job.spots.number */
    uint32_t begin, parameter; /* the piece's first spot, and the first parameter of its slopes */
} block_spots;

/* memory: for a->piece spots and their slopes; a multiple of 16 bytes */
DB_CUDA_FN block_spots spots_of_tile(spot_motion motion, const db_cuda_arguments *a, uint32_t tile,
                                     void *memory) {
    block_spots b;
    size_t quads = 0;
#if DB_INSTANCE_KIND > 0
    quads =
        (size_t)SPOT_SLOPES * (size_t)(motion == SPOTS_MOVE ? (int)MOVE_QUADS : (int)REST_QUADS);
#endif
    (void)motion;
    b.slope = (quad *)memory;
    b.spot = (db_kernel_spot *)(void *)(b.slope + a->piece * quads);
    b.first = a->job.spots.first[tile];
    b.end = a->job.spots.first[tile + 1];
    b.begin = UINT32_MAX;
    b.parameter = UINT32_MAX;
    return b;
}

/* The tile's pixels are numbered along strips this wide, so that those of 32 threads are close
 * together: spots reach many of them or none. */
enum { STRIP = 8 };

DB_CUDA_FN pixel_place pixel_of_tile(const db_region *region, uint32_t i) {
    const uint32_t columns = (uint32_t)region->fast_count, rows = (uint32_t)region->slow_count;
    /* i / (STRIP * rows), which a float knows: tiles are small */
    const uint32_t strip = (uint32_t)(((float)i + 0.5F) * (1.0F / (float)(STRIP * rows))),
                   first = strip * STRIP, left = columns - first, in_strip = i - first * rows,
                   slow = left < STRIP ? in_strip / left : in_strip / STRIP,
                   fast = first + in_strip - slow * (left < STRIP ? left : STRIP);
    const pixel_place p = { region, (int)fast, (int)slow,
                            region->offset + slow * region->stride + fast };
    return p;
}

/* Copies from the list to the block's memory, eight bytes by each thread. */
DB_CUDA_FN void copy_spots(const db_kernel_spots *spots, const uint32_t *number, uint32_t count,
                           db_kernel_spot *to) {
    enum { WORD = sizeof(double), WORDS = sizeof(db_kernel_spot) / WORD };
    for (uint32_t w = thread_number(); w < count * WORDS; w += thread_count()) {
        const char *const from = (const char *)&spots->spot[number[w / WORDS]];
        memcpy(__builtin_assume_aligned((char *)to + w * WORD, WORD),
               __builtin_assume_aligned(from + w % WORDS * WORD, WORD), WORD);
    }
}

#if DB_INSTANCE_KIND > 0
/* The same for slopes by parameters from `parameter` on; 0 behind the last. */
DB_CUDA_FN void copy_slopes(spot_motion motion, const db_kernel_spots *spots,
                            const uint32_t *number, uint32_t count, uint32_t parameter, quad *to) {
    const uint32_t columns = motion == SPOTS_MOVE ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS,
                   room = DB_NORMAL_BLOCK * (motion == SPOTS_MOVE ? MOVE_QUADS : REST_QUADS),
                   length = SPOT_SLOPES * room;
    SHAPE_REAL *const slope = (SHAPE_REAL *)(void *)to;
    for (uint32_t w = thread_number(); w < count * length; w += thread_count()) {
        const uint32_t spot = w / length, in_spot = w - spot * length, own = in_spot / room,
                       column = in_spot - own * room;
        const size_t k = parameter + own;
        slope[w] =
            k < spots->parameters && column < columns
                ? spots->FINE(slope)[(number[spot] * spots->parameters + k) * columns + column]
                : 0;
    }
}
#endif

/* All threads of the block come here. */
DB_CUDA_FN void bring_spots(spot_motion motion, const db_cuda_arguments *a, block_spots *b,
                            uint32_t begin, uint32_t count, uint32_t parameter) {
    const db_kernel_spots *const spots = &a->job.spots;
    if (!count || (b->begin == begin && b->parameter == parameter)) return;
    block_barrier(); /* what was there has been read */
    if (b->begin != begin) copy_spots(spots, spots->number + begin, count, b->spot);
#if DB_INSTANCE_KIND > 0
    copy_slopes(motion, spots, spots->number + begin, count, parameter, b->slope);
#else
    (void)motion;
#endif
    b->begin = begin;
    b->parameter = parameter;
    block_barrier();
}

DB_CUDA_FN uint32_t reaching(const db_kernel_spot *spot, uint32_t count, int fast, int slow) {
    uint32_t reach = 0;
    for (uint32_t i = 0; i < count; i++)
        reach |= (uint32_t)(spot[i].fast[0] <= fast && fast < spot[i].fast[1] &&
                            spot[i].slow[0] <= slow && slow < spot[i].slow[1])
                 << i;
    return reach;
}

/* A pixel's sums, and its slopes by parameters from `parameter` on. wanted: 0 for threads without a
 * pixel, which help to bring spots. Returns 0 where nothing has been added. */
DB_CUDA_FN int sum_pixel(spot_motion motion, const db_cuda_arguments *a, block_spots *b,
                         const pixel_place *p, int wanted, uint32_t parameter, pixel_sums *sums,
                         fine *slope) {
    const db_kernel_job *const job = &a->job;
    int added = 0, background = has_background(job);
    uint32_t begin = b->first;
    clear_sums(0, job, sums);
#if DB_INSTANCE_KIND > 0
    DB_CUDA_UNROLL
    for (int k = 0; k < SPOT_SLOPES; k++) slope[k] = 0;
#endif
    do {
        const uint32_t left = b->end - begin, count = left < a->piece ? left : a->piece;
        bring_spots(motion, a, b, begin, count, parameter);
        if (wanted) {
            const int fast = p->region->fast_start + p->fast,
                      slow = p->region->slow_start + p->slow;
            const spot_list list = { b->spot, b->slope, (int)count,
                                     reaching(b->spot, count, fast, slow), background };
            if (list.reach || background) {
                add_spot_sites(motion, job, &job->panel[p->region->panel], &list, fast, slow, sums,
                               slope);
                added = 1;
            }
        }
        background = 0;
        begin += count;
    } while (begin < b->end);
#if DB_INSTANCE_KIND > 0
    sums->column[DB_COLUMN_INTENSITY] = sums->intensity;
#endif
    return added;
}

/* An image of a tile that shows nothing. */
DB_CUDA_FN void clear_tile(const db_cuda_arguments *a, const db_region *region, void *image) {
    enum { LINE = 32 }; /* threads side by side */
    const uint32_t columns = (uint32_t)region->fast_count, rows = (uint32_t)region->slow_count;
    for (uint32_t slow = thread_number() / LINE; slow < rows; slow += thread_count() / LINE)
        for (uint32_t fast = thread_number() % LINE; fast < columns; fast += LINE)
            store_pixel(&a->job, image, region->offset + slow * region->stride + fast, 0);
}

DB_CUDA_FN int is_empty(const db_cuda_arguments *a, const block_spots *b) {
    return b->first == b->end && !has_background(&a->job);
}

#if DB_INSTANCE_KIND == 0
DB_CUDA_FN void render_tile(spot_motion motion, const db_cuda_arguments *a) {
    const db_region *const region = &a->job.region[block_number()];
    const uint32_t pixels = (uint32_t)region->fast_count * (uint32_t)region->slow_count;
    block_spots b = spots_of_tile(motion, a, block_number(), block_memory());
    if (is_empty(a, &b)) {
        clear_tile(a, region, a->job.image);
        return;
    }
    for (uint32_t i = thread_number(); i < pixels + thread_number(); i += thread_count()) {
        const int wanted = i < pixels;
        pixel_place p = { region, 0, 0, 0 };
        pixel_sums sums;
        if (wanted) p = pixel_of_tile(region, i);
        sum_pixel(motion, a, &b, &p, wanted, 0, &sums, NULL);
        if (wanted) store_intensity(&a->job, p.element, &sums);
    }
}
#else
/* What a pixel has after a pass over its spots, for SPOT_SLOPES parameters. */
typedef struct {
    const coefficient_row *row;
    int added;
    uint32_t parameter;
    fine slope[SPOT_SLOPES]; /* in the thread's memory: numbers are known at run time */
} pixel_slopes;

DB_CUDA_FN fine derivative_of(const db_cuda_arguments *a, const pixel_sums *sums,
                              const pixel_slopes *own, uint32_t k) {
    if (!own->added) return 0;
    const fine value = contract_row(&own->row[k], sums);
    return k < a->job.spots.parameters
               ? f_fma(f_set(a->job.scale), own->slope[k - own->parameter], value)
               : value;
}

/* The pass for parameters from `parameter` on. */
DB_CUDA_FN void pass_over_spots(spot_motion motion, const db_cuda_arguments *a, block_spots *b,
                                const pixel_place *p, int wanted, uint32_t parameter,
                                pixel_sums *sums, pixel_slopes *own) {
    fine slope[SPOT_SLOPES];
    own->row = rows_of(a, p->region);
    own->parameter = parameter;
    own->added = sum_pixel(motion, a, b, p, wanted, parameter, sums, slope);
    DB_CUDA_UNROLL
    for (int k = 0; k < SPOT_SLOPES; k++) own->slope[k] = slope[k];
}

/* The first parameter behind those of a pass: after the last one all that move no spots follow. */
DB_CUDA_FN uint32_t end_of_pass(const db_cuda_arguments *a, uint32_t parameter, uint32_t all) {
    const uint32_t end = parameter + SPOT_SLOPES;
    return end < a->job.spots.parameters ? end : all;
}

DB_CUDA_FN void render_tile(spot_motion motion, const db_cuda_arguments *a) {
    const db_region *const region = &a->job.region[block_number()];
    const uint32_t pixels = (uint32_t)region->fast_count * (uint32_t)region->slow_count,
                   all = (uint32_t)a->job.parameter_count;
    block_spots b = spots_of_tile(motion, a, block_number(), block_memory());
    if (is_empty(a, &b)) {
        for (uint32_t k = 0; k < all; k++) clear_tile(a, region, a->derivative[k]);
        clear_tile(a, region, a->job.image);
        return;
    }
    for (uint32_t i = thread_number(); i < pixels + thread_number(); i += thread_count()) {
        const int wanted = i < pixels;
        pixel_place p = { region, 0, 0, 0 };
        fine loose[DB_LOOSE_COLUMNS];
        pixel_sums sums;
        sums.loose = loose;
        if (wanted) p = pixel_of_tile(region, i);
        for (uint32_t k = 0, end; k < all; k = end) {
            pixel_slopes own;
            end = end_of_pass(a, k, all);
            pass_over_spots(motion, a, &b, &p, wanted, k, &sums, &own);
            for (; k < end && wanted; k++)
                store_pixel(&a->job, a->derivative[k], p.element, derivative_of(a, &sums, &own, k));
        }
        if (wanted) store_intensity(&a->job, p.element, &sums);
    }
}

DB_CUDA_FN fine residual_at(const db_cuda_arguments *a, const pixel_place *p, fine intensity) {
    return residual_of(&a->job, intensity, data_at_element(&a->job, p->element));
}

/* A pixel's row of the normal equations; zeros behind its end, and all of it where the pixel does
 * not count. */
DB_CUDA_FN void write_spot_row(spot_motion motion, const db_cuda_arguments *a, block_spots *b,
                               const pixel_place *p, fine weight, quad *out) {
    const uint32_t images = (uint32_t)a->job.parameter_count,
                   end_of_row = a->row_length * DB_NORMAL_BLOCK;
    const pixel_weight w = pixel_weight_of(weight, a->job.weight != NULL);
    const int wanted = weight != 0;
    fine loose[DB_LOOSE_COLUMNS];
    pixel_sums sums;
    sums.loose = loose;
    for (uint32_t k = 0, end; k < end_of_row; k = end) {
        pixel_slopes own;
        end = end_of_pass(a, k, end_of_row);
        pass_over_spots(motion, a, b, p, wanted, k, &sums, &own);
        for (; k < end; k += DB_NORMAL_BLOCK) {
            quad four;
            DB_CUDA_UNROLL
            for (uint32_t i = 0; i < DB_NORMAL_BLOCK; i++) {
                fine value = 0;
                if (wanted && k + i < images)
                    value = weighted(w, f_set(a->job.spots.step[k + i]) *
                                            derivative_of(a, &sums, &own, k + i));
                else if (wanted && k + i == images)
                    value = weighted(w, residual_at(a, p, sums.intensity));
                four.of[i] = value;
            }
            out[k / DB_NORMAL_BLOCK] = four;
        }
    }
}

/* A thread's pixel of a tile; the weight is 0 without one, and where the pixel does not count. */
DB_CUDA_FN fine weight_of_pixel(const db_cuda_arguments *a, const db_region *region, uint32_t i,
                                pixel_place *p) {
    const pixel_place none = { region, 0, 0, 0 };
    *p = none;
    if (i >= (uint32_t)region->fast_count * (uint32_t)region->slow_count) return 0;
    *p = pixel_of_tile(region, i);
    return weight_at_element(&a->job, p->element);
}

/* The thread's squares of residuals of a tile that shows nothing. */
DB_CUDA_FN double empty_squares(const db_cuda_arguments *a, const db_region *region) {
    const uint32_t pixels = (uint32_t)region->fast_count * (uint32_t)region->slow_count;
    double sum = 0;
    for (uint32_t i = thread_number(); i < pixels; i += thread_count()) {
        pixel_place p;
        const fine weight = weight_of_pixel(a, region, i, &p);
        const pixel_weight w = pixel_weight_of(weight, a->job.weight != NULL);
        const fine r = weight != 0 ? weighted(w, residual_at(a, &p, 0)) : 0;
        sum += (double)(r * r);
    }
    return sum;
}

/* A sum, and a number of each thread added to it in order. */
DB_CUDA_FN double added_in_order(double sum, const double *numbers) {
    for (uint32_t t = 0; t < thread_count(); t++) sum += numbers[t];
    return sum;
}

/* Adds a number of each thread to the sum of the residual's square: an element of the last square
 * block, where add_rows or add_rows_outside has it. room: for as many numbers */
DB_CUDA_FN void add_to_residual(const db_cuda_arguments *a, double own, double *room) {
    const uint32_t squares = a->size / SQUARE,
                   in_block =
                       a->residual_sum % SQUARE * squares * a->groups + a->residual_sum / SQUARE;
    block_barrier(); /* all rows have been added */
    room[thread_number()] = own;
    block_barrier();
    if (thread_number() == 0 && a->sums_outside) {
        double *const sum = &sums_of_slot(a)[a->residual_sum];
        *sum = added_in_order(*sum, room);
    } else if (thread_number() == 0) {
        double *const sum = &block_memory()[in_block];
        *sum = added_in_order(*sum, room);
    }
    block_barrier();
}

/* A block's slot: the sums of a run of tiles that follow from the slot's number. */
DB_CUDA_FN void sum_tiles(spot_motion motion, const db_cuda_arguments *a) {
    const uint32_t thread = thread_number(), threads = thread_count(), slot = block_number(),
                   length = a->row_length, inside = a->sums_outside ? 0 : a->groups * a->size;
    const uint64_t tiles = a->region_count;
    quad *const row = (quad *)(void *)(block_memory() + inside);
    const sum_task task = task_of(a, thread);
    double empty = 0; /* of the thread's pixels of tiles that show nothing */
    clear_sums_of_block(a);
    for (uint64_t tile = tiles * slot / a->slots; tile < tiles * (slot + 1) / a->slots; tile++) {
        const db_region *const region = &a->job.region[tile];
        const uint32_t pixels = (uint32_t)region->fast_count * (uint32_t)region->slow_count;
        block_spots b = spots_of_tile(motion, a, (uint32_t)tile, row + threads * length);
        if (is_empty(a, &b)) {
            empty += empty_squares(a, region);
            continue;
        }
        for (uint32_t first = 0; first < pixels; first += threads) {
            pixel_place p;
            const fine weight = weight_of_pixel(a, region, first + thread, &p);
            block_barrier(); /* the rows of the round before have been read */
            write_spot_row(motion, a, &b, &p, weight, row + thread * length);
            block_barrier();
            if (a->sums_outside)
                add_rows_outside(a, row);
            else
                add_rows(a, row, &task);
        }
    }
    add_to_residual(a, empty, (double *)(void *)row);
    if (!a->sums_outside) store_slot(a);
}
#endif

#endif
