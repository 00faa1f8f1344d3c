/* Pixels of samples: which one a thread works on, images, runs of pixels along rows, and rows of the
 * normal equations. */
#ifndef DB_CUDA_SAMPLED_H
#define DB_CUDA_SAMPLED_H

#include "cuda/staged.h"

DB_CUDA_FN void render_pixel(loop_mode mode, const db_cuda_arguments *a, const pixel_place *p,
                             pixel_sums *sums) {
    const db_region *region = p->region;
    if (DB_INSTANCE_KIND == 0 && GENERAL && a->job.region_node) /* images only */
        mode.only_node = a->job.region_node + 3 * (region - a->job.region);
    const db_kernel_panel *const panel = &a->job.panel[region->panel];
    const wide fast = region->fast_start + p->fast, slow = region->slow_start + p->slow;
    if (DB_INSTANCE_KIND > 0 && !GENERAL && a->unlisted) { /* one decision for all samples */
        mode.tabled = 0;
        mode.shifted = 1;
        render_places(mode, &a->job, panel, fast, slow, sums);
    } else {
        render_places(mode, &a->job, panel, fast, slow, sums);
    }
}

/* A block's run of pixels of one row. */
typedef struct {
    const db_region *region;
    uint32_t number, slow, first, end; /* number: of the region */
} row_run;

DB_CUDA_FN row_run run_of_block(const db_cuda_arguments *a) {
    const uint32_t block = block_number(), r = region_of(a->row_start, a->region_count, block);
    row_run run;
    run.number = r;
    run.region = &a->job.region[r];
    const uint32_t pixels = (uint32_t)run.region->fast_count,
                   chunks = (pixels + a->row_chunk - 1) / a->row_chunk,
                   in_region = block - a->row_start[r];
    run.slow = in_region / chunks;
    run.first = (in_region - run.slow * chunks) * a->row_chunk;
    run.end = run.first + a->row_chunk < pixels ? run.first + a->row_chunk : pixels;
    return run;
}

DB_CUDA_FN pixel_place place_in_run(const row_run *run, uint32_t fast) {
    const db_region *const region = run->region;
    pixel_place place = { region, (int)fast, (int)run->slow,
                          region->offset + run->slow * region->stride + fast };
    return place;
}

#if DB_INSTANCE_KIND == 1
DB_CUDA_FN loop_mode still_of(const db_cuda_arguments *a, kernel_shape shape) {
    loop_mode mode = still_mode(&a->job, shape, BY_VECTOR);
    mode.source_double = &a->still.source_double;
    mode.sample_double = &a->still.sample_double;
    mode.source = &a->still.FINE(source);
    mode.sample = &a->still.FINE(sample);
    return mode;
}
#endif

#if DB_INSTANCE_KIND == 0
/* The thread's pixel. */
DB_CUDA_FN void render_image(loop_mode mode, const db_cuda_arguments *a) {
    const uint32_t pixel = block_number() * thread_count() + thread_number();
    if (pixel >= a->pixels) return;
    const pixel_place place = pixel_at(a, pixel);
    pixel_sums sums;
    render_pixel(mode, a, &place, &sums);
    store_intensity(&a->job, place.element, &sums);
}
#else
/* Pixels of a thread: of one row, a block's threads apart. */
typedef struct {
    pixel_place first;
    size_t panel;
    uint32_t count;
    fine loose[STAGED][DB_LOOSE_COLUMNS];
} staged_pixels;

/* floats: the type of the image's pixels */
DB_CUDA_FN void store_staged(int floats, void *image, const staged_pixels *pixels,
                             const fine value[STAGED]) {
    const size_t first = pixels->first.element;
    void *const to = floats ? (void *)((float *)image + first) : (void *)((double *)image + first);
    DB_CUDA_UNROLL
    for (uint32_t p = 0; p < STAGED; p++)
        if (p < pixels->count) store_as(floats, to, p * BLOCK, value[p]);
}

