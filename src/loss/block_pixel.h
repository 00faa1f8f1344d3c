/* Pixels of a block, for the processor and for devices: cost and columns of a pixel, and the search for the best
 * coefficients from sums over pixels. */
#ifndef DB_LOSS_BLOCK_PIXEL_H
#define DB_LOSS_BLOCK_PIXEL_H

#include "loss/block_model.h"
#include "loss/eliminate.h"
#include "loss/pixel_loss.h"

/* A pixel in use. */
typedef struct db_block_place {
    size_t at;         /* index in the arrays */
    double fast, slow; /* from the block's centre */
    double spot, plane;
} db_block_place;

/* Index of a pixel in the arrays. */
AD_FN size_t db_block_element(const db_region *r, int fast, int slow) {
    return r->offset + (size_t)slow * r->stride + (size_t)fast;
}

AD_FN db_block_place db_block_place_of(const db_block *block, const double *linear, int fast,
                                       int slow) {
    const db_region *const r = &block->region;
    const size_t at = db_block_element(r, fast, slow);
    db_block_place p = { at, fast - 0.5 * (r->fast_count - 1), slow - 0.5 * (r->slow_count - 1), 0,
                         0 };
    p.spot = linear[0] * (double)block->shape[at];
    p.plane = linear[1] + linear[2] * p.fast + linear[3] * p.slow;
    if (block->offset) p.plane += (double)block->offset[at];
    return p;
}

AD_FN db_pixel_cost db_block_cost(const db_block *block, const db_block_place *p) {
    return db_pixel_loss(block->loss, (double)block->value[p->at], (double)block->weight[p->at],
                         (double)block->shape_variance[p->at], p->spot + p->plane);
}

/* Derivatives of the expected counts by J, b0, b1, b2. */
AD_FN void db_block_columns(const db_block *block, const db_block_place *p, double *column) {
    column[0] = (double)block->shape[p->at];
    column[1] = 1;
    column[2] = p->fast;
    column[3] = p->slow;
}

/* Adds one pixel. */
AD_FN void db_block_add(const db_block *block, const db_block_place *p, const db_pixel_cost *cost,
                        db_block_sums *sums) {
    double column[DB_LINEAR];
    db_block_columns(block, p, column);
    sums->value += cost->value;
    for (int i = 0; i < DB_LINEAR; i++) {
        const double weighted = cost->bend * column[i];
        sums->gradient[i] += cost->slope * column[i];
        for (int j = 0; j <= i; j++) sums->normal[DB_LINEAR * i + j] += weighted * column[j];
    }
}

/* After all pixels: adds the ridge, removes coefficients that are not free. */
AD_FN void db_block_close(const db_block *block, const double *linear, db_block_sums *sums) {
    const double off = linear[0] - block->expected;
    sums->value += block->ridge * off * off;
    sums->gradient[0] += 2 * block->ridge * off;
    sums->normal[0] += block->ridge;
    for (int i = 0; i < DB_LINEAR; i++) {
        if (block->used[i]) continue;
        sums->gradient[i] = 0;
        for (int j = 0; j < DB_LINEAR; j++)
            sums->normal[DB_LINEAR * i + j] = sums->normal[DB_LINEAR * j + i] = 0;
    }
}

/* The best step of all coefficients, with J above 0; returns the promised decrease. J is eliminated last, so that
 * its limit leaves the others best. */
AD_FN double db_block_best_step(const db_block_sums *at, const double *linear, double *step,
                                double *variance) {
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

/* Search for the best coefficients, between two sums. */
typedef struct db_block_search {
    double from[DB_LINEAR], step[DB_LINEAR];
    double before; /* value at `from` */
    double value, variance;
    int passes;
} db_block_search;

AD_FN void db_block_search_begin(db_block_search *s) {
    for (int i = 0; i < DB_LINEAR; i++) s->from[i] = s->step[i] = 0;
    s->before = s->value = s->variance = 0;
    s->passes = 0;
}

/* Moves the coefficients, from sums at their present values. Returns 0 after the last move. */
AD_FN int db_block_search_on(const db_block *block, const db_block_sums *sums, double *linear,
                             db_block_search *s) {
    enum { PASSES = 40 };
    const double enough = 1e-10; /* of the loss, whose scale is 1 per pixel */
    const double limit = s->before + 1e-9 * fabs(s->before);
    if (s->passes++ > 0 && sums->value > limit) { /* too far: go halfway back */
        for (int i = 0; i < DB_LINEAR; i++) linear[i] = s->from[i] + (s->step[i] *= 0.5);
        return s->passes < PASSES;
    }
    const double promise = db_block_best_step(sums, linear, s->step, &s->variance);
    for (int i = 0; i < DB_LINEAR; i++) {
        s->from[i] = linear[i];
        linear[i] += s->step[i];
    }
    s->before = sums->value;
    s->value = sums->value - promise;
    return promise > enough && block->loss->target != DB_LOSS_WEIGHTED && s->passes < PASSES;
}

#endif
