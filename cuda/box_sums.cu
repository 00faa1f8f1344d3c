/* Boxes: the best coefficients of each, and sums over its pixels, from images that stay on the device. A
 * block of threads has one box. All is in double precision, in an order that depends on the box alone. */
#include "cuda/arguments.h"
#include "cuda/device_code.h"
#include "loss/block_pixel.h"

/* Values shared by the threads of a block; the rest of its memory is for sums. */
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

/* Sums over all pixels by the coefficients alone. The first thread gets them and must close them. room:
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

DB_CUDA_FN db_block block_of(const db_cuda_boxes *a, uint32_t b) {
    db_block block;
    block.region = a->region[b];
    block.value = a->value;
    block.weight = a->weight;
    block.shape_variance = a->shape_variance;
    block.shape = a->shape;
    block.offset = a->offset;
    block.loss = &a->loss;
    block.ridge = a->rule[b].ridge;
    block.expected = a->rule[b].expected;
    for (int i = 0; i < DB_LINEAR; i++) block.used[i] = a->rule[b].summed[i];
    return block;
}

/* Writes a pixel's row: derivatives by variables and coefficients times the root of the curvature, the slope
 * divided by the root, the loss; all 0 if the pixel does not count. */
DB_CUDA_FN void write_box_row(const db_cuda_arguments *all, const db_block *block,
                              const db_cuda_box_list *list, const double *linear, uint32_t i,
                              double *row) {
    const db_cuda_boxes *const a = &all->boxes;
    const uint32_t variables = list->variables, length = variables + DB_LINEAR + 2;
    for (uint32_t k = 0; k < length; k++) row[k] = 0;
    if (i >= pixels_of(&block->region)) return;
    const box_pixel at = pixel_of(&block->region, i);
    const size_t element = db_block_element(&block->region, at.fast, at.slow);
    if (!(block->weight[element] > 0)) return;
    const db_block_place p = db_block_place_of(block, linear, at.fast, at.slow);
    const db_pixel_cost cost = db_block_cost(block, &p);
    const double root = sqrt(cost.curvature);
    for (uint32_t l = list->first; l < list->end; l++) {
        const db_cuda_box_link *const link = &a->link[l];
        const float *const image = (const float *)all->derivative[link->column];
        row[link->variable] += linear[0] * link->slope * (double)image[element];
    }
    db_block_columns(block, &p, row + variables);
    for (uint32_t k = 0; k < variables + DB_LINEAR; k++)
        row[k] = k >= variables && !block->used[k - variables] ? 0 : row[k] * root;
    row[variables + DB_LINEAR] = cost.slope / root;
    row[variables + DB_LINEAR + 1] = cost.value;
}

/* The two elements of a row whose product goes into sum number s: first the triangle, then the gradient; the last
 * sum adds losses. */
typedef struct {
    uint32_t k, l;
} row_pair;
DB_CUDA_FN row_pair pair_of(uint32_t s, uint32_t all) {
    const uint32_t triangle = all * (all + 1) / 2;
    row_pair p = { 0, s };
    if (s >= triangle) {
        p.k = s - triangle;
        p.l = all;
        return p;
    }
    while (p.l > p.k) p.l -= ++p.k;
    return p;
}

DB_CUDA_FN uint32_t element_of(uint32_t i, uint32_t j) { return i * (i + 1) / 2 + j; }

/* Sums of a box over its variables and coefficients. sum: triangle, gradient, loss; row: for a->rows
 * pixels */
DB_CUDA_FN void sum_rows(const db_cuda_arguments *arguments, const db_block *block,
                         const db_cuda_box_list *list, const double *linear, double *sum,
                         double *row) {
    const uint32_t thread = thread_number(), threads = thread_count(),
                   pixels = pixels_of(&block->region), rows = arguments->boxes.rows,
                   all = list->variables + DB_LINEAR, triangle = all * (all + 1) / 2,
                   first_sum = arguments->boxes.sums == DB_BOXES_NORMAL ? 0 : triangle,
                   sums = triangle + all + 1, length = (all + 2) | 1;
    for (uint32_t s = thread; s < sums; s += threads) sum[s] = 0;
    for (uint32_t first = 0; first < pixels; first += rows) {
        const uint32_t left = pixels - first, count = left < rows ? left : rows;
        block_barrier(); /* the rows of the round before have been read */
        for (uint32_t i = thread; i < count; i += threads)
            write_box_row(arguments, block, list, linear, first + i, row + i * length);
        block_barrier();
        for (uint32_t s = first_sum + thread; s < sums; s += threads) {
            const row_pair pair = pair_of(s, all);
            double own = 0;
            if (s + 1 < sums)
                for (uint32_t i = 0; i < count; i++)
                    own += row[i * length + pair.k] * row[i * length + pair.l];
            else
                for (uint32_t i = 0; i < count; i++) own += row[i * length + all + 1];
            sum[s] += own;
        }
    }
    block_barrier();
    if (thread == 0) {
        const uint32_t j = list->variables;
        const double off = linear[0] - block->expected;
        sum[sums - 1] += block->ridge * off * off;
        if (block->used[0]) {
            sum[triangle + j] += 2 * block->ridge * off;
            sum[element_of(j, j)] += block->ridge;
        }
    }
    block_barrier();
}

