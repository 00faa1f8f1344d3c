/* Keeps the columns of several pixels per thread in the block's memory, so that coefficients are read once for all
 * of them. A thread reads only its own columns. */
#ifndef DB_CUDA_STAGED_H
#define DB_CUDA_STAGED_H

#include "cuda/pixel.h"

#if DB_INSTANCE_KIND > 0
enum {
    STAGED = GENERAL                               ? DB_CUDA_STAGED_GENERAL
             : sizeof(SHAPE_REAL) == sizeof(float) ? DB_CUDA_STAGED
                                                   : DB_CUDA_DOUBLE_STAGED
};

DB_CUDA_FN fine *staged_column(int c, uint32_t pixel) {
    const uint32_t number =
        (uint32_t)(GENERAL || c < DB_COLUMN_Z ? c : c - (DB_COLUMN_DEBYE_WALLER - DB_COLUMN_Z));
    return (fine *)(void *)block_memory() + (number * STAGED + pixel) * BLOCK + thread_number();
}

DB_CUDA_FN void stage_columns(const pixel_sums *sums, uint32_t pixel) {
    DB_CUDA_UNROLL
    for (int c = 0; c < (DB_INSTANCE_KIND > 1 ? DB_COLUMN_AMPLITUDE : DB_COLUMN_CELLS); c++)
        if (GENERAL || c < DB_COLUMN_Z || c >= DB_COLUMN_DEBYE_WALLER)
            *staged_column(c, pixel) = sums->column[c];
}

DB_CUDA_FN void bring_columns(int first, int end, fine column[][STAGED]) {
    DB_CUDA_UNROLL
    for (int c = first; c < end; c++) DB_CUDA_UNROLL
    for (uint32_t p = 0; p < STAGED; p++) column[c][p] = *staged_column(c, p);
}

DB_CUDA_FN void clear_slopes(fine slope[STAGED]) {
    DB_CUDA_UNROLL
    for (int p = 0; p < STAGED; p++) slope[p] = 0;
}

/* As contract_window, for one row and several pixels. */
DB_CUDA_FN void contract_staged(const coefficient_row *row, fine column[][STAGED], int first,
                                int end, fine slope[STAGED]) {
    const quad *four = (const quad *)(const void *)row->coefficient;
    DB_CUDA_UNROLL
    for (int q = first / DB_NORMAL_BLOCK; q * DB_NORMAL_BLOCK < end; q++) {
        const quad coefficient = four[q];
        DB_CUDA_UNROLL
        for (int i = 0; i < DB_NORMAL_BLOCK; i++) {
            const int c = q * DB_NORMAL_BLOCK + i;
            if (c < first || c >= end) continue;
            DB_CUDA_UNROLL
            for (int p = 0; p < STAGED; p++)
                slope[p] = f_fma(coefficient.of[i], column[c][p], slope[p]);
        }
    }
}

DB_CUDA_FN void contract_any(const coefficient_row *row, fine loose[][DB_LOOSE_COLUMNS],
                             fine slope[STAGED]) {
    const int32_t windows = row->windows;
    fine column[DB_COLUMN_AMPLITUDE][STAGED];
#define DB_WINDOW(window, first, end)                                                              \
    if (windows & (window)) {                                                                      \
        bring_columns(first, end, column);                                                         \
        contract_staged(row, column, first, end, slope);                                           \
    }
    DB_CUDA_WINDOWS(DB_WINDOW)
#undef DB_WINDOW
    if (windows & DB_CUDA_WINDOW_LOOSE) DB_CUDA_UNROLL
    for (int p = 0; p < STAGED; p++)
        slope[p] = f_fma(row->loose_coefficient, loose[p][row->loose], slope[p]);
}
#endif
#endif
