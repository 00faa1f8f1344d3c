/* What happens to a thread's pixel: it is stored, contracted with the parameters, or summed over the pixels of a
 * block. */
#ifndef DB_CUDA_PIXEL_H
#define DB_CUDA_PIXEL_H

#include "cuda/pixel_place.h"

#define REAL SHAPE_REAL
#define DIRS 0

DB_CUDA_FN void store_as(int floats, void *image, size_t element, fine value) {
    if (floats)
        ((float *)image)[element] = (float)value;
    else
        ((double *)image)[element] = (double)value;
}

DB_CUDA_FN void store_pixel(const db_kernel_job *job, void *image, size_t element, fine value) {
    store_as(job->pixel_type == DB_FLOAT32, image, element, value);
}

DB_CUDA_FN fine read_pixel(db_pixel_type type, const void *pixels, size_t element) {
    return type == DB_FLOAT32 ? (fine)((const float *)pixels)[element]
                              : (fine)((const double *)pixels)[element];
}

/* The weight of a pixel that counts. */
DB_CUDA_FN fine weight_at_element(const db_kernel_job *job, size_t element) {
    return job->weight ? read_pixel(job->data_type, job->weight, element) : 1;
}

/* The data that the model is compared with: without the background. */
DB_CUDA_FN fine data_at_element(const db_kernel_job *job, size_t element) {
    const fine data = read_pixel(job->data_type, job->data, element);
    return job->background ? data - read_pixel(job->pixel_type, job->background, element) : data;
}

DB_CUDA_FN void store_intensity(const db_kernel_job *job, size_t element, const pixel_sums *sums) {
    store_pixel(job, job->image, element, sums->intensity * (SHAPE_REAL)job->scale);
}

/* Four neighbours in memory, read and written at once. */
typedef struct __attribute__((aligned(16))) {
    SHAPE_REAL of[DB_NORMAL_BLOCK];
} quad;

#if DB_INSTANCE_KIND > 0
typedef FINE(db_cuda_row) coefficient_row;

DB_CUDA_FN const coefficient_row *rows_of(const db_cuda_arguments *a, const db_region *region) {
    return (const coefficient_row *)a->row + region->panel * a->job.parameter_count;
}

/* X(window, first column, end) of an instance's windows. */
#if DB_INSTANCE_GENERAL
#define DB_CUDA_WINDOW_OF_GENERAL(X) X(DB_CUDA_WINDOW_GENERAL, DB_COLUMN_Z, DB_COLUMN_DEBYE_WALLER)
#else
#define DB_CUDA_WINDOW_OF_GENERAL(X)
#endif
#if DB_INSTANCE_KIND > 1
#define DB_CUDA_WINDOW_OF_CELLS(X) X(DB_CUDA_WINDOW_CELLS, DB_COLUMN_CELLS, DB_COLUMN_AMPLITUDE)
#else
#define DB_CUDA_WINDOW_OF_CELLS(X)
#endif
#define DB_CUDA_WINDOWS(X)                                                                         \
    X(DB_CUDA_WINDOW_LATTICE, DB_COLUMN_LATTICE, DB_COLUMN_ORIGIN)                                 \
    X(DB_CUDA_WINDOW_PANEL, DB_COLUMN_ORIGIN, DB_COLUMN_Z)                                         \
    DB_CUDA_WINDOW_OF_GENERAL(X)                                                                   \
    X(DB_CUDA_WINDOW_DEBYE_WALLER, DB_COLUMN_DEBYE_WALLER, DB_COLUMN_CELLS)                        \
    DB_CUDA_WINDOW_OF_CELLS(X)

/* Adds columns `first` to `end` times their coefficients for several rows, whose chains of operations overlap.
 * Column numbers are constants, so that columns stay in registers. */
DB_CUDA_FN void contract_window(const coefficient_row *const *row, int rows, const pixel_sums *sums,
                                int first, int end, fine *slope) {
    DB_CUDA_UNROLL
    for (int q = first / DB_NORMAL_BLOCK; q * DB_NORMAL_BLOCK < end; q++) DB_CUDA_UNROLL
    for (int n = 0; n < rows; n++) {
        const quad coefficient = ((const quad *)(const void *)row[n]->coefficient)[q];
        DB_CUDA_UNROLL
        for (int i = 0; i < DB_NORMAL_BLOCK; i++) {
            const int c = q * DB_NORMAL_BLOCK + i;
            if (c >= first && c < end)
                slope[n] = f_fma(coefficient.of[i], sums->column[c], slope[n]);
        }
    }
}

/* Derivatives by several rows; windows: those that any of the rows has. */
DB_CUDA_FN void contract_rows(const coefficient_row *const *row, int rows, int32_t windows,
                              const pixel_sums *sums, fine *slope) {
    DB_CUDA_UNROLL
    for (int n = 0; n < rows; n++) slope[n] = 0;
#define DB_WINDOW(window, first, end)                                                              \
    if (windows & (window)) contract_window(row, rows, sums, first, end, slope);
    DB_CUDA_WINDOWS(DB_WINDOW)
#undef DB_WINDOW
    if (!(windows & DB_CUDA_WINDOW_LOOSE)) return;
    DB_CUDA_UNROLL
    for (int n = 0; n < rows; n++)
        if (row[n]->windows & DB_CUDA_WINDOW_LOOSE)
            slope[n] = f_fma(row[n]->loose_coefficient, sums->loose[row[n]->loose], slope[n]);
}

