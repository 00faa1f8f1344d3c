/* Rows of a region: grouping pixels into lanes, contraction of columns with the parameters, storing
 * or summing. */
#ifndef DB_KERNEL_REGION_ROWS_H
#define DB_KERNEL_REGION_ROWS_H

#include "kernel/contraction.h"
#include "kernel/normal_rows.h"
#include "kernel/pixel_group.h"
#include "kernel/pixel_store.h"

/* Gradient instances: not inlined, so that the code that uses the columns does not disturb how the
 * compiler arranges the loop that computes them. */
#if DB_INSTANCE_KIND > 0
#define DB_FINISH_FN static __attribute__((noinline))
#else
#define DB_FINISH_FN AD_INLINE
#endif

AD_INLINE void store_images(store_kind kind, const db_kernel_job *job, const db_region *region,
                            const pixel_sums *sums, const group_target *target) {
#if DB_INSTANCE_KIND > 0
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    const size_t lattice = job->lattice_wanted, singles = lattice + job->single_wanted;
    fine column[DB_LATTICE_COLUMNS];
    for (int c = 0; c < DB_LATTICE_COLUMNS; c++) column[c] = sums->column[DB_COLUMN_LATTICE + c];
    size_t k = 0;
    if (job->tangent) {
        store_group(kind, job, target, job->derivative[0], tangent_of(job, contraction, sums));
        k = job->parameter_count;
    }
    for (; k < lattice; k++)
        store_group(kind, job, target, job->derivative[k],
                    contract_lattice(&contraction[k], column));
    for (; k < singles; k++)
        store_group(kind, job, target, job->derivative[k], contract_single(&contraction[k], sums));
    for (; k < job->parameter_count; k++)
        store_group(kind, job, target, job->derivative[k], contract(&contraction[k], sums));
#else
    (void)region;
#endif
    store_group(kind, job, target, job->image, f_mul(sums->intensity, f_set(job->scale)));
}

DB_FINISH_FN void finish_group(const db_kernel_job *job, const db_region *region,
                               const pixel_sums *sums, const group_target *target,
                               normal_run *run) {
#if DB_INSTANCE_KIND > 0
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    if (run && !job->cotangent) {
        add_group(job, contraction, sums, target, run);
        return;
    }
    if (run) {
        add_cotangent_group(job, contraction, sums, load_cotangent(job, target), run);
        if (!job->image) return;
        store_group(store_kind_of(job, target), job, target, job->image,
                    f_mul(sums->intensity, f_set(job->scale)));
        return;
    }
#else
    (void)run;
#endif
    switch (store_kind_of(job, target)) {
    case STORE_PIXELS: store_images(STORE_PIXELS, job, region, sums, target); break;
    case STORE_FLOATS: store_images(STORE_FLOATS, job, region, sums, target); break;
    case STORE_STREAM: store_images(STORE_STREAM, job, region, sums, target); break;
    }
}

/* Lanes along a row; the last group of a row may hang over its end. */
AD_INLINE void render_long_rows(kernel_shape shape, const db_kernel_job *job,
                                const db_region *region, int row_begin, int row_end,
                                normal_run *run) {
    const db_kernel_panel *panel = &job->panel[region->panel];
    group_target target = { 0, 1, { 0 } };
    for (int row = row_begin; row < row_end; row++)
        for (int column = 0; column < region->fast_count; column += LANES) {
            const int left = region->fast_count - column;
            target.count = left < LANES ? left : LANES;
            target.element[0] = region->offset + (size_t)row * region->stride + (size_t)column;
            if (!group_wanted(job, &target, run)) continue;
            pixel_sums sums;
            render_group(shape, job, panel, w_add(w_iota(), w_set(region->fast_start + column)),
                         w_set(region->slow_start + row), &sums);
            finish_group(job, region, &sums, &target, run);
        }
}

/* The next LANES pixels of rows [.., row_end) of a region, row after row; the last group is padded. 0: no pixels
 * are left. */
AD_INLINE int next_pixels(const db_region *region, int row_end, int *row, int *column,
                          double fast[LANES], double slow[LANES], group_target *target) {
    const long left = (long)(row_end - *row) * region->fast_count - *column;
    target->count = left < LANES ? (int)left : LANES;
    target->contiguous = region->stride == (size_t)region->fast_count;
    target->element[0] = region->offset + (size_t)*row * region->stride + (size_t)*column;
    for (int i = 0; i < LANES; i++) {
        fast[i] = region->fast_start + *column;
        slow[i] = region->slow_start + *row;
        if (!target->contiguous)
            target->element[i] = region->offset + (size_t)*row * region->stride + (size_t)*column;
        if (++*column == region->fast_count) {
            *column = 0;
            ++*row;
        }
    }
    return left > 0;
}