/* The first images are those by the lattice alone, most others those by the panel alone. */
DB_CUDA_FN void store_derivatives(int floats, const db_cuda_arguments *a, staged_pixels *pixels) {
    const uint32_t count = (uint32_t)a->job.parameter_count,
                   lattice = (uint32_t)a->job.lattice_wanted;
    const coefficient_row *row = (const coefficient_row *)a->row + pixels->panel * count;
    fine column[DB_COLUMN_Z][STAGED], slope[STAGED];
    uint32_t k = 0;
    bring_columns(DB_COLUMN_LATTICE, DB_COLUMN_ORIGIN, column);
    DB_CUDA_LOOP
    for (; k < lattice; k++, row++) {
        clear_slopes(slope);
        contract_staged(row, column, DB_COLUMN_LATTICE, DB_COLUMN_ORIGIN, slope);
        store_staged(floats, a->derivative[k], pixels, slope);
    }
    bring_columns(DB_COLUMN_ORIGIN, DB_COLUMN_Z, column);
    DB_CUDA_LOOP
    for (; k < count; k++, row++) {
        clear_slopes(slope);
        if (row->windows == DB_CUDA_WINDOW_PANEL)
            contract_staged(row, column, DB_COLUMN_ORIGIN, DB_COLUMN_Z, slope);
        else
            contract_any(row, pixels->loose, slope);
        store_staged(floats, a->derivative[k], pixels, slope);
    }
}

DB_CUDA_FN void render_staged(loop_mode mode, const db_cuda_arguments *a, staged_pixels *pixels) {
    pixel_place place = pixels->first;
    DB_CUDA_LOOP
    for (uint32_t p = 0; p < pixels->count; p++) {
        pixel_sums sums;
        sums.loose = pixels->loose[p];
        render_pixel(mode, a, &place, &sums);
        store_intensity(&a->job, place.element, &sums);
        stage_columns(&sums, p);
        place.fast += BLOCK;
        place.element += BLOCK;
    }
    if (a->job.pixel_type == DB_FLOAT32) /* one decision for all images */
        store_derivatives(1, a, pixels);
    else
        store_derivatives(0, a, pixels);
}

/* A run that is the thread's pixel alone. */
DB_CUDA_FN row_run run_of_thread(const db_cuda_arguments *a) {
    const uint32_t pixel = block_number() * BLOCK + thread_number();
    row_run run = { a->job.region, 0, 0, 0, 0 };
    if (pixel >= a->pixels) return run;
    run.number = region_of(a->region_start, a->region_count, pixel);
    const uint32_t in_region = pixel - a->region_start[run.number],
                   length = (uint32_t)a->job.region[run.number].fast_count;
    run.slow = in_region / length;
    run.first = in_region - run.slow * length;
    run.end = run.first + 1;
    return run;
}

/* The thread's pixels and their derivatives. General jobs have one, which takes all registers. */
DB_CUDA_FN void render_image(loop_mode mode, const db_cuda_arguments *a) {
    const int along_rows = !GENERAL && a->along_rows;
    row_run run = along_rows ? run_of_block(a) : run_of_thread(a);
    staged_pixels pixels;
    run.region = &a->job.region[run.number]; /* the compiler sees which memory that is */
    DB_CUDA_LOOP
    for (uint32_t fast = run.first + (along_rows ? thread_number() : 0); fast < run.end;
         fast += STAGED * BLOCK) {
        const uint32_t left = (run.end - fast + BLOCK - 1) / BLOCK;
        pixels.first = place_in_run(&run, fast);
        pixels.panel = run.region->panel;
        pixels.count = GENERAL ? 1 : left < STAGED ? left : STAGED;
        render_staged(mode, a, &pixels);
        if (GENERAL) return;
    }
}

/* Quads that hold nothing but columns of the lattice, where these come first. */
enum { WHOLE_QUADS = (DB_COLUMN_ORIGIN - DB_COLUMN_LATTICE) / DB_NORMAL_BLOCK };

/* Rows that are contracted at a time: registers are few in double precision and for general jobs. */
enum { TOGETHER = sizeof(SHAPE_REAL) == sizeof(float) && !GENERAL ? DB_NORMAL_BLOCK : 1 };

