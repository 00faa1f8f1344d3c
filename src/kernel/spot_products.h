/* Normal equations of spots in closed form, summed spot by spot.
 *
 * A pixel's derivatives are J = sum C_s X_s + L: ten columns X_s of each of its spots (spot_lanes.h)
 * times the spot's coefficients C_s, and what panel, beam and factors add to a few of them, L.
 * With M_st = sum of X_s X_t^T over pixels
 *
 *   sum J J^T = sum over s of C_s H_s + (sum over s of C_s (sum X_s L^T)) + its transpose
 *               + sum L L^T,    H_s = sum over t of M_st C_t^T,
 *
 * so that a pixel costs products of ten columns for any number of parameters, and the
 * coefficients come in once per spot and pair of spots that overlap. Of spots at rest: the columns of
 * those that turn nearly cancel where their range is short, which squares would not survive. */
#ifndef DB_KERNEL_SPOT_PRODUCTS_H
#define DB_KERNEL_SPOT_PRODUCTS_H

#include "kernel/normal_rows.h"
#include "kernel/spot_lanes.h"

#if DB_INSTANCE_KIND > 0

enum {
    PRODUCT_GROUPS = 64, /* of pixels at a time: a bit for each */
    PRODUCT_SPOTS = 64,
    PRODUCT_VISITS = 512, /* of spots to groups */
    PRODUCT_LOOSE = 27,   /* parameters that have columns of pixels */
    PRODUCT_ROW = (PRODUCT_LOOSE + DB_NORMAL_BLOCK) / DB_NORMAL_BLOCK * DB_NORMAL_BLOCK,
    PRODUCT_WIDTH = 8,                  /* parameters whose products are summed together */
    PRODUCT_VECTOR = AD_VEC_BYTES / 8,  /* of doubles */
    PRODUCT_PARAMETERS = DB_NORMAL_MOST /* that move spots */
};
_Static_assert(PRODUCT_PARAMETERS % PRODUCT_WIDTH == 0, "whole blocks");

/* A spot, and the number of its columns in each group of pixels that it reaches. */
typedef struct {
    uint32_t number;
    uint64_t groups;
    uint16_t visit[PRODUCT_GROUPS];
} product_spot;

/* For each of a spot's columns, a value for each parameter that moves spots. */
typedef double product_half[DB_SPOT_COLUMNS][PRODUCT_PARAMETERS];

typedef struct spot_products {
    double *sums;
    size_t panel;
    size_t moving, padded; /* parameters that move spots; rounded up to whole blocks */
    int loose, row_length; /* parameters that have columns of pixels; their row, in whole blocks */
    uint16_t image[PRODUCT_ROW];  /* which they are, the residual behind them */
    int spots, visits, groups;    /* so far */
    uint64_t rows;                /* bit of each group: it has a row */
    uint16_t slot[PRODUCT_SPOTS]; /* of the band's spots: their numbers in `spot` */
    product_spot spot[PRODUCT_SPOTS];
    unsigned lanes[PRODUCT_VISITS]; /* bits of those in which the spot counts */
    fine column[PRODUCT_VISITS][DB_SPOT_COLUMNS];
    fine row[PRODUCT_GROUPS][PRODUCT_ROW];   /* L, the residual, and zeros */
    product_half coefficient[PRODUCT_SPOTS]; /* C^T */
    product_half half[PRODUCT_SPOTS];        /* H */
    /* sums so far, without steps and scale, of both: [parameter][other] */
    double whole[PRODUCT_PARAMETERS][PRODUCT_PARAMETERS]; /* other >= parameter */
    double by_loose[PRODUCT_ROW][PRODUCT_PARAMETERS];
} spot_products;