/* Eliminates the coefficients after the first `kept`, as db_eliminate does. */
DB_CUDA_FN void eliminate_rest(uint32_t variables, uint32_t kept, double *sum, box_state *state) {
    const uint32_t all = variables + DB_LINEAR, from = variables + kept;
    double *const gradient = sum + all * (all + 1) / 2;
    double *const loss = gradient + all;
    if (thread_number() < DB_LINEAR) {
        const uint32_t k = variables + thread_number();
        state->before[thread_number()] = sum[element_of(k, k)];
    }
    block_barrier();
    for (uint32_t t = all; t-- > from;) {
        const double *const row = sum + element_of(t, 0);
        const double pivot = row[t], slope = gradient[t];
        if (!db_is_determined(pivot, state->before[t - variables])) continue; /* all threads */
        if (thread_number() == 0) *loss -= db_eliminated_fall(slope, pivot);
        for (uint32_t s = thread_number(); s < t * (t + 1) / 2; s += thread_count()) {
            const row_pair at = pair_of(s, all);
            sum[s] -= row[at.k] / pivot * row[at.l];
        }
        for (uint32_t i = thread_number(); i < t; i += thread_count())
            gradient[i] -= row[i] / pivot * slope;
        block_barrier();
    }
}

/* Stores the box's results: the gradient, then the triangle of kept variables. */
DB_CUDA_FN void store_box(const db_cuda_boxes *a, uint32_t variables, const double *sum,
                          double *to) {
    const uint32_t all = variables + DB_LINEAR, triangle = all * (all + 1) / 2,
                   rows = a->sums == DB_BOXES_NORMAL ? variables + a->kept : 0;
    for (uint32_t k = thread_number(); k < all; k += thread_count()) to[k] = sum[triangle + k];
    for (uint32_t s = thread_number(); s < rows * (rows + 1) / 2; s += thread_count())
        to[all + s] = sum[s];
}

/* sum: room for the sums of the largest box; row: room for a->rows pixels */
DB_CUDA_FN void derive_box(const db_cuda_arguments *arguments, uint32_t b, db_block *block,
                           box_state *state, double *sum, double *row) {
    const db_cuda_boxes *const a = &arguments->boxes;
    const db_cuda_box_list list = a->list[a->rule[b].links];
    const uint32_t all = list.variables + DB_LINEAR;
    if (a->rule[b].held_at_zero && !(state->linear[0] > 0)) block->used[0] = 0;
    sum_rows(arguments, block, &list, state->linear, sum, row);
    if (a->sums == DB_BOXES_NORMAL) eliminate_rest(list.variables, a->kept, sum, state);
    if (thread_number() == 0) state->loss = sum[all * (all + 1) / 2 + all];
    store_box(a, list.variables, sum, a->result + (size_t)b * a->result_size);
}

DB_CUDA_KERNEL(db_cuda_box_sums_kernel, DB_CUDA_BOX_BLOCK, 3) {
    const uint32_t b = block_number();
    box_state *const state = (box_state *)(void *)block_memory();
    double *const room = block_memory() + DB_CUDA_BOX_STATE;
    db_block block = block_of(&a->boxes, b);
    if (thread_number() < DB_LINEAR)
        state->linear[thread_number()] = a->boxes.solution[b].linear[thread_number()];
    if (thread_number() == 0) {
        state->variance = a->boxes.solution[b].variance;
        state->loss = a->boxes.solution[b].loss;
    }
    block_barrier();
    if (a->boxes.solve) {
        for (int i = 0; i < DB_LINEAR; i++) block.used[i] = a->boxes.rule[b].solved[i];
        solve_box(&block, state, room);
        for (int i = 0; i < DB_LINEAR; i++) block.used[i] = a->boxes.rule[b].summed[i];
    }
    if (a->boxes.sums == DB_BOXES_LINEAR) {
        db_block_sums sums = sum_linear(&block, state->linear, room);
        if (thread_number() == 0) {
            db_block_close(&block, state->linear, &sums);
            *(db_block_sums *)(void *)(a->boxes.result + (size_t)b * a->boxes.result_size) = sums;
        }
    } else if (a->boxes.sums != DB_BOXES_NO_SUMS && a->boxes.outside) {
        derive_box(a, b, &block, state, a->boxes.outside + (size_t)b * a->boxes.sum_size, room);
    } else if (a->boxes.sums != DB_BOXES_NO_SUMS) {
        derive_box(a, b, &block, state, room, room + a->boxes.sum_size);
    }
    block_barrier();
    if (thread_number() == 0) {
        db_box_solution solution;
        for (int i = 0; i < DB_LINEAR; i++) solution.linear[i] = state->linear[i];
        solution.variance = state->variance;
        solution.loss = state->loss;
        a->boxes.solution[b] = solution;
    }
}
