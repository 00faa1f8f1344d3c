/* The spots that reach a warp's pixels, and their sum in each thread's pixel. Include after kernel/spot_lanes.h. */
#ifndef DB_CUDA_SPOT_LIST_H
#define DB_CUDA_SPOT_LIST_H

#include "cuda/pixel.h"

#if defined(DB_INSTANCE_PRECISION_MIXED)
enum { SPOT_SLOPES = DB_CUDA_SPOT_SLOPES };
#else
enum { SPOT_SLOPES = DB_CUDA_DOUBLE_SPOT_SLOPES };
#endif

/* Spots that may reach a warp's pixels. All its threads read the same spot at a time. */
typedef struct {
    const db_kernel_spots *spots;
    const uint32_t *number; /* [count]: which they are */
    uint32_t count;
    int background; /* 1: the background is to be added, too */
    uint32_t pass;  /* of the parameters whose slopes are wanted */
} spot_list;

#if DB_INSTANCE_KIND > 0
/* Slopes by the parameters of the pass. All indices are constants, so that slopes and columns stay in registers. */
AD_INLINE void spot_slopes(int moves, const spot_list *list, uint32_t number, const fine *column,
                           fine *slope) {
    enum { QUADS = SPOT_SLOPES / DB_NORMAL_BLOCK };
    const int length = moves ? (int)DB_SPOT_COLUMNS_MOVING : (int)DB_SPOT_COLUMNS;
    const uint32_t passes =
        DB_CUDA_SPOT_PASSES((uint32_t)list->spots->parameters, (uint32_t)SPOT_SLOPES);
    const quad *four = (const quad *)(const void *)list->spots->FINE(slope) +
                       (size_t)(number * passes + list->pass) * (size_t)(length * QUADS);
    if (!passes) return;
    DB_CUDA_UNROLL
    for (int c = 0; c < length; c++) {
        DB_CUDA_UNROLL
        for (int q = 0; q < QUADS; q++) {
            const quad coefficient = four[c * QUADS + q];
            DB_CUDA_UNROLL
            for (int i = 0; i < DB_NORMAL_BLOCK; i++)
                slope[q * DB_NORMAL_BLOCK + i] =
                    f_fma(coefficient.of[i], column[c], slope[q * DB_NORMAL_BLOCK + i]);
        }
    }
}
#endif

/* Spots number begin to end - 1 of the list, at one point. sum: without the beam's factors. */
AD_INLINE void add_spots(spot_motion motion, const spot_list *list, uint32_t begin, uint32_t end,
                         const site *place, beam_point *beam, fine *sum, fine *slope) {
    DB_CUDA_LOOP
    for (uint32_t i = begin; i < end; i++) {
        const uint32_t number = list->number[i];
        const db_kernel_spot *spot = &list->spots->spot[number];
        const spot_constants constants = constants_of(spot);
        lane_spot s;
        if (!spot_in_lanes(motion, spot, &constants, place->wide_d, &s)) continue;
        *sum = f_fma(f_set(spot->FINE(value)[DB_SPOT_AMPLITUDE]), s.g, *sum);
#if DB_INSTANCE_KIND > 0
        fine column[DB_SPOT_COLUMNS_MOVING];
        __asm__ volatile("" ::: "memory"); /* W is read again: registers are scarce here */
        const spot_constants again = constants_of(spot);
        spot_columns(motion, spot, &again, &s, beam->factor, column, beam->by_d);
        spot_slopes((int)motion, list, number, column, slope);
#else
        (void)beam, (void)slope;
#endif
    }
}

/* Adds all beams at one point. */
AD_INLINE void add_spot_site(spot_motion motion, const db_kernel_job *job,
                             const db_kernel_panel *panel, const spot_list *list, const site *place,
                             pixel_sums *sums, fine *slope) {
    const uint32_t beams = job->spots.one_beam ? 1 : (uint32_t)job->source_count;
    fine by_d[3] = { f_set(0), f_set(0), f_set(0) }, by_omega = f_set(0);
    uint32_t begin = 0;
    for (uint32_t j = 0; j < beams; j++) {
        uint32_t end = job->spots.one_beam ? list->count : begin;
        while (end < list->count && list->spots->spot[list->number[end]].source == j) end++;
        if (end > begin || list->background) {
            beam_point beam;
            fine sum = f_set(0);
            begin_beam(job, place, j, &beam);
            add_spots(motion, list, begin, end, place, &beam, &sum, slope);
            end_beam(job, place, j, list->background, &beam, sum, sums, by_d, &by_omega);
        }
        begin = end;
    }
#if DB_INSTANCE_KIND > 0
    add_site_slopes(0, job, panel, place, by_d, by_omega, sums);
#else
    (void)panel;
#endif
}

/* Adds all points of a pixel; fast, slow: its numbers. */
AD_INLINE void add_spot_sites(spot_motion motion, const db_kernel_job *job,
                              const db_kernel_panel *panel, const spot_list *list, int fast,
                              int slow, pixel_sums *sums, fine *slope) {
    const double step = job->sub_pixel;
    for (int i = 0; i < job->oversample; i++)
        for (int j = 0; j < job->oversample; j++) {
            const site place =
                site_of(job, panel, 0, (fast + (j + 0.5) * step) * panel->pixel_size[0],
                        (slow + (i + 0.5) * step) * panel->pixel_size[1]);
            add_spot_site(motion, job, panel, list, &place, sums, slope);
        }
}

#endif