/* Begins with a panel; 0 where the job is none that is summed so. */
AD_INLINE int begin_products(const db_kernel_job *job, size_t panel, double *sums,
                             spot_products *p) {
    const db_kernel_contraction *contraction = job->contraction + panel * job->parameter_count;
    p->sums = sums;
    p->panel = panel;
    p->moving = job->spots.parameters;
    p->padded = (p->moving + PRODUCT_WIDTH - 1) / PRODUCT_WIDTH * PRODUCT_WIDTH;
    p->loose = p->spots = p->visits = p->groups = 0;
    p->rows = 0;
    if (job->spots.moving || p->moving > PRODUCT_PARAMETERS) return 0;
    for (size_t k = 0; k < job->parameter_count; k++)
        if (contraction[k].columns > 0) {
            if (p->loose == PRODUCT_LOOSE) return 0;
            p->image[p->loose++] = (uint16_t)k;
        }
    p->image[p->loose] = (uint16_t)job->parameter_count;
    p->row_length = (p->loose + DB_NORMAL_BLOCK) / DB_NORMAL_BLOCK * DB_NORMAL_BLOCK;
    for (size_t k = 0; k < p->padded; k++)
        memset(p->whole[k], 0, p->padded * sizeof p->whole[k][0]);
    for (int i = 0; i <= p->loose; i++)
        memset(p->by_loose[i], 0, p->padded * sizeof p->by_loose[i][0]);
    return 1;
}

/* Adds to a spot's columns in a group of pixels. */
AD_INLINE void add_product_columns(spot_products *p, int slot, int group, fine_mask counts,
                                   const fine *column) {
    product_spot *const s = &p->spot[slot];
    if (s->groups >> group & 1) {
        fine *const sum = p->column[s->visit[group]];
        for (int i = 0; i < DB_SPOT_COLUMNS; i++) sum[i] = f_add(sum[i], column[i]);
        p->lanes[s->visit[group]] |= f_bitmask(counts);
    } else {
        fine *const sum = p->column[p->visits];
        for (int i = 0; i < DB_SPOT_COLUMNS; i++) sum[i] = column[i];
        p->lanes[p->visits] = f_bitmask(counts);
        s->groups |= (uint64_t)1 << group;
        s->visit[group] = (uint16_t)p->visits++;
    }
}

/* The index of the product of columns i and j. Products are in blocks of DB_NORMAL_BLOCK x DB_NORMAL_BLOCK,
 * `blocks` of them in a row; 0: the lower triangle of blocks, of a symmetric matrix. */
AD_INLINE size_t product_index(int blocks, int i, int j) {
    enum { N = DB_NORMAL_BLOCK };
    if (blocks) return (size_t)((i / N * blocks + j / N) * N * N + j % N * N + i % N);
    return i / N < j / N ? db_normal_index((size_t)j, (size_t)i)
                         : db_normal_index((size_t)i, (size_t)j);
}

/* Products of `height` columns of a and `width` columns of b, summed over rows: to sum, or, unless
 * first, added to it. */
AD_INLINE void add_product_block(int rows, const fine *const *a, int i, int height,
                                 const fine *const *b, int j, int width, int first, double *sum) {
    enum { SUMS = DB_NORMAL_BLOCK * NORMAL_COLUMNS };
    fine block[SUMS];
    for (int m = 0; m < SUMS; m++) block[m] = f_set(0);
    for (int g = 0; g < rows; g++) {
        const fine *x = a[g] + i;
        const fine *y = b[g] + j;
#pragma GCC unroll 4
        for (int c = 0; c < width; c++)
#pragma GCC unroll 4
            for (int r = 0; r < height; r++)
                block[c * DB_NORMAL_BLOCK + r] = f_fma(x[r], y[c], block[c * DB_NORMAL_BLOCK + r]);
    }
    fold_lanes(block, SUMS);
    SHAPE_REAL folded[SUMS];
    for (int m = 0; m < SUMS / LANES; m++) f_store(folded + m * LANES, block[m]);
    for (int m = 0; m < SUMS; m++) sum[m] = (double)folded[m] + (first ? 0 : sum[m]);
}

