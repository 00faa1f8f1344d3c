/* Spots in a block's memory, for the loops of kernel/spot_pixels.h. */
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

AD_INLINE const db_kernel_spot *spot_of(const db_kernel_job *job, const spot_list *list, int i) {
    (void)job;
    return &list->spot[i];
}
AD_INLINE int spot_reaches(const spot_list *list, int i) { return (int)(list->reach >> i & 1); }
AD_INLINE int with_background(const db_kernel_job *job, const spot_list *list) {
    (void)job;
    return list->background;
}

#if DB_INSTANCE_KIND > 0
/* By those parameters whose slopes are in the block's memory. All numbers are constants, so that
 * slopes and columns stay in registers. */
AD_INLINE void spot_slopes(int moves, const db_kernel_job *job, const spot_list *list, int n,
                           const fine *column, fine *slope) {
    const int length = moves ? (int)DB_SPOT_COLUMNS_MOVING : (int)DB_SPOT_COLUMNS,
              quads = moves ? (int)MOVE_QUADS : (int)REST_QUADS;
    const quad *four = list->slope + n * (SPOT_SLOPES * quads);
    (void)job;
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

#endif
