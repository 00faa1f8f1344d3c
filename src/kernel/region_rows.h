/* Rows of a region: grouping pixels into lanes, contraction of columns with the parameters,
 * storing or summing. */
#ifndef DB_KERNEL_REGION_ROWS_H
#define DB_KERNEL_REGION_ROWS_H

/* Where the pixels of a group are and go. */
typedef struct {
    int count;      /* pixels in use, the rest of the lanes is padding */
    int contiguous; /* 1: only element[0] is given, the others follow it */
    size_t element[LANES];
} group_target;

AD_INLINE size_t element_of(const group_target *target, int i) {
    return target->contiguous ? target->element[0] + (size_t)i : target->element[i];
}

#define REAL SHAPE_REAL
AD_INLINE void store_group(const db_kernel_job *job, const group_target *target, void *buffer,
                           fine value) {
    if (target->contiguous && target->count == LANES) {
        if (job->pixel_type == DB_FLOAT32) {
            float *const out = (float *)buffer + target->element[0];
#if defined(DB_INSTANCE_PRECISION_MIXED)
            if (job->streaming)
                vec_stream_float(out, value);
            else
                l_store(out, value);
#else
            for (int i = 0; i < LANES; i++) out[i] = (float)value[i];
#endif
            return;
        }
#if !defined(DB_INSTANCE_PRECISION_MIXED)
        l_store((double *)buffer + target->element[0], value);
        return;
#endif
    }
    SHAPE_REAL pixel[LANES];
    l_store(pixel, value);
    for (int i = 0; i < target->count; i++) {
        const size_t element = element_of(target, i);
        if (job->pixel_type == DB_FLOAT32)
            ((float *)buffer)[element] = (float)pixel[i];
        else
            ((double *)buffer)[element] = (double)pixel[i];
    }
}

#if DB_INSTANCE_KIND > 0
/* Columns times coefficients. The lengths of runs repeat from group to group, so that one jump is
 * well predicted where the ends of many short loops are not. */
AD_INLINE fine contract(const db_kernel_contraction *contraction, const pixel_sums *sums) {
    const SHAPE_REAL *c = contraction->FINE(coefficient);
    const fine *column = &sums->column[contraction->first_column];
    fine slope = fine_set(0);
    switch (contraction->columns) {
        /* clang-format off */
#define DB_RUN(n) \
    case n: slope = l_fma(l_set(c[n - 1]), column[n - 1], slope); __attribute__((fallthrough));
        DB_RUN(14) DB_RUN(13) DB_RUN(12) DB_RUN(11) DB_RUN(10) DB_RUN(9) DB_RUN(8) DB_RUN(7) DB_RUN(6)
        DB_RUN(5) DB_RUN(4) DB_RUN(3) DB_RUN(2) DB_RUN(1)
#undef DB_RUN
    default: break;
        /* clang-format on */
    }
    return slope;
}
#undef REAL
#include "kernel/normal_rows.h"
#define REAL SHAPE_REAL
#else
typedef struct normal_run normal_run; /* forward instances have none */
#endif

/* run: NULL where images are stored */
AD_INLINE int group_wanted(const db_kernel_job *job, const group_target *target,
                           const normal_run *run) {
#if DB_INSTANCE_KIND > 0
    return !run || !job->weight || job->weight[element_of(target, 0)] != 0 ||
           group_counts(job, target);
#else
    (void)job, (void)target, (void)run;
    return 1;
#endif
}

/* Gradients: called, so that what becomes of the columns does not disturb how the compiler arranges
 * the loop that makes them. */
#if DB_INSTANCE_KIND > 0
#define DB_FINISH_FN static __attribute__((noinline))
#else
#define DB_FINISH_FN AD_INLINE
#endif

DB_FINISH_FN void finish_group(const db_kernel_job *job, const db_region *region,
                               const pixel_sums *sums, const group_target *target,
                               normal_run *run) {
#if DB_INSTANCE_KIND > 0
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    if (run) {
        add_group(job, contraction, sums, target, run);
        return;
    }
    for (size_t k = 0; k < job->parameter_count; k++)
        store_group(job, target, job->derivative[k], contract(&contraction[k], sums));
#else
    (void)region, (void)run;
#endif
    store_group(job, target, job->image, l_mul(sums->intensity, fine_set(job->scale)));
}
#undef REAL

/* Lanes along a row; the last group of a row may hang over its end. */
AD_INLINE void render_long_rows(kernel_shape shape, int general, const db_kernel_job *job,
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
            render_group(shape, general, job, panel,
                         l_add_double(l_iota_double(), l_set_double(region->fast_start + column)),
                         l_set_double(region->slow_start + row), &sums);
            finish_group(job, region, &sums, &target, run);
        }
}

