/* Spots in closed form. A warp renders a cell of 8 x 4 pixels, one pixel per thread: it lists the tile's spots
 * that reach the cell, in its own memory, and all its threads add them one after another. If the memory is too
 * small it makes several lists: sums are linear in the spots, a pixel's factors are computed for each list, and
 * the first list includes the background. */
#ifndef DB_CUDA_SPOTS_H
#define DB_CUDA_SPOTS_H

#include "cuda/spot_list.h"

#include <assert.h>

enum { CELL_FAST = 8, CELL_SLOW = 4 };
static_assert(CELL_FAST * CELL_SLOW == DB_CUDA_WARP, "a pixel for each thread");

/* A cell of a tile; first and end: of the tile's spots in the list. */
typedef struct {
    const db_region *region;
    uint32_t first, end;
    int fast, slow; /* its corner in the tile */
} tile_cell;

/* Cells are numbered from top to bottom of a strip, strip after strip. Narrow tiles are up to twice as
 * high as others. */
DB_CUDA_FN tile_cell cell_of_tile(const db_cuda_arguments *a, uint32_t tile, uint32_t cell) {
    const db_region *const region = &a->job.region[tile];
    const uint32_t rows = (region->slow_count > DB_SPOT_TILE_SLOW ? 2 : 1) *
                          (DB_SPOT_TILE_SLOW / (uint32_t)CELL_SLOW);
    const tile_cell c = { region, a->job.spots.first[tile], a->job.spots.first[tile + 1],
                          (int)(cell / rows * CELL_FAST), (int)(cell % rows * CELL_SLOW) };
    return c;
}

/* Tiles are not whole at the edges of panels and regions. */
DB_CUDA_FN int cell_exists(const tile_cell *c) {
    return c->fast < c->region->fast_count && c->slow < c->region->slow_count;
}

DB_CUDA_FN int spot_reaches(const db_kernel_spot *spot, const tile_cell *c) {
    const int fast = c->region->fast_start + c->fast, slow = c->region->slow_start + c->slow;
    return spot->fast[0] < fast + CELL_FAST && fast < spot->fast[1] &&
           spot->slow[0] < slow + CELL_SLOW && slow < spot->slow[1];
}

/* The thread's pixel; returns 0 if there is none. */
DB_CUDA_FN int pixel_of_cell(const tile_cell *c, pixel_place *p) {
    const db_region *const region = c->region;
    const int fast = c->fast + (int)(lane_number() % CELL_FAST),
              slow = c->slow + (int)(lane_number() / CELL_FAST);
    const int is_there = fast < region->fast_count && slow < region->slow_count;
    const pixel_place there = { region, fast, slow,
                                region->offset + (size_t)slow * region->stride + (size_t)fast };
    const pixel_place none = { region, 0, 0, 0 };
    *p = is_there ? there : none;
    return is_there;
}

/* The list in a warp's memory: of the tile's spots from `begin` to `next`. */
typedef struct {
    uint32_t *number;
    uint32_t begin, next, count;
} cell_list;

DB_CUDA_FN cell_list empty_list(uint32_t *memory) {
    const cell_list list = { memory, UINT32_MAX, 0, 0 };
    return list;
}

/* Lists spots from `begin` on, in their order. All threads of the warp come here. */
DB_CUDA_FN void list_spots(const db_kernel_spots *spots, const tile_cell *c, uint32_t begin,
                           cell_list *list) {
    const uint32_t before = (1U << lane_number()) - 1;
    if (begin == list->begin) return;
    list->begin = begin;
    list->count = 0;
    warp_barrier(); /* the list before has been read */
    for (; begin < c->end && list->count + DB_CUDA_WARP <= DB_CUDA_CELL_SPOTS;
         begin += DB_CUDA_WARP) {
        const uint32_t i = begin + lane_number(), number = i < c->end ? spots->number[i] : 0;
        const int reaches = i < c->end && spot_reaches(&spots->spot[number], c);
        const uint32_t all = warp_ballot(reaches);
        if (reaches) list->number[list->count + count_bits(all & before)] = number;
        list->count += count_bits(all);
    }
    list->next = begin;
    warp_barrier();
}

/* A pixel's sums, and its slopes by the parameters of a pass. wanted: 0 for threads without a pixel, which help to
 * list spots. Returns 0 if nothing was added. */
