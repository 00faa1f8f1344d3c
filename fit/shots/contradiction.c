/* A shot of another detector than the others' asks for other shared quantities than they do: a score test of each shot. */
#include "fit/shots/outliers.h"

#include "base/quantile.h"
#include "fit/linear/cholesky.h"
#include "fit/linear/schur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = DB_MOST_COMPARED };

/* Equations of shared quantities: a step x to the minimum has matrix x = pull. */
typedef struct shared_equations {
    double pull[MOST], matrix[MOST * MOST], factor[MOST * MOST];
} shared_equations;

typedef struct comparison {
    size_t count, shared;
    const double *sums;
    const unsigned char *used, *held;
    const double *misfit;
    shared_equations all, one, others;
    double least[MOST]; /* step to the minimum of the others */
} comparison;

size_t db_contradiction_size(size_t shared) {
    return shared > 0 && shared <= MOST ? db_schur_sums_size(shared) : 0;
}

static void factor_equations(const comparison *c, shared_equations *e) {
    db_cholesky_factor(c->shared, e->matrix, c->shared, 0, c->held, DB_LEAST_FOR_VARIANCE,
                       e->factor);
}

static void take_shot(const comparison *c, size_t shot, shared_equations *e) {
    double loss;
    db_schur_total(c->shared, c->sums + shot * db_schur_sums_size(c->shared), &loss, e->pull,
                   e->matrix);
    for (size_t k = 0; k < c->shared; k++) e->pull[k] *= -0.5;
}

static void add_equations(size_t shared, double times, const shared_equations *from,
                          shared_equations *to) {
    for (size_t k = 0; k < shared; k++) to->pull[k] += times * from->pull[k];
    for (size_t k = 0; k < shared * shared; k++) to->matrix[k] += times * from->matrix[k];
}

static void solve_equations(size_t shared, const shared_equations *e, double *x) {
    db_cholesky_solve(shared, e->factor, x);
}

/* Pull of a shot where the shared quantities have moved. */
static void pull_at(size_t shared, const shared_equations *e, const double *step, double *pull) {
    for (size_t k = 0; k < shared; k++) {
        pull[k] = e->pull[k];
        for (size_t l = 0; l < shared; l++) pull[k] -= e->matrix[k * shared + l] * step[l];
    }
}

/* Twice the gain in the log likelihood of a shot by values of its own. */
static double gain_of_own(const comparison *c, size_t shot, const double *step,
                          shared_equations *room) {
    double pull[MOST], gain = 0;
    take_shot(c, shot, room);
    factor_equations(c, room);
    pull_at(c->shared, room, step, pull);
    db_cholesky_forward(c->shared, room->factor, pull);
    for (size_t k = 0; k < c->shared; k++) gain += pull[k] * pull[k];
    return gain;
}

static size_t gaining_most(comparison *c) {
    double step[MOST], most = -1;
    size_t found = c->count;
    memcpy(step, c->all.pull, sizeof step);
    solve_equations(c->shared, &c->all, step);
    for (size_t i = 0; i < c->count; i++) {
        const double gain = c->used[i] ? gain_of_own(c, i, step, &c->one) : -1;
        if (!(gain > most)) continue;
        most = gain;
        found = i;
    }
    return found;
}

/* By how much the gains of the others exceed those by chance: median over that of chi2 of `shared` degrees of freedom (E. B.
 * Wilson & M. M. Hilferty, PNAS 17, 684, 1931). Their minimum has come towards each of them. */
static double excess_of_others(comparison *c, size_t shot, double *room) {
    const double shared = (double)c->shared, root = 1 - 2 / (9 * shared);
    size_t others = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->used[i] && i != shot) room[others++] = gain_of_own(c, i, c->least, &c->all);
    const double median = db_median(room, others);
    return median / (shared * root * root * root * (1 - 1 / (double)others));
}

/* The quantity in which the shot is farthest from the others, in errors. */
static void find_quantity(const comparison *c, const double *own, db_contradiction *found) {
    double most = -1;
    for (size_t k = 0; k < c->shared; k++) {
        double unit[2][MOST] = { { 0 } };
        unit[0][k] = unit[1][k] = 1;
        solve_equations(c->shared, &c->one, unit[0]);
        solve_equations(c->shared, &c->others, unit[1]);
        const double far = fabs(own[k]) / sqrt(unit[0][k] + unit[1][k]);
        if (!(far > most)) continue;
        most = far;
        found->quantity = k;
        found->others = c->least[k];
        found->own = c->least[k] + own[k];
        found->own_error = sqrt(unit[0][k]);
        found->others_error = sqrt(unit[1][k]);
    }
}

/* Square of the difference of the shot from the others, by the covariances of both. */
static double square_of_difference(const comparison *c, const double *pull) {
    const size_t s = c->shared;
    double both[MOST * MOST], factor[MOST * MOST], x[MOST], square = 0;
    for (size_t k = 0; k < s; k++) {
        double column[MOST];
        for (size_t l = 0; l < s; l++) column[l] = c->one.matrix[l * s + k];
        solve_equations(s, &c->others, column);
        for (size_t l = 0; l < s; l++) {
            both[l * s + k] = c->one.matrix[l * s + k];
            for (size_t m = 0; m < s; m++) both[l * s + k] += c->one.matrix[l * s + m] * column[m];
        }
        x[k] = pull[k];
    }
    db_cholesky_factor(s, both, s, 0, c->held, DB_LEAST_FOR_VARIANCE, factor);
    db_cholesky_forward(s, factor, x);
    for (size_t k = 0; k < s; k++) square += x[k] * x[k];
    return square;
}

static void compare_shot(comparison *c, size_t shot, double *room, db_contradiction *found) {
    double pull[MOST];
    take_shot(c, shot, &c->one);
    c->others = c->all;
    add_equations(c->shared, -1, &c->one, &c->others);
    factor_equations(c, &c->one);
    factor_equations(c, &c->others);
    memcpy(c->least, c->others.pull, sizeof c->least);
    solve_equations(c->shared, &c->others, c->least);
    pull_at(c->shared, &c->one, c->least, pull);
    const double excess = fmax(fmax(1, c->misfit[shot]), excess_of_others(c, shot, room));
    found->shot = shot;
    found->margin = 0.5 * square_of_difference(c, pull) / excess;
    solve_equations(c->shared, &c->one, pull);
    find_quantity(c, pull, found);
    found->own_error *= sqrt(excess);
    found->others_error *= sqrt(excess);
}

db_status db_contradiction_find(db_context *context, size_t count, size_t shared,
                                const double *sums, const unsigned char *used, const double *misfit,
                                const unsigned char *held, db_contradiction *found) {
    enum { FEWEST = 4 }; /* shots: of two or three nothing says which one is wrong */
    size_t compared = 0;
    memset(found, 0, sizeof *found);
    for (size_t i = 0; i < count; i++) compared += used[i] != 0;
    if (compared < FEWEST || !db_contradiction_size(shared)) return DB_OK;
    comparison *const c = calloc(1, sizeof *c);
    double *const room = malloc((count + 1) * sizeof *room);
    if (c && room) {
        c->count = count;
        c->shared = shared;
        c->sums = sums;
        c->used = used;
        c->misfit = misfit;
        c->held = held;
        for (size_t i = 0; i < count; i++) {
            if (!used[i]) continue;
            take_shot(c, i, &c->one);
            add_equations(shared, 1, &c->one, &c->all);
        }
        factor_equations(c, &c->all);
        compare_shot(c, gaining_most(c), room, found);
    }
    const db_status status = db_need_memory(context, c && room, "a comparison of shots");
    free(c);
    free(room);
    return status;
}
