/* Pixels of samples: which one a thread works on, images, runs of pixels along rows, and rows of the
 * normal equations. */
#ifndef DB_CUDA_SAMPLED_H
#define DB_CUDA_SAMPLED_H

#include "cuda/pixel.h"

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

DB_CUDA_FN void render_pixel(kernel_shape shape, const db_cuda_arguments *a, const pixel_place *p,
                             pixel_sums *sums) {
    const db_region *region = p->region;
    loop_mode mode = mode_of(&a->job, shape, BY_VECTOR);
    if (GENERAL && a->job.region_node)
        mode.only_node = a->job.region_node + 3 * (region - a->job.region);
    render_places(mode, &a->job, &a->job.panel[region->panel], region->fast_start + p->fast,
                  region->slow_start + p->slow, sums);
}

#if DB_INSTANCE_KIND > 0
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
        if (a->job.weight) weight = ((const float *)a->job.weight)[p.element];
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
                value = weighted(w, residual_of(&a->job, sums.intensity,
                                                ((const float *)a->job.data)[p.element]));
            four.of[i] = value;
        }
        out[b] = four;
    }
}

/* A block's slot: the sums of a run of pixels that follow from the slot's number. */
DB_CUDA_FN void sum_slot(kernel_shape shape, const db_cuda_arguments *a) {
    const uint32_t thread = thread_number(), threads = thread_count(), slot = block_number(),
                   length = a->row_length;
    double *const sums = sums_of_block(a);
    quad *const row = (quad *)(void *)(sums + a->groups * a->size);
    const uint64_t rounds = ((uint64_t)a->pixels + threads - 1) / threads;
    for (uint32_t s = thread; s < a->groups * a->size; s += threads) sums[s] = 0;
    for (uint64_t n = rounds * slot / a->slots; n < rounds * (slot + 1) / a->slots; n++) {
        block_barrier(); /* the rows of the round before have been read */
        write_row(shape, a, (uint32_t)n * threads + thread, row + thread * length);
        block_barrier();
        add_rows(a, row, sums);
    }
    block_barrier();
    store_slot(a, sums);
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

#endif