DB_CUDA_FN int sum_pixel(spot_motion motion, const db_cuda_arguments *a, const tile_cell *c,
                         cell_list *list, const pixel_place *p, int wanted, uint32_t pass,
                         pixel_sums *sums, fine *slope) {
    const db_kernel_job *const job = &a->job;
    int added = 0;
    uint32_t begin = c->first;
    clear_sums(0, job, sums);
#if DB_INSTANCE_KIND > 0
    DB_CUDA_UNROLL
    for (int k = 0; k < SPOT_SLOPES; k++) slope[k] = 0;
#endif
    do {
        const int background = begin == c->first && has_background(job);
        list_spots(&job->spots, c, begin, list);
        if (wanted && (list->count || background)) {
            const spot_list own = { &job->spots, list->number, list->count, background, pass };
            add_spot_sites(motion, job, &job->panel[p->region->panel], &own,
                           p->region->fast_start + p->fast, p->region->slow_start + p->slow, sums,
                           slope);
            added = 1;
        }
        begin = list->next;
    } while (begin < c->end);
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

DB_CUDA_FN int is_empty(const db_cuda_arguments *a, uint32_t tile) {
    return a->job.spots.first[tile] == a->job.spots.first[tile + 1] && !has_background(&a->job);
}

#if DB_INSTANCE_KIND == 0
DB_CUDA_FN void clear_images(const db_cuda_arguments *a, const db_region *region) {
    clear_tile(a, region, a->job.image);
}

DB_CUDA_FN void render_cell(spot_motion motion, const db_cuda_arguments *a, const tile_cell *c,
                            uint32_t *memory) {
    cell_list list = empty_list(memory);
    pixel_place p;
    pixel_sums sums;
    const int wanted = pixel_of_cell(c, &p);
    sum_pixel(motion, a, c, &list, &p, wanted, 0, &sums, NULL);
    if (wanted) store_intensity(&a->job, p.element, &sums);
}
#else
/* A pixel's results of a pass over its spots, for SPOT_SLOPES parameters. */
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
DB_CUDA_FN void pass_over_spots(spot_motion motion, const db_cuda_arguments *a, const tile_cell *c,
                                cell_list *list, const pixel_place *p, int wanted,
                                uint32_t parameter, pixel_sums *sums, pixel_slopes *own) {
    fine slope[SPOT_SLOPES];
    own->row = rows_of(a, p->region);
    own->parameter = parameter;
    own->added = sum_pixel(motion, a, c, list, p, wanted, parameter / SPOT_SLOPES, sums, slope);
    DB_CUDA_UNROLL
    for (int k = 0; k < SPOT_SLOPES; k++) own->slope[k] = slope[k];
}

/* The first parameter after those of a pass. The last pass also takes all parameters that move no spots. */
DB_CUDA_FN uint32_t end_of_pass(const db_cuda_arguments *a, uint32_t parameter, uint32_t all) {
    const uint32_t end = parameter + SPOT_SLOPES;
    return end < a->job.spots.parameters ? end : all;
}

DB_CUDA_FN void clear_images(const db_cuda_arguments *a, const db_region *region) {
    for (uint32_t k = 0; k < a->job.parameter_count; k++) clear_tile(a, region, a->derivative[k]);
    clear_tile(a, region, a->job.image);
}

DB_CUDA_FN void render_cell(spot_motion motion, const db_cuda_arguments *a, const tile_cell *c,
                            uint32_t *memory) {
    const uint32_t all = (uint32_t)a->job.parameter_count;
    cell_list list = empty_list(memory);
    pixel_place p;
    fine loose[DB_LOOSE_COLUMNS];
    pixel_sums sums;
    const int wanted = pixel_of_cell(c, &p);
    sums.loose = loose;
    for (uint32_t k = 0, end; k < all; k = end) {
        pixel_slopes own;
        end = end_of_pass(a, k, all);
        pass_over_spots(motion, a, c, &list, &p, wanted, k, &sums, &own);
        for (; k < end && wanted; k++)
            store_pixel(&a->job, a->derivative[k], p.element, derivative_of(a, &sums, &own, k));
    }
    if (wanted) store_intensity(&a->job, p.element, &sums);
}
#endif

/* Some blocks render a tile: each warp some of its cells. */
DB_CUDA_FN void render_tile(spot_motion motion, const db_cuda_arguments *a) {
    const uint32_t warps = thread_count() / DB_CUDA_WARP, tile = block_number() / a->tile_blocks,
                   part = block_number() % a->tile_blocks;
    if (is_empty(a, tile)) {
        if (part == 0) clear_images(a, &a->job.region[tile]);
        return;
    }
    DB_CUDA_LOOP
    for (uint32_t n = part * warps + thread_number() / DB_CUDA_WARP; n < DB_CUDA_TILE_CELLS;
         n += a->tile_blocks * warps) {
        const tile_cell c = cell_of_tile(a, block_number() / a->tile_blocks, n);
        if (cell_exists(&c))
            render_cell(motion, a, &c,
                        (uint32_t *)(void *)block_memory() +
                            thread_number() / DB_CUDA_WARP * DB_CUDA_CELL_SPOTS);
    }
}

#if DB_INSTANCE_KIND > 0
DB_CUDA_FN fine residual_at(const db_cuda_arguments *a, const pixel_place *p, fine intensity) {
    return residual_of(&a->job, intensity, data_at_element(&a->job, p->element));
}

/* A bit for each cell of a tile that has spots or a background; the threads of a warp find it together. */
DB_CUDA_FN uint32_t cells_with_spots(const db_cuda_arguments *a, uint32_t tile) {
    const tile_cell c = cell_of_tile(a, tile, lane_number());
    int reached = has_background(&a->job);
    for (uint32_t i = c.first; i < c.end; i++)
        reached |= spot_reaches(&a->job.spots.spot[a->job.spots.number[i]], &c);
    return warp_ballot(reached && cell_exists(&c));
}

/* A sum, and a number of each thread added to it in order. */
DB_CUDA_FN double added_in_order(double sum, const double *numbers) {
    for (uint32_t t = 0; t < thread_count(); t++) sum += numbers[t];
    return sum;
}

/* A tile before its products are summed: which of its cells are to be rendered, and the squares of the
 * residuals of the others. Pixels without weight count nowhere. */
DB_CUDA_FN void find_cells(const db_cuda_arguments *a) {
    const uint32_t warps = thread_count() / DB_CUDA_WARP, own = thread_number() / DB_CUDA_WARP,
                   tile = block_number(), shown = cells_with_spots(a, tile);
    double *const squares = block_memory(); /* of each thread */
    uint32_t *const found = (uint32_t *)(squares + thread_count());
    uint32_t cells = 0; /* the warp's */
    double sum = 0;
    for (uint32_t n = own; n < DB_CUDA_TILE_CELLS; n += warps) {
        const tile_cell c = cell_of_tile(a, tile, n);
        pixel_place p;
        const int is_there = pixel_of_cell(&c, &p);
        const fine weight = is_there ? weight_at_element(&a->job, p.element) : 0;
        if (shown >> n & 1) {
            cells |= (uint32_t)(warp_ballot(weight != 0) != 0) << n;
        } else if (weight != 0) {
            const pixel_weight w = pixel_weight_of(weight, a->job.weight != NULL);
            const fine r = weighted(w, residual_at(a, &p, 0));
            sum += (double)(r * r);
        }
    }
    squares[thread_number()] = sum;
    if (lane_number() == 0) found[own] = cells;
    block_barrier();
    if (thread_number() != 0) return;
    for (uint32_t w = 1; w < warps; w++) cells |= found[w];
    a->cells[tile] = cells;
    a->squares[tile] = added_in_order(0, squares);
}

/* A pixel's row of the normal equations; zeros behind its end, and all of it where the pixel does
 * not count. */
DB_CUDA_FN void write_spot_row(spot_motion motion, const db_cuda_arguments *a, const tile_cell *c,
                               cell_list *list, const pixel_place *p, fine weight, quad *out) {
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
        pass_over_spots(motion, a, c, list, p, wanted, k, &sums, &own);
        for (; k < end && out; k += DB_NORMAL_BLOCK) {
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

/* Adds a cell's products, a->rows pixels at a time: as many as fit in the block's memory. */
DB_CUDA_FN void sum_cell(spot_motion motion, const db_cuda_arguments *a, const tile_cell *c,
                         quad *row, uint32_t *memory) {
    cell_list list = empty_list(memory);
    pixel_place p;
    const fine given = pixel_of_cell(c, &p) ? weight_at_element(&a->job, p.element) : 0;
    for (uint32_t first = 0; first < DB_CUDA_WARP; first += a->rows) {
        const uint32_t place = lane_number() - first;
        const int is_ours = place < a->rows;
        block_barrier(); /* the rows before have been read */
        write_spot_row(motion, a, c, &list, &p, is_ours ? given : 0,
                       is_ours ? row + place * a->row_length : NULL);
        block_barrier();
        if (a->sums_outside) {
            add_rows_outside(a, row);
        } else { /* found anew: registers are scarce */
            const sum_task task = task_of(a, thread_number());
            add_rows(a, row, &task);
        }
    }
}

/* Adds squares of some tiles to the sum of the residual's square: an element of the last square block,
 * where add_rows or add_rows_outside has it. room: for a number of each thread */
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

/* A slot's sums, by one warp: of parts of tiles, as far apart as there are slots. */
DB_CUDA_FN void sum_tiles(spot_motion motion, const db_cuda_arguments *a) {
    enum { CELLS = DB_CUDA_TILE_CELLS / DB_CUDA_TILE_PARTS, MASK = (1 << CELLS) - 1 };
    const uint32_t inside = a->sums_outside ? 0 : a->groups * a->size, slot = block_number();
    quad *const row = (quad *)(void *)(block_memory() + inside);
    uint32_t *const memory = (uint32_t *)(void *)(row + a->rows * a->row_length);
    double empty = 0;
    clear_sums_of_block(a);
    block_barrier();
    for (uint32_t part = slot; part < a->region_count * DB_CUDA_TILE_PARTS; part += a->slots) {
        const uint32_t tile = part / DB_CUDA_TILE_PARTS,
                       mask = (uint32_t)MASK << part % DB_CUDA_TILE_PARTS * CELLS;
        for (uint32_t left = a->cells[tile] & mask; left; left &= left - 1) {
            const tile_cell c = cell_of_tile(a, tile, lowest_bit(left));
            sum_cell(motion, a, &c, row, memory);
        }
    }
    for (uint32_t tile = slot + a->slots * thread_number(); tile < a->region_count;
         tile += a->slots * thread_count())
        empty += a->squares[tile];
    add_to_residual(a, empty, (double *)(void *)row);
    if (!a->sums_outside) store_slot(a);
}
#endif

#endif
