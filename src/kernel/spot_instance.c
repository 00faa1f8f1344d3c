/* Pixels of spots in closed form, one instance per instruction set, precision and kind (image or
 * gradient); see kernel/instance.c. */
#include "kernel/spot_pixels.h"

#define INSTANCE_NAME_(tag) db_kernel_##tag
#define INSTANCE_NAME(tag) INSTANCE_NAME_(tag)
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                    double *sums, void *room);
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                    double *sums, void *room) {
    struct fixed {
        wide_vec3 direction[SPOT_BAND];
        fine sum[SPOT_BAND];
        site place[SPOT_BAND];
        beam_point beam[SPOT_BAND];
        pixel_sums sums[SPOT_BAND];
#if DB_INSTANCE_KIND > 0
        fine by_d[SPOT_BAND][3], by_omega[SPOT_BAND];
        spot_hits hits;
        fine cotangent[SPOT_BAND];
#endif
    } *const fixed = (struct fixed *)(void *)((char *)room + db_spot_numbers(job));
    _Static_assert(sizeof *fixed <= DB_SPOT_FIXED_ROOM, "the room holds it");
    spot_room own = {
        .reach = room,
        .number = (uint32_t *)((unsigned long *)room + job->spots.most + 1),
        .direction = fixed->direction,
        .sum = fixed->sum,
        .place = fixed->place,
        .beam = fixed->beam,
        .sums = fixed->sums,
#if DB_INSTANCE_KIND > 0
        .by_d = fixed->by_d,
        .by_omega = fixed->by_omega,
        .hits = &fixed->hits,
        .cotangent = fixed->cotangent,
        .gradient = sums,
#endif
        .slope = (fine *)(void *)((char *)fixed + DB_SPOT_FIXED_ROOM),
    };
    normal_run *run = NULL;
#if DB_INSTANCE_KIND > 0
    normal_run normal;
    spot_products *products = NULL;
    if (sums) {
        enum { ROOM = NORMAL_RUN * (DB_NORMAL_MOST + 1) };
        normal.sums = sums;
        normal.length = job->parameter_count + 1;
        normal.rows = 0;
        normal.most = (int)(ROOM / normal.length < NORMAL_RUN ? ROOM / normal.length : NORMAL_RUN);
        run = &normal;
        if (!job->cotangent)
            products = (spot_products *)(void *)((char *)own.slope + db_spot_slope_room(job));
        _Static_assert(sizeof *products <= DB_SPOT_PRODUCT_ROOM, "the room holds it");
    }
#else
    (void)sums;
#endif
    for (size_t t = 0; t < tiles; t++) {
#if DB_INSTANCE_KIND > 0
        const size_t panel = job->region[tile[t].region].panel;
        if (products && (t == 0 || panel != products->panel)) {
            if (own.products) end_products(job, products);
            own.products = begin_products(job, panel, sums, products) ? products : NULL;
        }
#endif
        render_spot_rows(job, tile[t].region, tile[t].row_begin, tile[t].row_end, &own, run);
    }
#if DB_INSTANCE_KIND > 0
    if (run && run->rows) end_run(job, run);
    if (own.products) end_products(job, products);
#endif
    if (job->streaming) vec_stream_end();
}