/* Quad number b of a pixel's row, of derivatives alone. */
DB_CUDA_FN quad derivatives_of_row(uint32_t b, int lattice_first, const coefficient_row *row,
                                   pixel_weight w, const pixel_sums *sums) {
    enum { LAST = DB_COLUMN_ORIGIN - 1, AT = LAST % DB_NORMAL_BLOCK };
    const int column = lattice_first && b == WHOLE_QUADS; /* AT is the lattice's last */
    const coefficient_row *own[DB_NORMAL_BLOCK];
    int32_t windows = 0;
    quad four;
    DB_CUDA_UNROLL
    for (int i = 0; i < DB_NORMAL_BLOCK; i++) {
        own[i] = row + b * DB_NORMAL_BLOCK + i;
        if (!column || i != AT) windows |= own[i]->windows;
    }
    DB_CUDA_UNROLL
    for (int i = 0; i < DB_NORMAL_BLOCK; i += TOGETHER)
        contract_rows(own + i, TOGETHER, TOGETHER > 1 ? windows : own[i]->windows, sums,
                      four.of + i);
    if (column) four.of[AT] = own[AT]->coefficient[LAST] * sums->column[LAST];
    DB_CUDA_UNROLL
    for (int i = 0; i < DB_NORMAL_BLOCK; i++) four.of[i] = weighted(w, four.of[i]);
    return four;
}

/* Quad number b: the last derivatives, the residual, then zeros. */
DB_CUDA_FN quad end_of_row(const db_cuda_arguments *a, uint32_t b, const coefficient_row *row,
                           fine residual, pixel_weight w, const pixel_sums *sums) {
    const uint32_t images = (uint32_t)a->job.parameter_count;
    quad four;
    DB_CUDA_UNROLL
    for (uint32_t i = 0; i < DB_NORMAL_BLOCK; i++) {
        const uint32_t k = b * DB_NORMAL_BLOCK + i;
        fine value = k == images ? residual : 0;
        if (k < images) value = contract_row(&row[k], sums);
        four.of[i] = k <= images ? weighted(w, value) : 0;
    }
    return four;
}

/* A pixel's row of the normal equations; zeros behind its end, and all of it where the pixel does
 * not count. */
