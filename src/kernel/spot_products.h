/* Normal equations of spots in closed form, summed spot by spot.
 *
 * A pixel's derivatives are J = sum C_s X_s + L: ten columns X_s of each of its spots (spot_lanes.h)
 * times the spot's coefficients C_s, and what panel, beam and factors add to a few of them, L.
 * With M_st = sum of X_s X_t^T over pixels
 *
 *   sum J J^T = sum over s, t of C_s M_st C_t^T + (sum over s of C_s (sum X_s L^T)) + its transpose
 *               + sum L L^T,
 *
 * so that a pixel costs products of ten columns, whatever the number of parameters, and the
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
    PRODUCT_LOOSE = 24,   /* parameters that have columns of pixels */
    PRODUCT_IMAGES = (DB_NORMAL_MOST + DB_NORMAL_BLOCK) / DB_NORMAL_BLOCK * DB_NORMAL_BLOCK
};

/* A spot, and where its columns are in each group of pixels that it reaches. */
typedef struct {
    uint32_t number;
    uint64_t groups;
    uint16_t visit[PRODUCT_GROUPS];
} product_spot;

typedef struct spot_products {
    double *sums;
    size_t images;                     /* parameters, and the residual */
    int loose;                         /* parameters that have columns of pixels, and which */
    uint16_t image[PRODUCT_LOOSE + 1]; /* the residual behind them */
    int spots, visits, groups;         /* so far */
    uint64_t rows;                     /* bit of each group: it has a row */
    uint16_t slot[PRODUCT_SPOTS];      /* of the band's spots: where they are among ours */
    product_spot spot[PRODUCT_SPOTS];
    fine column[PRODUCT_VISITS][DB_SPOT_COLUMNS];
    fine row[PRODUCT_GROUPS][PRODUCT_LOOSE + 1]; /* L and the residual */
    double coefficient[PRODUCT_SPOTS][DB_SPOT_COLUMNS][PRODUCT_IMAGES];
} spot_products;

/* 0 where the job is none that is summed so. */
AD_INLINE int begin_products(const db_kernel_job *job, size_t panel, double *sums,
                             spot_products *p) {
    const db_kernel_contraction *contraction = job->contraction + panel * job->parameter_count;
    p->sums = sums;
    p->images = job->parameter_count + 1;
    p->loose = p->spots = p->visits = p->groups = 0;
    p->rows = 0;
    if (job->spots.moving || p->images > PRODUCT_IMAGES) return 0;
    for (size_t k = 0; k < job->parameter_count; k++)
        if (contraction[k].columns > 0) {
            if (p->loose == PRODUCT_LOOSE) return 0;
            p->image[p->loose++] = (uint16_t)k;
        }
    p->image[p->loose] = (uint16_t)job->parameter_count;
    return 1;
}

/* Adds to a spot's columns in a group of pixels. */
AD_INLINE void add_product_columns(spot_products *p, int slot, int group, const fine *column) {
    product_spot *const s = &p->spot[slot];
    if (s->groups >> group & 1) {
        fine *const sum = p->column[s->visit[group]];
        for (int i = 0; i < DB_SPOT_COLUMNS; i++) sum[i] = f_add(sum[i], column[i]);
    } else {
        fine *const sum = p->column[p->visits];
        for (int i = 0; i < DB_SPOT_COLUMNS; i++) sum[i] = column[i];
        s->groups |= (uint64_t)1 << group;
        s->visit[group] = (uint16_t)p->visits++;
    }
}

