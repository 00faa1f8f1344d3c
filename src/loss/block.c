/* Loss of a block, with its linear coefficients eliminated. */
#include "loss/block.h"

#include "loss/block_pixel.h"

#include <string.h>

static inline db_pixel_cost weighted_cost(const db_block *block, const db_block_place *p) {
    return db_weighted_cost((double)block->value[p->at], (double)block->weight[p->at],
                            p->spot + p->plane);
}

/* Cost of a pixel; the commonest target without a call. */
static inline db_pixel_cost cost_of(const db_block *block, const db_block_place *p) {
    return block->loss->target == DB_LOSS_WEIGHTED ? weighted_cost(block, p)
                                                   : db_block_cost(block, p);
}

db_pixel_report db_block_pixel_any(const db_block *block, const double linear[DB_LINEAR], int fast,
                                   int slow) {
    const db_block_place p = db_block_place_of(block, linear, fast, slow);
    const db_pixel_cost cost = cost_of(block, &p);
    return (db_pixel_report){ p.spot + p.plane, p.spot, cost.variance, cost.trust };
}

/* The sums of db_block_add, two side by side: the lower triangle, and products beside its diagonal that come for
 * free. */
typedef double pair __attribute__((vector_size(16)));
typedef struct pair_sums {
    double value;
    pair gradient[2], first, second, third[2], fourth[2]; /* rows of the normal matrix */
} pair_sums;

static inline void add_pairs(const db_block *block, const db_block_place *p,
                             const db_pixel_cost *cost, pair_sums *sums) {
    double column[DB_LINEAR];
    db_block_columns(block, p, column);
    const pair low = { column[0], column[1] }, high = { column[2], column[3] };
    sums->value += cost->value;
    sums->gradient[0] += cost->slope * low;
    sums->gradient[1] += cost->slope * high;
    sums->first += cost->bend * column[0] * low;
    sums->second += cost->bend * column[1] * low;
    sums->third[0] += cost->bend * column[2] * low;
    sums->third[1] += cost->bend * column[2] * high;
    sums->fourth[0] += cost->bend * column[3] * low;
    sums->fourth[1] += cost->bend * column[3] * high;
}

static inline void add_all(const db_block *block, const double *linear, int weighted,
                           pair_sums *sums) {
    pair_sums all; /* nobody else's: it stays in registers */
    memset(&all, 0, sizeof all);
    for (int slow = 0; slow < block->region.slow_count; slow++) {
        for (int fast = 0; fast < block->region.fast_count; fast++) {
            if (!(block->weight[db_block_element(&block->region, fast, slow)] > 0)) continue;
            const db_block_place p = db_block_place_of(block, linear, fast, slow);
            const db_pixel_cost cost =
                weighted ? weighted_cost(block, &p) : db_block_cost(block, &p);
            add_pairs(block, &p, &cost, &all);
        }
    }
    *sums = all;
}

void db_block_sum(const db_block *block, const double linear[DB_LINEAR], db_block_sums *sums) {
    pair_sums p;
    if (block->loss->target == DB_LOSS_WEIGHTED)
        add_all(block, linear, 1, &p);
    else
        add_all(block, linear, 0, &p);
    *sums =
        (db_block_sums){ .value = p.value,
                         .gradient = { p.gradient[0][0], p.gradient[0][1], p.gradient[1][0],
                                       p.gradient[1][1] },
                         .normal = { p.first[0], 0, 0, 0, p.second[0], p.second[1], 0, 0,
                                     p.third[0][0], p.third[0][1], p.third[1][0], 0, p.fourth[0][0],
                                     p.fourth[0][1], p.fourth[1][0], p.fourth[1][1] } };
    db_block_close(block, linear, sums);
}

double db_block_solve(const db_block *block, double linear[DB_LINEAR], double *variance) {
    db_block_search search;
    db_block_sums sums;
    db_block_search_begin(&search);
    do db_block_sum(block, linear, &sums);
    while (db_block_search_on(block, &sums, linear, &search));
    *variance = search.variance;
    return search.value;
}

/* Pixels whose rows of derivatives are multiplied together. */
enum { GROUP = 8, MOST_COLUMNS = (DB_BOXES_MOST_VARIABLES + DB_LINEAR + 3) / 4 * 4 };

