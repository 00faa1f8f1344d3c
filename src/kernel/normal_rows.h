/* Normal equations: sums over pixels of products of columns (J^T W J, J^T W r and r W r in one
 * matrix), in place of images.
 *
 * A group of pixels becomes a row of vectors: one per basis column, and the residual last, all
 * times the square root of the weight. Rows are kept for a short run; then the products of all
 * pairs are summed over the run in registers, block by block, folded over lanes, and added to sums
 * in double: two multiplications and one memory operand per two products, for any number of products. */
#ifndef DB_KERNEL_NORMAL_ROWS_H
#define DB_KERNEL_NORMAL_ROWS_H

#include "kernel/contraction.h"
#include "kernel/normal_row.h"
#include "ad/vec_fold.h"

#include <string.h>

/* Pixels of data, weight or cotangent; pixels NULL: 1. The rest of the lanes is 0. */
AD_INLINE fine load_group(db_pixel_type type, const void *pixels, const group_target *target) {
    SHAPE_REAL value[LANES];
    if (target->contiguous && target->count == LANES && type == DB_FLOAT32) {
        if (!pixels) return f_set(1);
        const float *from = (const float *)pixels + target->element[0];
#if defined(DB_INSTANCE_PRECISION_MIXED)
        return f_load(from);
#else
        for (int i = 0; i < LANES; i++) value[i] = (SHAPE_REAL)from[i];
        return f_load(value);
#endif
    }
    for (int i = 0; i < LANES; i++) value[i] = 0;
    for (int i = 0; i < target->count; i++) {
        const size_t at = element_of(target, i);
        value[i] = !pixels              ? 1
                   : type == DB_FLOAT64 ? (SHAPE_REAL)((const double *)pixels)[at]
                                        : (SHAPE_REAL)((const float *)pixels)[at];
    }
    return f_load(value);
}

/* The data that the model is compared with. */
AD_INLINE fine load_data(const db_kernel_job *job, const group_target *target) {
    const fine data = load_group(job->data_type, job->data, target);
    if (!job->background) return data;
    return f_sub(data, load_group(job->pixel_type, job->background, target));
}

#if DB_INSTANCE_KIND > 0

/* 16 rows of about 20 vectors stay in the level-1 cache, and adding 16 products in float, pairwise,
 * loses fewer digits than rounding the products did. */
enum { NORMAL_RUN = 16 };

typedef struct {
    double *sums;  /* db_normal_size(length) of them */
    size_t length; /* of a row */
    int rows;      /* so far */
    int most;      /* rows that fit; NORMAL_RUN in the loops over samples */
    fine row[NORMAL_RUN * (DB_NORMAL_MOST + 1)];
} normal_run;

/* Columns of a block that are summed at once: as many as fit in registers. */
#if AD_VEC_REGISTERS == 32
enum { NORMAL_COLUMNS = DB_NORMAL_BLOCK };
#else
enum { NORMAL_COLUMNS = DB_NORMAL_BLOCK / 2 };
#endif

