/* Spots in a block's memory, and what a thread makes of them. Include after kernel/spot_lanes.h. */
#ifndef DB_CUDA_SPOT_LIST_H
#define DB_CUDA_SPOT_LIST_H

#include "cuda/pixel.h"

#if defined(DB_INSTANCE_PRECISION_MIXED)
enum { SPOT_SLOPES = DB_CUDA_SPOT_SLOPES };
#else
enum { SPOT_SLOPES = DB_CUDA_DOUBLE_SPOT_SLOPES };
#endif
enum { REST_QUADS = (DB_SPOT_COLUMNS + DB_NORMAL_BLOCK - 1) / DB_NORMAL_BLOCK };
enum { MOVE_QUADS = (DB_SPOT_COLUMNS_MOVING + DB_NORMAL_BLOCK - 1) / DB_NORMAL_BLOCK };

/* Spots that a thread's pixel may see. */
typedef struct {
    const db_kernel_spot *spot;
    const quad *slope; /* [spot][SPOT_SLOPES][quads] */
    int count;
    uint32_t reach; /* bit i: spot number i reaches the pixel */
    int background; /* 1: the background is to be added, too */
} spot_list;

#if DB_INSTANCE_KIND > 0
/* By those parameters whose slopes are in the block's memory. All numbers are constants, so that
 * slopes and columns stay in registers. */
AD_INLINE void spot_slopes(int moves, const spot_list *list, int n, const fine *column,
                           fine *slope) {
    const int length = moves ? (int)DB_SPOT_COLUMNS_MOVING : (int)DB_SPOT_COLUMNS,
              quads = moves ? (int)MOVE_QUADS : (int)REST_QUADS;
    const quad *four = list->slope + n * (SPOT_SLOPES * quads);
    DB_CUDA_UNROLL
    for (int k = 0; k < SPOT_SLOPES; k++) {
        DB_CUDA_UNROLL
        for (int q = 0; q < quads; q++) {
            const quad coefficient = four[k * quads + q];
            DB_CUDA_UNROLL
            for (int i = 0; i < DB_NORMAL_BLOCK; i++)
                if (q * DB_NORMAL_BLOCK + i < length)
                    slope[k] = f_fma(coefficient.of[i], column[q * DB_NORMAL_BLOCK + i], slope[k]);
        }
    }
}
#endif

/* Spots number begin to end - 1 of the list, at one point. sum: without the beam's factors. */
AD_INLINE void add_spots(spot_motion motion, const spot_list *list, int begin, int end,
                         const site *place, beam_point *beam, fine *sum, fine *slope) {
    for (int i = begin; i < end; i++) {
        if (!(list->reach >> i & 1)) continue;
        const db_kernel_spot *spot = &list->spot[i];
        const spot_constants constants = constants_of(spot);
        lane_spot s;
        if (!spot_in_lanes(motion, spot, &constants, place->wide_d, &s)) continue;
        *sum = f_fma(f_set(spot->FINE(value)[DB_SPOT_AMPLITUDE]), s.g, *sum);
#if DB_INSTANCE_KIND > 0
        fine column[DB_SPOT_COLUMNS_MOVING];
        __asm__ volatile("" ::: "memory"); /* W is read again: registers are scarce here */
        const spot_constants again = constants_of(spot);
        spot_columns(motion, spot, &again, &s, beam->factor, column, beam->by_d);
        spot_slopes(motion, list, i, column, slope);
#else
        (void)beam, (void)slope;
#endif
    }
}

/* All beams at one point. */
AD_INLINE void add_spot_site(spot_motion motion, const db_kernel_job *job,
                             const db_kernel_panel *panel, const spot_list *list, const site *place,
                             pixel_sums *sums, fine *slope) {
    const size_t beams = job->spots.one_beam ? 1 : job->source_count;
    fine by_d[3] = { f_set(0), f_set(0), f_set(0) }, by_omega = f_set(0);
    int begin = 0;
    for (size_t j = 0; j < beams; j++) {
        int end = begin;
        while (end < list->count && (job->spots.one_beam || list->spot[end].source == j)) end++;
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

/* All points of a pixel; fast, slow: its numbers. */
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