/* Products of a block at i, j of any size: heights and widths are whole, or 2. */
static __attribute__((noinline)) void add_any_block(int rows, const fine *const *a, int i,
                                                    int height, const fine *const *b, int j,
                                                    int width, int first, double *sum) {
    enum { N = DB_NORMAL_BLOCK, W = NORMAL_COLUMNS };
    if (height == N && width == W)
        add_product_block(rows, a, i, N, b, j, W, first, sum);
    else if (width == W)
        add_product_block(rows, a, i, 2, b, j, W, first, sum);
    else if (height == N)
        add_product_block(rows, a, i, N, b, j, 2, first, sum);
    else
        add_product_block(rows, a, i, 2, b, j, 2, first, sum);
    _Static_assert(DB_SPOT_COLUMNS % N == 2, "the last block is two high, or whole");
}

/* Sums all products of columns of a, `height` of them, and of b, in runs short enough for float. blocks: as in
 * product_index. */
static void sum_products(int rows, const fine *const *a, int height, const fine *const *b,
                         int width, int blocks, double *product) {
    enum { N = DB_NORMAL_BLOCK, W = NORMAL_COLUMNS };
    for (int i = 0; i < height; i += N)
        for (int j = 0; j < (blocks || width < i + N ? width : i + N); j += W)
            for (int g = 0; g < rows; g += NORMAL_RUN)
                add_any_block(rows - g < NORMAL_RUN ? rows - g : (int)NORMAL_RUN, a + g, i,
                              height - i < N ? height - i : N, b + g, j,
                              width - j < W ? width - j : W, g == 0,
                              product + product_index(blocks, i, j));
}

