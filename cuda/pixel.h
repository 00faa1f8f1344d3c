/* Which pixel a thread works on, and what becomes of it: stored, contracted with the parameters, or
 * summed over the pixels of a block. */
#ifndef DB_CUDA_PIXEL_H
#define DB_CUDA_PIXEL_H

#define REAL SHAPE_REAL
#define DIRS 0

typedef struct {
    const db_region *region;
    int fast, slow; /* in the region */
    size_t element; /* of image, data ... */
} pixel_place;

/* The region of pixel (or block) number i: the last one that starts at or before it. */
DB_CUDA_FN uint32_t region_of(const uint32_t *start, uint32_t regions, uint32_t i) {
    uint32_t low = 0, high = regions;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (start[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Pixel number i of all regions, one region after the other. */
DB_CUDA_FN pixel_place pixel_at(const db_cuda_arguments *a, uint32_t i) {
    pixel_place p;
    const uint32_t r = region_of(a->region_start, a->region_count, i);
    p.region = &a->job.region[r];
    const uint32_t in_region = i - a->region_start[r], row_length = (uint32_t)p.region->fast_count;
    const uint32_t slow = in_region / row_length, fast = in_region - slow * row_length;
    p.fast = (int)fast;
    p.slow = (int)slow;
    p.element = p.region->offset + slow * p.region->stride + fast;
    return p;
}

DB_CUDA_FN void store_pixel(const db_kernel_job *job, void *image, size_t element, fine value) {
    if (job->pixel_type == DB_FLOAT32)
        ((float *)image)[element] = (float)value;
    else
        ((double *)image)[element] = (double)value;
}

DB_CUDA_FN void store_intensity(const db_kernel_job *job, size_t element, const pixel_sums *sums) {
    store_pixel(job, job->image, element, sums->intensity * (SHAPE_REAL)job->scale);
}

DB_CUDA_FN void render_pixel(kernel_shape shape, const db_cuda_arguments *a, const pixel_place *p,
                             pixel_sums *sums) {
    const db_region *region = p->region;
    render_group(shape, &a->job, &a->job.panel[region->panel], region->fast_start + p->fast,
                 region->slow_start + p->slow, sums);
}

#if DB_INSTANCE_KIND > 0
typedef FINE(db_cuda_row) coefficient_row;

DB_CUDA_FN const coefficient_row *rows_of(const db_cuda_arguments *a, const db_region *region) {
    return (const coefficient_row *)a->row + region->panel * a->job.parameter_count;
}

/* Four neighbours in memory, read and written at once. */
typedef struct __attribute__((aligned(16))) {
    SHAPE_REAL of[DB_NORMAL_BLOCK];
} quad;

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

DB_CUDA_FN void store_derivatives(const db_cuda_arguments *a, const pixel_place *p,
                                  const pixel_sums *sums) {
    const coefficient_row *row = rows_of(a, p->region);
    for (size_t k = 0; k < a->job.parameter_count; k++)
        store_pixel(&a->job, a->derivative[k], p->element, contract_row(&row[k], sums));
}

/* Quads that hold nothing but columns of the lattice, where these come first. */
enum { WHOLE_QUADS = (DB_COLUMN_ORIGIN - DB_COLUMN_LATTICE) / DB_NORMAL_BLOCK };

/* A pixel's row of the normal equations; zeros behind its end, and all of it where the pixel does
 * not count. */
DB_CUDA_FN void write_row(kernel_shape shape, const db_cuda_arguments *a, uint32_t pixel,
                          quad *out) {
    const uint32_t length = a->row_length;
    int counts = pixel < a->pixels;
    pixel_place p;
    fine weight = 1;
    if (counts) {
        p = pixel_at(a, pixel);
        if (a->job.weight) weight = a->job.weight[p.element];
        counts = weight != 0;
    }
    if (!counts) {
        quad zero = { { 0, 0, 0, 0 } };
        for (uint32_t b = 0; b < length; b++) out[b] = zero;
        return;
    }
    fine loose[DB_LOOSE_COLUMNS];
    pixel_sums sums;
    sums.loose = loose;
    render_pixel(shape, a, &p, &sums);
    const pixel_weight w = pixel_weight_of(weight, a->job.weight != NULL);
    const coefficient_row *row = rows_of(a, p.region);
    const uint32_t images = (uint32_t)a->job.parameter_count;
    uint32_t begin = 0;
    if (a->lattice_first) /* the first images are columns, and their numbers constants */
        DB_CUDA_UNROLL
    for (; begin < WHOLE_QUADS; begin++) {
        quad four;
        DB_CUDA_UNROLL
        for (uint32_t i = 0; i < DB_NORMAL_BLOCK; i++) {
            const uint32_t k = begin * DB_NORMAL_BLOCK + i;
            four.of[i] = weighted(w, row[k].coefficient[k] * sums.column[k]);
        }
        out[begin] = four;
    }
    for (uint32_t b = begin; b < length; b++) {
        quad four;
        DB_CUDA_UNROLL
        for (uint32_t i = 0; i < DB_NORMAL_BLOCK; i++) {
            const uint32_t k = b * DB_NORMAL_BLOCK + i;
            fine value = 0;
            if (k < images)
                value = weighted(w, contract_row(&row[k], &sums));
            else if (k == images)
                value = weighted(w, residual_of(&a->job, sums.intensity, a->job.data[p.element]));
            four.of[i] = value;
        }
        out[b] = four;
    }
}

/* Square block number n of the lower triangle: its row and column. */
DB_CUDA_FN void square_block(uint32_t n, uint32_t *i, uint32_t *j) {
    *i = 0;
    while (n > *i) n -= ++*i;
    *j = n;
}

/* Products of two blocks of columns summed over some pixels, in registers; then added to sums in
 * double. */
DB_CUDA_FN void add_square(const quad *row, uint32_t length, uint32_t i, uint32_t j, uint32_t from,
                           uint32_t end, double *sums) {
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
            sums[c * DB_NORMAL_BLOCK + r] += (double)sum[c][r];
    }
}

/* A block's slot: the sums of a run of pixels that follow from the slot's number. Each thread keeps
 * some square blocks of products over some of the pixels of a round: the order of all additions is
 * fixed. */
DB_CUDA_FN void sum_slot(kernel_shape shape, const db_cuda_arguments *a) {
    const uint32_t thread = thread_number(), threads = thread_count(), slot = block_number(),
                   squares = a->size / (DB_NORMAL_BLOCK * DB_NORMAL_BLOCK), length = a->row_length,
                   tasks = squares * a->groups, share = threads / a->groups;
    double *const sums = block_memory(); /* [group][size] */
    quad *const row = (quad *)(void *)(sums + a->groups * a->size);
    const uint64_t rounds = ((uint64_t)a->pixels + threads - 1) / threads;
    for (uint32_t s = thread; s < a->groups * a->size; s += threads) sums[s] = 0;
    for (uint64_t n = rounds * slot / a->slots; n < rounds * (slot + 1) / a->slots; n++) {
        block_barrier(); /* the rows of the round before have been read */
        write_row(shape, a, (uint32_t)n * threads + thread, row + thread * length);
        block_barrier();
        for (uint32_t task = thread; task < tasks; task += threads) {
            const uint32_t group = task / squares, square = task - group * squares;
            uint32_t i, j;
            square_block(square, &i, &j);
            add_square(row, length, i, j, group * share, (group + 1) * share,
                       sums + group * a->size + square * DB_NORMAL_BLOCK * DB_NORMAL_BLOCK);
        }
    }
    block_barrier();
    for (uint32_t s = thread; s < a->size; s += threads) {
        double sum = 0;
        for (uint32_t g = 0; g < a->groups; g++) sum += sums[g * a->size + s];
        a->sums[(size_t)slot * a->size + s] = sum;
    }
}
#endif

#if DB_INSTANCE_KIND == 0 && !DB_INSTANCE_GENERAL
/* A block's run of pixels of one row, whose terms the threads work out together. */
DB_CUDA_FN void render_row_chunk(kernel_shape shape, const db_cuda_arguments *a) {
    const db_kernel_job *job = &a->job;
    const uint32_t thread = thread_number(), threads = thread_count(), block = block_number(),
                   r = region_of(a->row_start, a->region_count, block);
    const db_region *region = &job->region[r];
    const db_kernel_panel *panel = &job->panel[region->panel];
    const uint32_t chunks = ((uint32_t)region->fast_count + a->row_chunk - 1) / a->row_chunk;
    const uint32_t in_region = block - a->row_start[r], slow = in_region / chunks,
                   first = (in_region - slow * chunks) * a->row_chunk;
    const size_t terms = job->source_count * job->sample_count;
    row_terms row[DB_CUDA_MOST_SUB_ROWS];
    row_term *const term = (row_term *)(void *)block_memory();
    double *const incident = (double *)(void *)(term + (size_t)job->oversample * terms);
    SHAPE_REAL *const polarization =
        (SHAPE_REAL *)(void *)(incident + (size_t)job->oversample * 2 * job->source_count);
    for (int i = 0; i < job->oversample; i++) {
        const double at =
            (region->slow_start + (int)slow + (i + 0.5) * job->sub_pixel) * panel->pixel_size[1];
        row[i].term = term + (size_t)i * terms;
        row[i].incident = incident + (size_t)i * 2 * job->source_count;
        row[i].polarization = polarization + (size_t)i * job->source_count * 3;
        place_row(panel, at, &row[i]);
        for (size_t n = thread; n < terms; n += threads) {
            panel_term whole;
            fill_panel_term(job, panel, n / job->sample_count, n % job->sample_count, &whole,
                            &row[i].term[n]);
            place_term(&whole, at, &row[i].term[n]);
        }
        for (size_t j = thread; j < job->source_count; j += threads)
            fill_row_source(job, panel, j, at, &row[i]);
    }
    block_barrier();
    const size_t start = region->offset + slow * region->stride;
    uint32_t end = first + a->row_chunk;
    if (end > (uint32_t)region->fast_count) end = (uint32_t)region->fast_count;
    for (uint32_t fast = first + thread; fast < end; fast += threads) {
        pixel_sums sums;
        render_row_group(shape, (thermal_mode)job->debye_waller, job, panel, row,
                         region->fast_start + (int)fast, &sums);
        store_intensity(job, start + fast, &sums);
    }
}
#endif

#undef REAL
#undef DIRS
#endif
