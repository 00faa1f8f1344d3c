/* The loss of a block and what eliminating its linear coefficients leaves. */
#include "fit/objective/block.h"

#include "fit/objective/eliminate.h"
#include "fit/objective/pixel_loss.h"

#include <string.h>

/* A pixel in use. */
typedef struct place {
    size_t at;         /* element of the arrays */
    double fast, slow; /* from the block's centre */
    double spot, plane;
} place;

static place place_of(const db_block *block, const double linear[DB_LINEAR], int fast, int slow) {
    const db_region *const r = &block->region;
    place p = { .at = r->offset + (size_t)slow * r->stride + (size_t)fast,
                .fast = fast - 0.5 * (r->fast_count - 1),
                .slow = slow - 0.5 * (r->slow_count - 1) };
    p.spot = linear[0] * (double)block->shape[p.at];
    p.plane = db_block_plane(linear, r, fast, slow);
    if (block->offset) p.plane += (double)block->offset[p.at];
    return p;
}

static db_pixel_cost cost_of(const db_block *block, const place *p) {
    return db_pixel_loss(block->loss, (double)block->value[p->at], (double)block->weight[p->at],
                         (double)block->shape_variance[p->at], p->spot + p->plane);
}

db_pixel_report db_block_pixel(const db_block *block, const double linear[DB_LINEAR], int fast,
                               int slow) {
    const place p = place_of(block, linear, fast, slow);
    const db_pixel_cost cost = cost_of(block, &p);
    return (db_pixel_report){ p.spot + p.plane, p.spot, cost.variance, cost.trust };
}

/* Adds one pixel: columns of the coefficients are (shape, 1, fast, slow). */
static void add_pixel(const place *p, double shape, const db_pixel_cost *cost,
                      db_block_sums *sums) {
    const double column[DB_LINEAR] = { shape, 1, p->fast, p->slow };
    sums->value += cost->value;
    for (int i = 0; i < DB_LINEAR; i++) {
        const double weighted = cost->bend * column[i];
        sums->gradient[i] += cost->slope * column[i];
        for (int j = 0; j <= i; j++) sums->normal[DB_LINEAR * i + j] += weighted * column[j];
    }
}

void db_block_sum(const db_block *block, const double linear[DB_LINEAR], db_block_sums *sums) {
    memset(sums, 0, sizeof *sums);
    for (int slow = 0; slow < block->region.slow_count; slow++) {
        for (int fast = 0; fast < block->region.fast_count; fast++) {
            const place p = place_of(block, linear, fast, slow);
            if (!(block->weight[p.at] > 0)) continue;
            const db_pixel_cost cost = cost_of(block, &p);
            add_pixel(&p, (double)block->shape[p.at], &cost, sums);
        }
    }
    sums->value += block->ridge * linear[0] * linear[0];
    sums->gradient[0] += 2 * block->ridge * linear[0];
    sums->normal[0] += block->ridge;
    for (int i = 0; i < DB_LINEAR; i++) {
        if (block->used[i]) continue;
        sums->gradient[i] = 0;
        for (int j = 0; j < DB_LINEAR; j++)
            sums->normal[DB_LINEAR * i + j] = sums->normal[DB_LINEAR * j + i] = 0;
    }
}

/* The best step of all coefficients, J staying above 0; returns the decrease that it promises. J
 * comes last in the elimination, so that its limit leaves the others best. */
static double best_step(const db_block_sums *at, const double linear[DB_LINEAR],
                        double step[DB_LINEAR], double *variance) {
    db_block_sums s = *at;
    double promise = db_eliminate(DB_LINEAR, 0, s.gradient, s.normal, DB_LINEAR);
    *variance = s.normal[0] > 0 ? 1 / s.normal[0] : 0;
    for (size_t i = 0; i < DB_LINEAR; i++) {
        step[i] = db_eliminated_step(s.normal + i * DB_LINEAR, i, s.gradient[i], step);
        if (i > 0 || !(at->normal[0] > 0) || linear[0] + step[0] >= 0) continue;
        const double lost = step[0] + linear[0];
        step[0] = -linear[0];
        promise -= s.normal[0] * lost * lost;
        *variance = 0;
    }
    return promise;
}

double db_block_solve(const db_block *block, double linear[DB_LINEAR], double *variance) {
    enum { PASSES = 40 };
    const double enough = 1e-10; /* of the loss, whose scale is 1 per pixel */
    double from[DB_LINEAR], step[DB_LINEAR] = { 0 }, value = 0, before = INFINITY;
    db_block_sums sums;
    memcpy(from, linear, sizeof from);
    for (int pass = 0; pass < PASSES; pass++) {
        db_block_sum(block, linear, &sums);
        if (sums.value > before + 1e-9 * fabs(before)) { /* too far: halfway back */
            for (int i = 0; i < DB_LINEAR; i++) linear[i] = from[i] + (step[i] *= 0.5);
            continue;
        }
        const double promise = best_step(&sums, linear, step, variance);
        memcpy(from, linear, sizeof from);
        before = sums.value;
        for (int i = 0; i < DB_LINEAR; i++) linear[i] += step[i];
        value = sums.value - promise;
        if (promise <= enough || block->loss->target == DB_FIT_WEIGHTED) break;
    }
    return value;
}

/* Pixels whose rows of derivatives are multiplied at a time. */
enum {
    GROUP = 8,
    MOST_COLUMNS = (DB_PARAMETER_COUNT + DB_FIT_GROUP_MOTIONS + DB_LINEAR + 3) / 4 * 4
};

typedef struct row_group {
    int count;
    place pixel[GROUP];
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
        const place *const at = &g->pixel[p];
        double *const linear = g->row[p] + d->variables;
        linear[0] = (double)block->shape[at->at];
        linear[1] = 1;
        linear[2] = at->fast;
        linear[3] = at->slow;
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
    double value = block->ridge * linear[0] * linear[0];
    row_group group;
    group.count = 0;
    memset(gradient, 0, all * sizeof *gradient);
    if (normal) memset(normal, 0, all * all * sizeof *normal);
    for (int slow = 0; slow < block->region.slow_count; slow++) {
        for (int fast = 0; fast < block->region.fast_count; fast++) {
            place *const p = &group.pixel[group.count];
            *p = place_of(block, linear, fast, slow);
            if (!(block->weight[p->at] > 0)) continue;
            group.cost[group.count] = cost_of(block, p);
            value += group.cost[group.count].value;
            if (++group.count == GROUP)
                add_group(block, linear[0], derivatives, &group, gradient, normal);
        }
    }
    if (group.count) add_group(block, linear[0], derivatives, &group, gradient, normal);
    if (block->used[0]) {
        gradient[intensity] += 2 * block->ridge * linear[0];
        if (normal) normal[intensity * all + intensity] += block->ridge;
    }
    return value;
}