#if DB_INSTANCE_KIND == 0 && !DB_INSTANCE_GENERAL
/* The same with what a row's pixels have in common worked out beforehand; plain jobs. */
AD_INLINE void render_rows_by_terms(kernel_shape shape, int along_row, const db_kernel_job *job,
                                    const db_region *region, int row_begin, int row_end) {
    const db_kernel_panel *panel = &job->panel[region->panel];
    tile_terms tile;
    group_target target = { 0, 1, { 0 } };
    fill_panel_terms(job, panel, &tile);
    for (int row = row_begin; row < row_end; row++) {
        for (int i = 0; i < job->oversample; i++)
            fill_row(job, panel,
                     (region->slow_start + row + (i + 0.5) * job->sub_pixel) * panel->pixel_size[1],
                     i, &tile);
        for (int column = 0; column < region->fast_count; column += LANES) {
            const int left = region->fast_count - column;
            target.count = left < LANES ? left : LANES;
            target.element[0] = region->offset + (size_t)row * region->stride + (size_t)column;
            pixel_sums sums;
            render_row_group(
                shape, along_row, job, panel, tile.row,
                l_add_double(l_iota_double(), l_set_double(region->fast_start + column)), &sums);
            finish_group(job, region, &sums, &target, NULL);
        }
    }
}

#endif

/* Lanes over the pixels of several rows, for regions too narrow to fill lanes along a row. */
AD_INLINE void render_short_rows(kernel_shape shape, int general, const db_kernel_job *job,
                                 const db_region *region, int row_begin, int row_end,
                                 normal_run *run) {
    const db_kernel_panel *panel = &job->panel[region->panel];
    group_target target = { 0, 0, { 0 } };
    int row = row_begin, column = 0;
    while (row < row_end) {
        double fast[LANES], slow[LANES];
        target.count = 0;
        for (int i = 0; i < LANES; i++) {
            fast[i] = region->fast_start + column;
            slow[i] = region->slow_start + row;
            if (row >= row_end) continue; /* padding repeats the first pixel after the end */
            target.element[target.count++] =
                region->offset + (size_t)row * region->stride + (size_t)column;
            if (++column == region->fast_count) {
                column = 0;
                row++;
            }
        }
        if (!group_wanted(job, &target, run)) continue;
        pixel_sums sums;
        render_group(shape, general, job, panel, l_load_double(fast), l_load_double(slow), &sums);
        finish_group(job, region, &sums, &target, run);
    }
}

AD_INLINE void render_rows_of(kernel_shape shape, int general, const db_kernel_job *job,
                              const db_region *region, int row_begin, int row_end,
                              normal_run *run) {
#if DB_INSTANCE_KIND == 0 && !DB_INSTANCE_GENERAL
    if (job->oversample <= DB_MOST_SUB_ROWS &&
        job->source_count * job->sample_count <= DB_MOST_ROW_TERMS &&
        (INDEX_SHIFT == 0 || db_offsets_suffice(job))) {
        (void)run;
        if (job->debye_waller)
            render_rows_by_terms(shape, ALONG_ROW_THERMAL, job, region, row_begin, row_end);
        else
            render_rows_by_terms(shape, ALONG_ROW, job, region, row_begin, row_end);
        return;
    }
#endif
    if (region->fast_count % LANES == 0 || region->fast_count > 8 * LANES)
        render_long_rows(shape, general, job, region, row_begin, row_end, run);
    else
        render_short_rows(shape, general, job, region, row_begin, row_end, run);
}

/* In instances for plain jobs one specialization per shape, so that the choice costs nothing
 * inside. Of more than eight GCC would make one for all; flat spots are always cut off where they
 * end. */
AD_INLINE void render_shape(const db_kernel_job *job, const db_region *region, int row_begin,
                            int row_end, normal_run *run) {
    kernel_shape shape = (kernel_shape)job->shape;
#if DB_INSTANCE_GENERAL
    if (job->cuts) shape = (kernel_shape)(shape | KERNEL_CUT);
    render_rows_of(shape, 1, job, region, row_begin, row_end, run);
#else
    if (job->few_cells && DB_INSTANCE_KIND < 2)
        shape = KERNEL_FEW_CELLS;
    else if (job->cuts)
        shape = (kernel_shape)(shape | KERNEL_CUT);
    switch ((int)shape) {
#define DB_SHAPE_ROWS(constant)                                                                    \
    case constant:                                                                                 \
        render_rows_of((kernel_shape)(constant), 0, job, region, row_begin, row_end, run);         \
        break;
        DB_SHAPE_ROWS(KERNEL_SQUARE)
        DB_SHAPE_ROWS(KERNEL_ROUND)
        DB_SHAPE_ROWS(KERNEL_GAUSS)
        DB_SHAPE_ROWS(KERNEL_SQUARE | KERNEL_CUT)
        DB_SHAPE_ROWS(KERNEL_ROUND | KERNEL_CUT)
        DB_SHAPE_ROWS(KERNEL_GAUSS | KERNEL_CUT)
        DB_SHAPE_ROWS(KERNEL_TOPHAT | KERNEL_CUT)
#if DB_INSTANCE_KIND < 2
        DB_SHAPE_ROWS(KERNEL_FEW_CELLS)
#endif
    default: break;
#undef DB_SHAPE_ROWS
    }
#endif
}

/* sums: NULL where images are stored */
static void render_rows(const db_kernel_job *job, const db_region *region, int row_begin,
                        int row_end, double *sums) {
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
    render_shape(job, region, row_begin, row_end, run);
#if DB_INSTANCE_KIND > 0
    if (run && run->rows) add_run(run);
#endif
    if (job->streaming) vec_stream_end();
}

#endif
