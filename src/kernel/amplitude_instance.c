/* Derivatives by structure factors, of any job with sampled spots; one instance per instruction set and
 * precision, see kernel/instance.c. The pixels of a region's rows fill lanes one after another. */
#include "kernel/region_rows.h"

static void sum_rows(const db_kernel_job *job, const db_region *region, int row_begin, int row_end,
                     db_amplitude_sums *amplitudes) {
    const db_kernel_panel *panel = &job->panel[region->panel];
    group_target target = { 0, 0, { 0 } };
    int row = row_begin, column = 0;
    double fast[LANES], slow[LANES];
    while (next_pixels(region, row_end, &row, &column, fast, slow, &target)) {
        pixel_sums sums;
        sums.amplitudes = amplitudes;
        if (amplitudes) {
            sums.cotangent = load_cotangent(job, &target);
            if (all_zero(sums.cotangent)) continue;
        }
        render_group(shape_of(job), job, panel, w_load(fast), w_load(slow), &sums);
        if (!amplitudes)
            store_pixels(job, &target, job->image, f_mul(sums.intensity, f_set(job->scale)));
    }
}

#define INSTANCE_NAME_(tag) db_kernel_##tag
#define INSTANCE_NAME(tag) INSTANCE_NAME_(tag)
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                    double *sums, void *room);
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                    double *sums, void *room) {
    (void)sums;
    for (size_t t = 0; t < tiles; t++)
        sum_rows(job, &job->region[tile[t].region], tile[t].row_begin, tile[t].row_end, room);
}