typedef struct row_group {
    int count;
    db_block_place pixel[GROUP];
    db_pixel_cost cost[GROUP];
    double row[GROUP][MOST_COLUMNS]; /* derivatives of the expected counts by all unknowns */
} row_group;

static void fill_rows(const db_block *block, double intensity, const db_derivatives *d,
                      row_group *g) {
    for (int p = 0; p < g->count; p++) memset(g->row[p], 0, d->variables * sizeof g->row[p][0]);
    for (size_t l = 0; l < d->link_count; l++) {
        const db_link *const link = &d->links[l];
        const float *const image = d->image[link->column];
        const double factor = intensity * link->slope;
        for (int p = 0; p < g->count; p++)
            g->row[p][link->variable] += factor * (double)image[g->pixel[p].at];
    }
    for (int p = 0; p < g->count; p++) {
        const db_block_place *const at = &g->pixel[p];
        double *const linear = g->row[p] + d->variables;
        db_block_columns(block, at, linear);
        for (int i = 0; i < DB_LINEAR; i++)
            if (!block->used[i]) linear[i] = 0;
    }
}

static void add_gradient(const db_derivatives *d, const row_group *g, double *gradient) {
    for (int p = 0; p < g->count; p++)
        for (size_t k = 0; k < d->variables + DB_LINEAR; k++)
            gradient[k] += g->cost[p].slope * g->row[p][k];
}

static void scale_rows(const db_derivatives *d, row_group *g) {
    const size_t all = d->variables + DB_LINEAR;
    for (int p = 0; p < g->count; p++) {
        const double root = sqrt(g->cost[p].curvature);
        for (size_t k = 0; k < all; k++) g->row[p][k] *= root;
    }
    for (int p = g->count; p < GROUP; p++) memset(g->row[p], 0, all * sizeof g->row[p][0]);
}

static void add_products(const db_derivatives *d, const row_group *g, double *normal) {
    const size_t all = d->variables + DB_LINEAR;
    for (size_t k = 0; k < all; k++) {
        double *const sums = normal + k * all;
        const double f0 = g->row[0][k], f1 = g->row[1][k], f2 = g->row[2][k], f3 = g->row[3][k],
                     f4 = g->row[4][k], f5 = g->row[5][k], f6 = g->row[6][k], f7 = g->row[7][k];
        for (size_t l = 0; l <= k; l++)
            sums[l] +=
                ((f0 * g->row[0][l] + f1 * g->row[1][l]) +
                 (f2 * g->row[2][l] + f3 * g->row[3][l])) +
                ((f4 * g->row[4][l] + f5 * g->row[5][l]) + (f6 * g->row[6][l] + f7 * g->row[7][l]));
    }
}

static void add_group(const db_block *block, double intensity, const db_derivatives *d,
                      row_group *g, double *gradient, double *normal) {
    fill_rows(block, intensity, d, g);
    add_gradient(d, g, gradient);
    if (normal) {
        scale_rows(d, g);
        add_products(d, g, normal);
    }
    g->count = 0;
}

double db_block_derive(const db_block *block, const double linear[DB_LINEAR],
                       const db_derivatives *derivatives, double *gradient, double *normal) {
    const size_t all = derivatives->variables + DB_LINEAR, intensity = derivatives->variables;
    const double off = linear[0] - block->expected;
    double value = block->ridge * off * off;
    row_group group;
    group.count = 0;
    memset(gradient, 0, all * sizeof *gradient);
    if (normal) memset(normal, 0, all * all * sizeof *normal);
    for (int slow = 0; slow < block->region.slow_count; slow++) {
        for (int fast = 0; fast < block->region.fast_count; fast++) {
            db_block_place *const p = &group.pixel[group.count];
            *p = db_block_place_of(block, linear, fast, slow);
            if (!(block->weight[p->at] > 0)) continue;
            group.cost[group.count] = cost_of(block, p);
            value += group.cost[group.count].value;
            if (++group.count == GROUP)
                add_group(block, linear[0], derivatives, &group, gradient, normal);
        }
    }
    if (group.count) add_group(block, linear[0], derivatives, &group, gradient, normal);
    if (block->used[0]) {
        gradient[intensity] += 2 * block->ridge * off;
        if (normal) normal[intensity * all + intensity] += block->ridge;
    }
    return value;
}