/* Lanes over the pixels of several rows, for regions too narrow to fill lanes along a row. */
AD_INLINE void render_short_rows(kernel_shape shape, const db_kernel_job *job,
                                 const db_region *region, int row_begin, int row_end,
                                 normal_run *run) {
    const db_kernel_panel *panel = &job->panel[region->panel];
    group_target target = { 0, 0, { 0 } };
    int row = row_begin, column = 0;
    double fast[LANES], slow[LANES];
    while (next_pixels(region, row_end, &row, &column, fast, slow, &target)) {
        if (!group_wanted(job, &target, run)) continue;
        pixel_sums sums;
        render_group(shape, job, panel, w_load(fast), w_load(slow), &sums);
        finish_group(job, region, &sums, &target, run);
    }
}

/* 0: lanes are better filled from several rows */
AD_INLINE int rows_fill_lanes(const db_region *region) {
    return region->fast_count % LANES == 0 || region->fast_count > 8 * LANES;
}

/* The numbers of sources, sub-pixels and samples. ONE_EACH: images of plain jobs with one of each, without loops. */
typedef enum { ANY_NUMBER, ONE_EACH } loop_lengths;

#if !DB_INSTANCE_GENERAL
/* For plain jobs: computes what a row's pixels share beforehand (kernel/row.h). */
AD_INLINE void render_long_rows_by_terms(kernel_shape shape, thermal_mode thermal,
                                         loop_lengths loops, const db_kernel_job *job,
                                         const db_region *region, int row_begin, int row_end,
                                         tile_terms *tile, normal_run *run) {
    const db_kernel_panel *panel = &job->panel[region->panel];
    group_target target = { 0, 1, { 0 } };
    for (int row = row_begin; row < row_end; row++) {
        for (int i = 0; i < job->oversample; i++)
            fill_row(job, panel,
                     (region->slow_start + row + (i + 0.5) * job->sub_pixel) * panel->pixel_size[1],
                     i, tile);
        for (int column = 0; column < region->fast_count; column += LANES) {
            const int left = region->fast_count - column;
            target.count = left < LANES ? left : LANES;
            target.element[0] = region->offset + (size_t)row * region->stride + (size_t)column;
            if (!group_wanted(job, &target, run)) continue;
            pixel_sums sums;
            const wide fast = w_add(w_iota(), w_set(region->fast_start + column));
#if DB_INSTANCE_KIND == 0
            if (loops == ONE_EACH)
                render_still_group(shape, job, panel, tile->row, fast, &sums);
            else
#endif
                (void)loops, render_row_group(shape, thermal, job, panel, tile->row, fast, &sums);
            finish_group(job, region, &sums, &target, run);
        }
    }
}

AD_INLINE void render_short_rows_by_terms(kernel_shape shape, const db_kernel_job *job,
                                          const db_region *region, int row_begin, int row_end,
                                          const tile_terms *tile, normal_run *run) {
    const db_kernel_panel *panel = &job->panel[region->panel];
    group_target target = { 0, 0, { 0 } };
    int row = row_begin, column = 0;
    double fast[LANES], slow[LANES];
    while (next_pixels(region, row_end, &row, &column, fast, slow, &target)) {
        if (!group_wanted(job, &target, run)) continue;
        pixel_sums sums;
        render_rows_group(shape, job, panel, tile, w_load(fast), w_load(slow), &sums);
        finish_group(job, region, &sums, &target, run);
    }
}

AD_INLINE int terms_fit(const db_kernel_job *job) {
    return job->oversample <= DB_MOST_SUB_ROWS &&
           job->source_count * job->sample_count <= DB_MOST_ROW_TERMS &&
           (INDEX_SHIFT == 0 || db_offsets_suffice(job));
}

AD_INLINE void render_rows_by_terms(kernel_shape shape, const db_kernel_job *job,
                                    const db_region *region, int row_begin, int row_end, void *room,
                                    normal_run *run) {
    tile_terms tile = { 0 };
    furnish(job, room, &tile);
    fill_panel_terms(job, &job->panel[region->panel], &tile);
    if (!rows_fill_lanes(region))
        render_short_rows_by_terms(shape, job, region, row_begin, row_end, &tile, run);
    else if (job->debye_waller) /* apart, so that other jobs do not test for it at every source */
        render_long_rows_by_terms(shape, WITH_DEBYE_WALLER, ANY_NUMBER, job, region, row_begin,
                                  row_end, &tile, run);
    else
        render_long_rows_by_terms(shape, WITHOUT_DEBYE_WALLER, ANY_NUMBER, job, region, row_begin,
                                  row_end, &tile, run);
}
#endif

AD_INLINE void render_rows_of(kernel_shape shape, const db_kernel_job *job, const db_region *region,
                              int row_begin, int row_end, void *room, normal_run *run) {
#if DB_INSTANCE_GENERAL
    (void)room;
#else
    if (terms_fit(job)) {
        render_rows_by_terms(shape, job, region, row_begin, row_end, room, run);
        return;
    }
#endif
    if (rows_fill_lanes(region))
        render_long_rows(shape, job, region, row_begin, row_end, run);
    else
        render_short_rows(shape, job, region, row_begin, row_end, run);
}