AD_INLINE vec_double product_load(const double *p) {
    vec_double v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* to[c], `count` of them, += sum over e of product (c, e), or (e, c), times from[e], for all
 * parameters. */
AD_INLINE void add_half(size_t parameters, const double *product, int blocks, int transposed,
                        double from[][PRODUCT_PARAMETERS], int count,
                        double to[][PRODUCT_PARAMETERS]) {
    const vec_double zero = { 0 };
    for (size_t k = 0; k < parameters; k += PRODUCT_VECTOR) {
        vec_double x[DB_SPOT_COLUMNS];
        for (int e = 0; e < DB_SPOT_COLUMNS; e++) x[e] = product_load(from[e] + k);
#pragma GCC unroll 10
        for (int c = 0; c < count; c++) {
            vec_double sum = product_load(to[c] + k);
#pragma GCC unroll 10
            for (int e = 0; e < DB_SPOT_COLUMNS; e++) {
                const size_t at =
                    transposed ? product_index(blocks, e, c) : product_index(blocks, c, e);
                sum = vec_fma_double(x[e], product[at] - zero, sum);
            }
            memcpy(to[c] + k, &sum, sizeof sum);
        }
    }
}

/* whole += C H of all spots, blocks on and below its diagonal. */
static __attribute__((noinline)) void add_whole(spot_products *p) {
    const vec_double zero = { 0 };
    for (size_t i = 0; i < p->padded; i += PRODUCT_VECTOR)
        for (size_t j = 0; j < i + PRODUCT_VECTOR; j += PRODUCT_WIDTH) {
            vec_double sum[PRODUCT_WIDTH];
            for (int m = 0; m < PRODUCT_WIDTH; m++)
                sum[m] = product_load(p->whole[j + (size_t)m] + i);
            for (int s = 0; s < p->spots; s++)
                for (int c = 0; c < DB_SPOT_COLUMNS; c++) {
                    const vec_double x = product_load(p->coefficient[s][c] + i);
                    const double *y = p->half[s][c] + j;
#pragma GCC unroll 8
                    for (int m = 0; m < PRODUCT_WIDTH; m++)
                        sum[m] = vec_fma_double(x, y[m] - zero, sum[m]);
                }
            for (int m = 0; m < PRODUCT_WIDTH; m++)
                memcpy(p->whole[j + (size_t)m] + i, &sum[m], sizeof sum[m]);
        }
}

/* A spot's coefficients, transposed. */
static void fill_coefficient(const db_kernel_job *job, const spot_products *p, uint32_t number,
                             product_half coefficient) {
    const size_t each = job->spots.each;
    const uint16_t *const which = spot_parameters(&job->spots, number);
    const SHAPE_REAL *slope = job->spots.FINE(slope) + number * each * DB_SPOT_COLUMNS;
    for (size_t k = which ? 0 : each; k < p->padded; k++)
        for (int c = 0; c < DB_SPOT_COLUMNS; c++) coefficient[c][k] = 0;
    for (size_t i = 0; i < each; i++, slope += DB_SPOT_COLUMNS)
        for (int c = 0; c < DB_SPOT_COLUMNS; c++)
            coefficient[c][which ? which[i] : i] = (double)slope[c];
}

/* Collects the columns of two spots in the groups where a pixel sees both; b NULL: the spot's columns and the
 * pixels' rows. Returns how many. */
AD_INLINE int shared_groups(const spot_products *p, const product_spot *a, const product_spot *b,
                            const fine **of_a, const fine **of_b) {
    int rows = 0;
    for (uint64_t left = b ? a->groups & b->groups : a->groups; left; left &= left - 1) {
        const int g = __builtin_ctzll(left), of = a->visit[g];
        if (b && !(p->lanes[of] & p->lanes[b->visit[g]])) continue;
        of_a[rows] = p->column[of];
        of_b[rows++] = b ? p->column[b->visit[g]] : p->row[g];
    }
    return rows;
}

/* Adds the products of spot s with the pixels; and with the spots before it, to both halves. */
static __attribute__((noinline)) void add_spot_products(spot_products *p, int s) {
    enum {
        COLUMNS = DB_SPOT_COLUMNS,
        BLOCKS = (DB_SPOT_COLUMNS + DB_NORMAL_BLOCK - 1) / DB_NORMAL_BLOCK,
        BLOCK = DB_NORMAL_BLOCK * DB_NORMAL_BLOCK
    };
    const fine *a[PRODUCT_GROUPS];
    const fine *b[PRODUCT_GROUPS];
    double product[BLOCKS * BLOCKS * BLOCK], loose[BLOCKS * PRODUCT_ROW * DB_NORMAL_BLOCK];
    for (int c = 0; c < COLUMNS; c++) memset(p->half[s][c], 0, p->padded * sizeof p->half[s][c][0]);
    int rows = shared_groups(p, &p->spot[s], &p->spot[s], a, b);
    if (rows == 0) return;
    sum_products(rows, a, COLUMNS, b, COLUMNS, 0, product);
    add_half(p->padded, product, 0, 0, p->coefficient[s], COLUMNS, p->half[s]);
    for (int t = 0; t < s; t++) {
        rows = shared_groups(p, &p->spot[s], &p->spot[t], a, b);
        if (rows == 0) continue;
        sum_products(rows, a, COLUMNS, b, COLUMNS, BLOCKS, product);
        add_half(p->padded, product, BLOCKS, 0, p->coefficient[t], COLUMNS, p->half[s]);
        add_half(p->padded, product, BLOCKS, 1, p->coefficient[s], COLUMNS, p->half[t]);
    }
    const int of_row = p->row_length / DB_NORMAL_BLOCK;
    rows = shared_groups(p, &p->spot[s], NULL, a, b);
    sum_products(rows, a, COLUMNS, b, p->row_length, of_row, loose);
    add_half(p->padded, loose, of_row, 1, p->coefficient[s], p->loose + 1, p->by_loose);
}

/* Adds the products of the pixels' own columns (without spots) and of the residuals. */
static __attribute__((noinline)) void add_loose_products(const spot_products *p) {
    const fine *row[PRODUCT_GROUPS];
    double product[PRODUCT_ROW * (PRODUCT_ROW + DB_NORMAL_BLOCK) / 2];
    int rows = 0;
    for (uint64_t left = p->rows; left; left &= left - 1)
        row[rows++] = p->row[__builtin_ctzll(left)];
    sum_products(rows, row, p->row_length, row, p->row_length, 0, product);
    for (int i = 0; i <= p->loose; i++)
        for (int j = 0; j <= i; j++)
            p->sums[db_normal_index(p->image[i], p->image[j])] += product[product_index(0, i, j)];
}

/* Makes room for other groups of pixels. */
static void turn_products(const db_kernel_job *job, spot_products *p) {
    for (int s = 0; s < p->spots; s++)
        fill_coefficient(job, p, p->spot[s].number, p->coefficient[s]);
    for (int s = 0; s < p->spots; s++) add_spot_products(p, s);
    add_whole(p);
    if (p->rows) add_loose_products(p);
    p->spots = p->visits = p->groups = 0;
    p->rows = 0;
}

/* Adds all to the sums. */
static void end_products(const db_kernel_job *job, spot_products *p) {
    double factor[PRODUCT_PARAMETERS];
    turn_products(job, p);
    for (size_t k = 0; k < p->moving; k++) {
        factor[k] = job->spots.step[k] * job->scale;
        for (size_t j = 0; j <= k; j++)
            p->sums[db_normal_index(k, j)] += factor[k] * factor[j] * p->whole[j][k];
    }
    for (int i = 0; i <= p->loose; i++)
        for (size_t k = 0; k < p->moving; k++) {
            const size_t l = p->image[i];
            const double sum = factor[k] * p->by_loose[i][k];
            p->sums[k > l ? db_normal_index(k, l) : db_normal_index(l, k)] +=
                k == l ? 2 * sum : sum;
        }
}

/* 1 if a band's spots are summed in this way; they then have slots. reached: the sum over spots of the groups that
 * each may reach; groups: of the band. */
static int products_take(const db_kernel_job *job, spot_products *p, const uint32_t *number,
                         int count, int reached, int groups) {
    if (count > PRODUCT_SPOTS || reached > PRODUCT_VISITS) return 0;
    if (p->spots + count > PRODUCT_SPOTS || p->visits + reached > PRODUCT_VISITS ||
        p->groups + groups > PRODUCT_GROUPS)
        turn_products(job, p);
    for (int i = 0; i < count; i++) {
        int slot = 0;
        while (slot < p->spots && p->spot[slot].number != number[i]) slot++;
        if (slot == p->spots) {
            const size_t length = job->spots.each * DB_SPOT_COLUMNS;
            const char *slope = (const char *)(job->spots.FINE(slope) + number[i] * length);
            for (size_t at = 0; at < length * sizeof(SHAPE_REAL); at += 64)
                __builtin_prefetch(slope + at);
            p->spot[slot].number = number[i];
            p->spot[slot].groups = 0;
            p->spots++;
        }
        p->slot[i] = (uint16_t)slot;
    }
    return 1;
}

/* Weighs a group of pixels, after all of its spots have added their columns. */
AD_INLINE void weigh_group(const db_kernel_job *job, const db_kernel_contraction *contraction,
                           const pixel_sums *sums, pixel_weight w, int all_weigh_one, fine data,
                           int count, int group, spot_products *p) {
    for (int i = 0; i < count && !all_weigh_one; i++) {
        const product_spot *s = &p->spot[p->slot[i]];
        if (!(s->groups >> group & 1)) continue;
        fine *const column = p->column[s->visit[group]];
        for (int c = 0; c < DB_SPOT_COLUMNS; c++) column[c] = weighted(w, column[c]);
    }
    p->rows |= (uint64_t)1 << group;
    fine *const row = p->row[group];
    for (int i = 0; i < p->loose; i++) {
        const size_t k = p->image[i];
        row[i] = weighted(w, f_mul(f_set(job->spots.step[k]), contract(&contraction[k], sums)));
    }
    for (int i = p->loose + 1; i < p->row_length; i++) row[i] = f_set(0);
    row[p->loose] = weighted(w, residual_of(job, sums->intensity, data));
}
#else
typedef struct spot_products spot_products; /* forward instances have none */
#endif

#endif