DB_CUDA_FN void write_row(loop_mode mode, const db_cuda_arguments *a, uint32_t pixel, quad *out) {
    const uint32_t length = a->row_length;
    int counts = pixel < a->pixels;
    pixel_place p;
    fine weight = 1;
    if (counts) {
        p = pixel_at(a, pixel);
        weight = weight_at_element(&a->job, p.element);
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
    render_pixel(mode, a, &p, &sums);
    const pixel_weight w = pixel_weight_of(weight, a->job.weight != NULL);
    const coefficient_row *row = rows_of(a, p.region);
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
    const uint32_t whole = (uint32_t)a->job.parameter_count / DB_NORMAL_BLOCK;
    const fine residual = residual_of(&a->job, sums.intensity, data_at_element(&a->job, p.element));
    DB_CUDA_LOOP
    for (; begin < whole; begin++)
        out[begin] = derivatives_of_row(begin, a->lattice_first, row, w, &sums);
    DB_CUDA_LOOP
    for (; begin < length; begin++) out[begin] = end_of_row(a, begin, row, residual, w, &sums);
}

/* A block's slot: the sums of a run of pixels that follow from the slot's number. */
DB_CUDA_FN void sum_slot(loop_mode mode, const db_cuda_arguments *a) {
    const uint32_t thread = thread_number(), threads = thread_count(), slot = block_number(),
                   length = a->row_length;
    quad *const row = (quad *)(void *)(block_memory() + a->groups * a->size);
    const sum_task task = task_of(a, thread);
    const uint64_t rounds = ((uint64_t)a->pixels + threads - 1) / threads;
    clear_sums_of_block(a);
    for (uint64_t n = rounds * slot / a->slots; n < rounds * (slot + 1) / a->slots; n++) {
        block_barrier(); /* the rows of the round before have been read */
        write_row(mode, a, (uint32_t)n * threads + thread, row + thread * length);
        block_barrier();
        add_rows(a, row, &task);
    }
    block_barrier();
    store_slot(a);
}
#endif

#if DB_INSTANCE_KIND == 0 && !DB_INSTANCE_GENERAL
#if !defined(__cplusplus)
_Static_assert(sizeof(row_term) == DB_CUDA_TERM_BYTES, "what the host makes room for");
#endif

/* The block's threads together compute the terms that all pixels of the run share, from sample number `first` on. */
DB_CUDA_FN void place_rows(const loop_mode *mode, const db_kernel_job *job,
                           const db_kernel_panel *panel, int slow, size_t first, row_terms *row) {
    const uint32_t thread = thread_number(), threads = thread_count();
    const size_t terms = mode->sources * mode->samples;
    row_term *const term = (row_term *)(void *)block_memory();
    double *const incident = (double *)(void *)(term + (size_t)mode->oversample * terms);
    SHAPE_REAL *const polarization =
        (SHAPE_REAL *)(void *)(incident + (size_t)mode->oversample * 2 * mode->sources);
    for (int i = 0; i < mode->oversample; i++) {
        const double at = (slow + (i + 0.5) * job->sub_pixel) * panel->pixel_size[1];
        row[i].term = term + (size_t)i * terms;
        row[i].incident = incident + (size_t)i * 2 * mode->sources;
        row[i].polarization = polarization + (size_t)i * mode->sources * 3;
        place_row(panel, at, &row[i]);
        for (size_t n = thread; n < terms; n += threads) {
            panel_term whole;
            fill_panel_term(job, panel, n / mode->samples, first + n % mode->samples, &whole,
                            &row[i].term[n]);
            place_term(&whole, at, &row[i].term[n]);
        }
        for (size_t j = thread; j < mode->sources; j += threads)
            fill_row_source(job, panel, j, at, &row[i]);
    }
    block_barrier();
}

/* Renders the pixels of a run, from sample number `from` on. If terms come in pieces, the block's memory keeps the
 * pixels' sums from one piece to the next. */
DB_CUDA_FN void render_run(loop_mode mode, const db_cuda_arguments *a, const db_kernel_panel *panel,
                           const row_run *run, const row_terms *row, uint32_t from) {
    const db_kernel_job *const job = &a->job;
    const size_t start = run->region->offset + run->slow * run->region->stride;
    const int corner = run->region->fast_start;
    for (uint32_t fast = run->first + thread_number(); fast < run->end; fast += thread_count()) {
        fine *const kept = (fine *)(void *)block_memory() + (a->kept_pixels + fast - run->first);
        pixel_sums sums;
        render_row_places(mode, job, panel, row, corner + (int)fast, &sums);
        if (from) sums.intensity = f_add(*kept, sums.intensity);
        if (from + a->row_samples >= job->sample_count)
            store_intensity(job, start + fast, &sums);
        else
            *kept = sums.intensity;
    }
}

/* One source, sub-pixel and sample, without a Debye-Waller factor: no loops. */
DB_CUDA_FN void render_still_run(kernel_shape shape, const db_cuda_arguments *a) {
    const db_kernel_job *const job = &a->job;
    const row_run run = run_of_block(a);
    const db_kernel_panel panel = job->panel[run.region->panel]; /* read once */
    const loop_mode mode = still_mode(job, shape, ALONG_ROW);
    row_terms row;
    place_rows(&mode, job, &panel, run.region->slow_start + (int)run.slow, 0, &row);
    render_run(mode, a, &panel, &run, &row, 0);
}

DB_CUDA_FN void render_row_run(kernel_shape shape, const db_cuda_arguments *a) {
    const db_kernel_job *const job = &a->job;
    const uint32_t all = (uint32_t)job->sample_count;
    loop_mode mode = mode_of(job, shape, ALONG_ROW);
    row_terms row[DB_CUDA_MOST_SUB_ROWS];
    DB_CUDA_LOOP
    for (uint32_t from = 0; from < all; from += a->row_samples) {
        mode.samples = all - from < a->row_samples ? all - from : a->row_samples;
        if (from) block_barrier();           /* the terms before have been read */
        const row_run run = run_of_block(a); /* found again: registers are few */
        const db_kernel_panel panel = job->panel[run.region->panel];
        place_rows(&mode, job, &panel, run.region->slow_start + (int)run.slow, from, row);
        if (mode.oversample == 1 && !mode.tabled && !mode.thermal) {
            loop_mode plain = mode;
            plain.oversample = 1;
            plain.tabled = plain.thermal = 0;
            render_run(plain, a, &panel, &run, row, from);
        } else {
            render_run(mode, a, &panel, &run, row, from);
        }
    }
}
#endif

#endif