DB_CUDA_FN fine contract_row(const coefficient_row *row, const pixel_sums *sums) {
    fine slope;
    contract_rows(&row, 1, row->windows, sums, &slope);
    return slope;
}
/* Square block number n of the lower triangle: its row and column. */
DB_CUDA_FN void square_block(uint32_t n, uint32_t *i, uint32_t *j) {
    *i = 0;
    while (n > *i) n -= ++*i;
    *j = n;
}

/* Products of two blocks of columns summed over some pixels, in registers; then added to sums in
 * double, `step` apart. */
DB_CUDA_FN void add_square(const quad *row, uint32_t length, uint32_t i, uint32_t j, uint32_t from,
                           uint32_t end, double *sums, uint32_t step) {
    enum { RUN = 16 }; /* products in float, as on the processor */
    for (uint32_t first = from; first < end; first += RUN) {
        SHAPE_REAL sum[DB_NORMAL_BLOCK][DB_NORMAL_BLOCK];
        DB_CUDA_UNROLL
        for (int c = 0; c < DB_NORMAL_BLOCK; c++) DB_CUDA_UNROLL
        for (int r = 0; r < DB_NORMAL_BLOCK; r++) sum[c][r] = 0;
        for (uint32_t p = first; p < end && p < first + RUN; p++) {
            const quad left = row[p * length + i], right = row[p * length + j];
            DB_CUDA_UNROLL
            for (int c = 0; c < DB_NORMAL_BLOCK; c++) DB_CUDA_UNROLL
            for (int r = 0; r < DB_NORMAL_BLOCK; r++)
                sum[c][r] = f_fma(left.of[r], right.of[c], sum[c][r]);
        }
        DB_CUDA_UNROLL
        for (int c = 0; c < DB_NORMAL_BLOCK; c++) DB_CUDA_UNROLL
        for (int r = 0; r < DB_NORMAL_BLOCK; r++)
            sums[(uint32_t)(c * DB_NORMAL_BLOCK + r) * step] += (double)sum[c][r];
    }
}

enum { SQUARE = DB_NORMAL_BLOCK * DB_NORMAL_BLOCK };

/* The sums of a block: in its own memory, for several groups of pixels; if that is too small, in its slot, for one
 * group. */
DB_CUDA_FN double *sums_of_slot(const db_cuda_arguments *a) {
    return a->sums + (size_t)block_number() * a->size;
}

DB_CUDA_FN void clear_sums_of_block(const db_cuda_arguments *a) {
    if (a->sums_outside)
        for (uint32_t s = thread_number(); s < a->size; s += thread_count()) sums_of_slot(a)[s] = 0;
    else
        for (uint32_t s = thread_number(); s < a->groups * a->size; s += thread_count())
            block_memory()[s] = 0;
}

/* The task of a thread: a square block of products, over some of the block's rows. */
typedef struct {
    uint32_t i, j, from, end;
} sum_task;

DB_CUDA_FN sum_task task_of(const db_cuda_arguments *a, uint32_t task) {
    const uint32_t squares = a->size / SQUARE, share = a->rows / a->groups, group = task / squares;
    sum_task t;
    square_block(task - group * squares, &t.i, &t.j);
    t.from = group * share;
    t.end = t.from + share;
    return t;
}

/* Adds the products of the block's rows, one row from each thread. The order of all additions is fixed. In the
 * block's memory neighbouring threads have neighbouring sums: [element of a square][task]. first: the thread's
 * first task; most threads have no other. */
DB_CUDA_FN void add_rows(const db_cuda_arguments *a, const quad *row, const sum_task *first) {
    double *const sums = block_memory();
    const uint32_t tasks = a->size / SQUARE * a->groups, threads = thread_count();
    uint32_t task = thread_number();
    if (task < tasks)
        add_square(row, a->row_length, first->i, first->j, first->from, first->end, sums + task,
                   tasks);
    for (task += threads; task < tasks; task += threads) {
        const sum_task t = task_of(a, task);
        add_square(row, a->row_length, t.i, t.j, t.from, t.end, sums + task, tasks);
    }
}

/* As add_rows if the sums do not fit in the block's memory: they are in the slot, square by square. */
DB_CUDA_FN void add_rows_outside(const db_cuda_arguments *a, const quad *row) {
    double *const sums = sums_of_slot(a);
    for (uint32_t task = thread_number(); task < a->size / SQUARE; task += thread_count()) {
        const sum_task t = task_of(a, task);
        add_square(row, a->row_length, t.i, t.j, t.from, t.end, sums + task * SQUARE, 1);
    }
}

/* Stores sums of the block's memory in its slot. */
DB_CUDA_FN void store_slot(const db_cuda_arguments *a) {
    const uint32_t squares = a->size / SQUARE;
    for (uint32_t s = thread_number(); s < a->size; s += thread_count()) {
        const double *const first = block_memory() + s % SQUARE * squares * a->groups + s / SQUARE;
        double sum = 0;
        for (uint32_t g = 0; g < a->groups; g++) sum += first[g * squares];
        sums_of_slot(a)[s] = sum;
    }
}
#endif

#undef REAL
#undef DIRS
#endif