/* Products of columns i.. of a and j.. of b, summed over rows, to sum[i][j]. */
AD_INLINE void add_product_block(int rows, const fine *const *a, int i, int height,
                                 const fine *const *b, int j, int width, double *sum,
                                 size_t stride) {
    fine block[DB_NORMAL_BLOCK * NORMAL_COLUMNS];
    for (int m = 0; m < DB_NORMAL_BLOCK * NORMAL_COLUMNS; m++) block[m] = f_set(0);
    for (int g = 0; g < rows; g++) {
        const fine *x = a[g] + i;
        const fine *y = b[g] + j;
#pragma GCC unroll 4
        for (int c = 0; c < width; c++)
#pragma GCC unroll 4
            for (int r = 0; r < height; r++)
                block[c * DB_NORMAL_BLOCK + r] = f_fma(x[r], y[c], block[c * DB_NORMAL_BLOCK + r]);
    }
    fold_lanes(block, DB_NORMAL_BLOCK * NORMAL_COLUMNS);
    SHAPE_REAL folded[DB_NORMAL_BLOCK * NORMAL_COLUMNS];
    for (int m = 0; m < DB_NORMAL_BLOCK * NORMAL_COLUMNS / LANES; m++)
        f_store(folded + m * LANES, block[m]);
    for (int c = 0; c < width; c++)
        for (int r = 0; r < height; r++)
            sum[(size_t)(i + r) * stride + (size_t)(j + c)] +=
                (double)folded[c * DB_NORMAL_BLOCK + r];
}

/* Adds all products of columns of a, of which there are DB_SPOT_COLUMNS, and of b. */
static __attribute__((noinline)) void add_run_products(int rows, const fine *const *a,
                                                       const fine *const *b, int columns,
                                                       int symmetric, double *sum, size_t stride) {
    for (int i = 0; i < DB_SPOT_COLUMNS; i += DB_NORMAL_BLOCK)
        for (int j = 0; j < (symmetric ? i + DB_NORMAL_BLOCK : columns); j += NORMAL_COLUMNS) {
            const int width = columns - j < NORMAL_COLUMNS ? columns - j : NORMAL_COLUMNS;
            if (width <= 0) break;
            const int whole = DB_SPOT_COLUMNS - i >= DB_NORMAL_BLOCK;
            switch (2 * width + whole) {
            case 2: add_product_block(rows, a, i, 2, b, j, 1, sum, stride); break;
            case 3: add_product_block(rows, a, i, 4, b, j, 1, sum, stride); break;
            case 4: add_product_block(rows, a, i, 2, b, j, 2, sum, stride); break;
            case 5: add_product_block(rows, a, i, 4, b, j, 2, sum, stride); break;
#if AD_VEC_BYTES == 64
            case 6: add_product_block(rows, a, i, 2, b, j, 3, sum, stride); break;
            case 7: add_product_block(rows, a, i, 4, b, j, 3, sum, stride); break;
            case 8: add_product_block(rows, a, i, 2, b, j, 4, sum, stride); break;
            default: add_product_block(rows, a, i, 4, b, j, 4, sum, stride); break;
#else
            default: break;
#endif
            }
        }
    _Static_assert(DB_SPOT_COLUMNS % DB_NORMAL_BLOCK == 2, "the last block is two high");
}

/* The same in runs that are short enough for float, into sums of any values. symmetric: b is a. */
static void sum_products(int rows, const fine *const *a, const fine *const *b, int columns,
                         int symmetric, double *sum, size_t stride) {
    for (int i = 0; i < DB_SPOT_COLUMNS; i++)
        memset(sum + (size_t)i * stride, 0, (size_t)columns * sizeof *sum);
    for (int g = 0; g < rows; g += NORMAL_RUN)
        add_run_products(rows - g < NORMAL_RUN ? rows - g : (int)NORMAL_RUN, a + g, b + g, columns,
                         symmetric, sum, stride);
    for (int i = 0; symmetric && i < DB_SPOT_COLUMNS; i++)
        for (int j = i + 1; j < DB_SPOT_COLUMNS; j++)
            sum[(size_t)i * stride + (size_t)j] = sum[(size_t)j * stride + (size_t)i];
}

