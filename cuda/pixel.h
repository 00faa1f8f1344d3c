/* What becomes of a thread's pixel: stored, contracted with the parameters, or summed over the pixels
 * of a block. */
#ifndef DB_CUDA_PIXEL_H
#define DB_CUDA_PIXEL_H

#define REAL SHAPE_REAL
#define DIRS 0

typedef struct {
    const db_region *region;
    int fast, slow; /* in the region */
    size_t element; /* of image, data ... */
} pixel_place;

DB_CUDA_FN void store_pixel(const db_kernel_job *job, void *image, size_t element, fine value) {
    if (job->pixel_type == DB_FLOAT32)
        ((float *)image)[element] = (float)value;
    else
        ((double *)image)[element] = (double)value;
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

/* Columns from `first` to `end` times their coefficients. The numbers of the columns are constants,
 * so that these stay in registers. */
DB_CUDA_FN fine contract_window(const coefficient_row *row, const pixel_sums *sums, int first,
                                int end, fine slope) {
    const quad *four = (const quad *)(const void *)row->coefficient;
    DB_CUDA_UNROLL
    for (int q = first / DB_NORMAL_BLOCK; q * DB_NORMAL_BLOCK < end; q++) {
        const quad coefficient = four[q];
        DB_CUDA_UNROLL
        for (int i = 0; i < DB_NORMAL_BLOCK; i++) {
            const int c = q * DB_NORMAL_BLOCK + i;
            if (c >= first && c < end) slope = f_fma(coefficient.of[i], sums->column[c], slope);
        }
    }
    return slope;
}

DB_CUDA_FN fine contract_row(const coefficient_row *row, const pixel_sums *sums) {
    const int32_t windows = row->windows;
    fine slope = 0;
#define DB_WINDOW(window, first, end)                                                              \
    if (windows & (window)) slope = contract_window(row, sums, first, end, slope);
    DB_WINDOW(DB_CUDA_WINDOW_LATTICE, DB_COLUMN_LATTICE, DB_COLUMN_ORIGIN)
    DB_WINDOW(DB_CUDA_WINDOW_PANEL, DB_COLUMN_ORIGIN, DB_COLUMN_Z)
#if DB_INSTANCE_GENERAL
    DB_WINDOW(DB_CUDA_WINDOW_GENERAL, DB_COLUMN_Z, DB_COLUMN_DEBYE_WALLER)
#endif
    DB_WINDOW(DB_CUDA_WINDOW_DEBYE_WALLER, DB_COLUMN_DEBYE_WALLER, DB_COLUMN_CELLS)
#if DB_INSTANCE_KIND > 1
    DB_WINDOW(DB_CUDA_WINDOW_CELLS, DB_COLUMN_CELLS, DB_COLUMN_AMPLITUDE)
#endif
#undef DB_WINDOW
    if (windows & DB_CUDA_WINDOW_LOOSE)
        slope = f_fma(row->loose_coefficient, sums->loose[row->loose], slope);
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

/* A block's sums: in its own memory, or where that is too small in its slot. */
DB_CUDA_FN double *sums_of_block(const db_cuda_arguments *a) {
    return a->sums_outside ? a->sums + (size_t)block_number() * a->size : block_memory();
}

/* Adds the products of the block's rows, one of each thread: each thread has some square blocks of
 * products over some of the rows, in groups, so that the order of all additions is fixed. In the
 * block's memory neighbouring threads have neighbouring sums: [element of a square][group][square].
 */
DB_CUDA_FN void add_rows(const db_cuda_arguments *a, const quad *row, double *sums) {
    const uint32_t squares = a->size / SQUARE, tasks = squares * a->groups,
                   threads = thread_count(), share = threads / a->groups;
    for (uint32_t task = thread_number(); task < tasks; task += threads) {
        const uint32_t group = task / squares, square = task - group * squares;
        uint32_t i, j;
        square_block(square, &i, &j);
        add_square(row, a->row_length, i, j, group * share, (group + 1) * share,
                   sums + (a->sums_outside ? task * SQUARE : task), a->sums_outside ? 1 : tasks);
    }
}

/* Stores sums of the block's memory in its slot. */
DB_CUDA_FN void store_slot(const db_cuda_arguments *a, const double *sums) {
    const uint32_t squares = a->size / SQUARE;
    if (a->sums_outside) return;
    for (uint32_t s = thread_number(); s < a->size; s += thread_count()) {
        const double *const first = sums + s % SQUARE * squares * a->groups + s / SQUARE;
        double sum = 0;
        for (uint32_t g = 0; g < a->groups; g++) sum += first[g * squares];
        a->sums[(size_t)block_number() * a->size + s] = sum;
    }
}
#endif

#undef REAL
#undef DIRS
#endif