/* Sums `count` vectors over their lanes; the sums go to the front of the same array. */
AD_INLINE void fold_lanes(fine *v, int count) {
#define NORMAL_FOLD(s)                                                                             \
    count /= 2;                                                                                    \
    for (int m = 0; m < count; m++)                                                                \
        v[m] = AD_PASTE2(vec_fold##s, SHAPE_REAL)(v[2 * m], v[2 * m + 1]);
    NORMAL_FOLD(1)
#if LANES > 2
    NORMAL_FOLD(2)
#endif
#if LANES > 4
    NORMAL_FOLD(4)
#endif
#if LANES > 8
    NORMAL_FOLD(8)
#endif
#undef NORMAL_FOLD
}

/* The part of a block that is wanted: on the diagonal the lower triangle. */
typedef enum { WHOLE_BLOCK, LOWER_TRIANGLE } block_part;

/* Products of `rows` vectors from a with NORMAL_COLUMNS from b. first: number of the first of b's
 * columns in the block. */
AD_INLINE void add_products(const normal_run *run, const fine *a, const fine *b, int rows,
                            block_part part, int first, double *sums) {
    fine sum[DB_NORMAL_BLOCK * NORMAL_COLUMNS];
    for (int i = 0; i < DB_NORMAL_BLOCK * NORMAL_COLUMNS; i++) sum[i] = f_set(0);
    for (int g = 0; g < run->rows; g++, a += run->length, b += run->length) {
#pragma GCC unroll 4
        for (int j = 0; j < NORMAL_COLUMNS; j++)
#pragma GCC unroll 4
            for (int i = part == LOWER_TRIANGLE ? first + j : 0; i < rows; i++)
                sum[j * DB_NORMAL_BLOCK + i] = f_fma(a[i], b[j], sum[j * DB_NORMAL_BLOCK + i]);
    }
    fold_lanes(sum, DB_NORMAL_BLOCK * NORMAL_COLUMNS);
    SHAPE_REAL folded[DB_NORMAL_BLOCK * NORMAL_COLUMNS];
    for (int m = 0; m < DB_NORMAL_BLOCK * NORMAL_COLUMNS / LANES; m++)
        f_store(folded + m * LANES, sum[m]);
    for (int i = 0; i < DB_NORMAL_BLOCK * NORMAL_COLUMNS; i++) sums[i] += (double)folded[i];
}

AD_INLINE void add_block(const normal_run *run, const fine *a, const fine *b, int rows,
                         block_part part, double *sums) {
    for (int first = 0; first < DB_NORMAL_BLOCK; first += NORMAL_COLUMNS) {
        if (part == LOWER_TRIANGLE && first >= rows) break;
        add_products(run, a, b + first, rows, part, first, sums + first * DB_NORMAL_BLOCK);
    }
}

static __attribute__((noinline)) void add_run(normal_run *run) {
    double *sums = run->sums;
    for (size_t i = 0; i < run->length; i += DB_NORMAL_BLOCK)
        for (size_t j = 0; j <= i; j += DB_NORMAL_BLOCK) {
            const size_t left = run->length - i;
            const fine *a = run->row + i;
            const fine *b = run->row + j;
            switch ((left < DB_NORMAL_BLOCK ? left : DB_NORMAL_BLOCK) + (i == j ? 4 : 0)) {
            case 1: add_block(run, a, b, 1, WHOLE_BLOCK, sums); break;
            case 2: add_block(run, a, b, 2, WHOLE_BLOCK, sums); break;
            case 3: add_block(run, a, b, 3, WHOLE_BLOCK, sums); break;
            case 4: add_block(run, a, b, 4, WHOLE_BLOCK, sums); break;
            case 5: add_block(run, a, b, 1, LOWER_TRIANGLE, sums); break;
            case 6: add_block(run, a, b, 2, LOWER_TRIANGLE, sums); break;
            case 7: add_block(run, a, b, 3, LOWER_TRIANGLE, sums); break;
            default: add_block(run, a, b, 4, LOWER_TRIANGLE, sums); break;
            }
            sums += DB_NORMAL_BLOCK * DB_NORMAL_BLOCK;
        }
    run->rows = 0;
}

/* 0 if all weights of the group are 0, so that it need not be rendered. */
static __attribute__((noinline)) int group_counts(const db_kernel_job *job,
                                                  const group_target *target) {
    uint32_t bits[LANES], any = 0;
    if (job->data_type == DB_FLOAT64) {
        for (int i = 0; i < target->count; i++)
            if (((const double *)job->weight)[element_of(target, i)] != 0) return 1;
        return 0;
    }
    const float *weight = job->weight;
    if (target->contiguous && target->count == LANES) {
        memcpy(bits, weight + target->element[0], sizeof bits);
        for (int i = 0; i < LANES; i++) any |= bits[i];
    } else {
        for (int i = 0; i < target->count; i++) {
            memcpy(bits, weight + element_of(target, i), sizeof *bits);
            any |= *bits;
        }
    }
    return any << 1 != 0; /* without the sign of -0 */
}

typedef enum { ALL_WEIGH_ONE, WEIGHTS_DIFFER } weight_kind;

AD_INLINE void fill_normal_row(weight_kind kind, const db_kernel_job *job,
                               const db_kernel_contraction *contraction, const pixel_sums *sums,
                               const group_target *target, fine *row) {
    pixel_weight w = { 0 };
    if (kind == WEIGHTS_DIFFER)
        w = pixel_weight_of(load_group(job->data_type, job->weight, target), job->weight != NULL);
#define WEIGHTED(value) (kind == ALL_WEIGH_ONE ? (value) : weighted(w, value))
    const size_t lattice = job->lattice_wanted, singles = lattice + job->single_wanted;
    size_t k = 0;
    for (; k < lattice; k++)
        row[k] = WEIGHTED(contract_lattice(&contraction[k], sums->column + DB_COLUMN_LATTICE));
    for (; k < singles; k++) row[k] = WEIGHTED(contract_single(&contraction[k], sums));
    for (; k < job->parameter_count; k++) row[k] = WEIGHTED(contract(&contraction[k], sums));
    row[k] = WEIGHTED(residual_of(job, sums->intensity, load_data(job, target)));
#undef WEIGHTED
}

/* Adds the group's row to the run; a full run is added to the sums. */
AD_INLINE void add_group(const db_kernel_job *job, const db_kernel_contraction *contraction,
                         const pixel_sums *sums, const group_target *target, normal_run *run) {
    fine *const row = run->row + (size_t)run->rows * run->length;
    if (!job->weight && target->count == LANES)
        fill_normal_row(ALL_WEIGH_ONE, job, contraction, sums, target, row);
    else
        fill_normal_row(WEIGHTS_DIFFER, job, contraction, sums, target, row);
    if (++run->rows == NORMAL_RUN) add_run(run);
}
#else
typedef struct normal_run normal_run; /* forward instances have none */
#endif

#endif