/* half[c] += sum over e of factor product[c][e] coefficient[e] */
AD_INLINE void add_half(size_t images, double factor, double product[][DB_SPOT_COLUMNS],
                        double coefficient[][PRODUCT_IMAGES], double half[][PRODUCT_IMAGES]) {
    for (int c = 0; c < DB_SPOT_COLUMNS; c++)
        for (size_t k = 0; k < images; k += DB_NORMAL_BLOCK) {
            double sum[DB_NORMAL_BLOCK] = { 0 };
            for (int e = 0; e < DB_SPOT_COLUMNS; e++)
                for (int i = 0; i < DB_NORMAL_BLOCK; i++)
                    sum[i] += product[c][e] * coefficient[e][k + (size_t)i];
            for (int i = 0; i < DB_NORMAL_BLOCK; i++) half[c][k + (size_t)i] += factor * sum[i];
        }
}

/* sums += C half + (C half)^T, its lower triangle in blocks */
AD_INLINE void add_whole(size_t images, double coefficient[][PRODUCT_IMAGES],
                         double half[][PRODUCT_IMAGES], double *sums) {
    enum { N = DB_NORMAL_BLOCK };
    for (size_t i = 0; i < images; i += N)
        for (size_t j = 0; j <= i; j += N, sums += N * N) {
            double block[N][N] = { 0 };
            for (int c = 0; c < DB_SPOT_COLUMNS; c++) {
                const double *by_row = coefficient[c] + i;
                const double *half_row = half[c] + i;
#pragma GCC unroll 4
                for (int column = 0; column < N; column++) {
                    const double x = half[c][j + (size_t)column],
                                 y = coefficient[c][j + (size_t)column];
                    for (int row = 0; row < N; row++)
                        block[column][row] += by_row[row] * x + half_row[row] * y;
                }
            }
            for (int m = 0; m < N * N; m++) sums[m] += block[m / N][m % N];
        }
}

/* The spot's coefficients, transposed, for images in their typical steps. */
static void fill_coefficient(const db_kernel_job *job, uint32_t number,
                             double coefficient[][PRODUCT_IMAGES]) {
    const size_t count = job->spots.parameters,
                 end = (job->parameter_count + DB_NORMAL_BLOCK) / DB_NORMAL_BLOCK * DB_NORMAL_BLOCK;
    const SHAPE_REAL *slope = job->spots.FINE(slope) + number * count * DB_SPOT_COLUMNS;
    for (size_t k = 0; k < end; k++)
        for (int c = 0; c < DB_SPOT_COLUMNS; c++)
            coefficient[c][k] = k < count ? job->spots.step[k] * job->scale *
                                                (double)slope[k * DB_SPOT_COLUMNS + (size_t)c]
                                          : 0;
}

/* Columns of two spots in the groups that both reach; b NULL: and rows of pixels. Returns how many. */
AD_INLINE int shared_groups(const spot_products *p, const product_spot *a, const product_spot *b,
                            const fine **of_a, const fine **of_b) {
    int rows = 0;
    for (uint64_t left = b ? a->groups & b->groups : a->groups; left; left &= left - 1) {
        const int g = __builtin_ctzll(left);
        of_a[rows] = p->column[a->visit[g]];
        of_b[rows++] = b ? p->column[b->visit[g]] : p->row[g];
    }
    return rows;
}