#if DB_INSTANCE_GENERAL || DB_SAMPLE_LOOPS
AD_INLINE void render_shape(const db_kernel_job *job, const db_region *region, int row_begin,
                            int row_end, void *room, normal_run *run) {
    render_rows_of(shape_of(job), job, region, row_begin, row_end, room, run);
}
#else
/* Images of plain jobs: one specialization per shape, so that the loop does not choose, and one more for stills
 * whose rows fill lanes, without loops over sources and samples. They are separate functions, since the compiler
 * would merge them otherwise. TOPHAT spots always end at their edge. */
AD_INLINE void render_still_rows(kernel_shape shape, const db_kernel_job *job,
                                 const db_region *region, int row_begin, int row_end, void *room,
                                 normal_run *run) {
    tile_terms tile = { 0 };
    furnish(job, room, &tile);
    fill_panel_terms(job, &job->panel[region->panel], &tile);
    render_long_rows_by_terms(shape, WITHOUT_DEBYE_WALLER, ONE_EACH, job, region, row_begin,
                              row_end, &tile, run);
}

#define DB_SHAPE_ROWS_OF(name, render, shape)                                                      \
    static __attribute__((noinline)) void name(const db_kernel_job *job, const db_region *region,  \
                                               int row_begin, int row_end, void *room,             \
                                               normal_run *run) {                                  \
        render((kernel_shape)(shape), job, region, row_begin, row_end, room, run);                 \
    }
#define DB_SHAPE_ROWS(name, shape)                                                                 \
    DB_SHAPE_ROWS_OF(name##_rows, render_rows_of, shape)                                           \
    DB_SHAPE_ROWS_OF(name##_still_rows, render_still_rows, shape)
DB_SHAPE_ROWS(square, KERNEL_SQUARE)
DB_SHAPE_ROWS(round, KERNEL_ROUND)
DB_SHAPE_ROWS(gauss, KERNEL_GAUSS)
DB_SHAPE_ROWS(few_cells, KERNEL_FEW_CELLS)
DB_SHAPE_ROWS(square_cut, KERNEL_SQUARE | KERNEL_CUT)
DB_SHAPE_ROWS(round_cut, KERNEL_ROUND | KERNEL_CUT)
DB_SHAPE_ROWS(gauss_cut, KERNEL_GAUSS | KERNEL_CUT)
DB_SHAPE_ROWS(tophat_cut, KERNEL_TOPHAT | KERNEL_CUT)
#undef DB_SHAPE_ROWS
#undef DB_SHAPE_ROWS_OF

AD_INLINE int is_still(const db_kernel_job *job, const db_region *region) {
    return job->source_count == 1 && job->sample_count == 1 && job->oversample == 1 &&
           !job->debye_waller && rows_fill_lanes(region) && terms_fit(job);
}

AD_INLINE void render_shape(const db_kernel_job *job, const db_region *region, int row_begin,
                            int row_end, void *room, normal_run *run) {
    switch ((int)shape_of(job)) {
#define DB_SHAPE_CASE(name, shape)                                                                 \
    case shape:                                                                                    \
        (is_still(job, region) ? name##_still_rows : name##_rows)(job, region, row_begin, row_end, \
                                                                  room, run);                      \
        break;
        DB_SHAPE_CASE(square, KERNEL_SQUARE)
        DB_SHAPE_CASE(round, KERNEL_ROUND)
        DB_SHAPE_CASE(gauss, KERNEL_GAUSS)
        DB_SHAPE_CASE(few_cells, KERNEL_FEW_CELLS)
        DB_SHAPE_CASE(square_cut, KERNEL_SQUARE | KERNEL_CUT)
        DB_SHAPE_CASE(round_cut, KERNEL_ROUND | KERNEL_CUT)
        DB_SHAPE_CASE(gauss_cut, KERNEL_GAUSS | KERNEL_CUT)
        DB_SHAPE_CASE(tophat_cut, KERNEL_TOPHAT | KERNEL_CUT)
#undef DB_SHAPE_CASE
    default: break;
    }
}
#endif

/* sums: NULL where images are stored */
static __attribute__((unused)) void render_rows(const db_kernel_job *job, const db_region *region,
                                                int row_begin, int row_end, double *sums,
                                                void *room) {
    normal_run *run = NULL;
#if DB_INSTANCE_KIND > 0
    normal_run normal;
    if (sums) {
        normal.sums = sums;
        normal.length = job->parameter_count + 1;
        normal.rows = 0;
        run = &normal;
    }
#else
    (void)sums;
#endif
    render_shape(job, region, row_begin, row_end, room, run);
#if DB_INSTANCE_KIND > 0
    if (run && run->rows) end_run(job, run);
#endif
    if (job->streaming) vec_stream_end();
}

#endif