/* What spot s and those before it, and the pixels, add. */
static __attribute__((noinline)) void add_spot_products(spot_products *p, int s) {
    const fine *a[PRODUCT_GROUPS];
    const fine *b[PRODUCT_GROUPS];
    double product[DB_SPOT_COLUMNS][DB_SPOT_COLUMNS];
    double loose[DB_SPOT_COLUMNS][PRODUCT_LOOSE + 1];
    double half[DB_SPOT_COLUMNS][PRODUCT_IMAGES];
    double(*own)[PRODUCT_IMAGES] = p->coefficient[s];
    const size_t end = (p->images + DB_NORMAL_BLOCK - 1) / DB_NORMAL_BLOCK * DB_NORMAL_BLOCK;
    int rows = shared_groups(p, &p->spot[s], &p->spot[s], a, b);
    if (rows == 0) return;
    for (int c = 0; c < DB_SPOT_COLUMNS; c++) memset(half[c], 0, end * sizeof half[c][0]);
    sum_products(rows, a, b, DB_SPOT_COLUMNS, 1, product[0], DB_SPOT_COLUMNS);
    add_half(end, 0.5, product, own, half);
    for (int t = 0; t < s; t++) {
        rows = shared_groups(p, &p->spot[s], &p->spot[t], a, b);
        if (rows == 0) continue;
        sum_products(rows, a, b, DB_SPOT_COLUMNS, 0, product[0], DB_SPOT_COLUMNS);
        add_half(end, 1, product, p->coefficient[t], half);
    }
    rows = shared_groups(p, &p->spot[s], NULL, a, b);
    sum_products(rows, a, b, p->loose + 1, 0, loose[0], PRODUCT_LOOSE + 1);
    for (int c = 0; c < DB_SPOT_COLUMNS; c++)
        for (int i = 0; i <= p->loose; i++) half[c][p->image[i]] += loose[c][i];
    add_whole(end, own, half, p->sums);
}

/* Products of what pixels have without their spots, and of the residuals. */
static __attribute__((noinline)) void add_loose_products(const spot_products *p) {
    for (int i = 0; i <= p->loose; i++)
        for (int j = 0; j <= i; j++) {
            double all = 0;
            for (uint64_t left = p->rows; left;) {
                fine sum = f_set(0);
                SHAPE_REAL lane[LANES];
                for (int g = 0; g < NORMAL_RUN && left; g++, left &= left - 1) {
                    const fine *row = p->row[__builtin_ctzll(left)];
                    sum = f_fma(row[i], row[j], sum);
                }
                f_store(lane, sum);
                for (int l = 0; l < LANES; l++) all += (double)lane[l];
            }
            p->sums[db_normal_index(p->image[i], p->image[j])] += all;
        }
}

/* Adds all to the sums. */
static void end_products(const db_kernel_job *job, spot_products *p) {
    for (int s = 0; s < p->spots; s++) {
        fill_coefficient(job, p->spot[s].number, p->coefficient[s]);
        add_spot_products(p, s);
    }
    if (p->rows) add_loose_products(p);
    p->spots = p->visits = p->groups = 0;
    p->rows = 0;
}

/* Whether a band's spots are to be summed so, which then have their slots. reached: groups that each of
 * them may reach, together; groups: of the band. */
static int products_take(const db_kernel_job *job, spot_products *p, const uint32_t *number,
                         int count, int reached, int groups) {
    if (count > PRODUCT_SPOTS || reached > PRODUCT_VISITS) return 0;
    if (p->spots + count > PRODUCT_SPOTS || p->visits + reached > PRODUCT_VISITS ||
        p->groups + groups > PRODUCT_GROUPS)
        end_products(job, p);
    for (int i = 0; i < count; i++) {
        int slot = 0;
        while (slot < p->spots && p->spot[slot].number != number[i]) slot++;
        if (slot == p->spots) {
            p->spot[slot].number = number[i];
            p->spot[slot].groups = 0;
            p->spots++;
        }
        p->slot[i] = (uint16_t)slot;
    }
    return 1;
}

/* A group of pixels, all of whose spots have added their columns. */
AD_INLINE void weigh_group(const db_kernel_job *job, const db_kernel_contraction *contraction,
                           const pixel_sums *sums, const group_target *target, int count, int group,
                           spot_products *p) {
    const pixel_weight w = pixel_weight_of(load_group(job->weight, target), job->weight != NULL);
    const int all_weigh_one = !job->weight && target->count == LANES;
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
    row[p->loose] = weighted(w, residual_of(job, sums->intensity, load_group(job->data, target)));
}
#else
typedef struct spot_products spot_products; /* forward instances have none */
#endif

#endif
