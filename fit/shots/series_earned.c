/* Which quantities of a series are earned? */
#include "fit/shots/series_earned.h"

#include "base/context_internal.h"
#include "fit/linear/cholesky.h"
#include "fit/linear/schur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The quadratic model of the loss: half the slopes h, the normal matrix N = L L' of what moves. */
typedef struct series_model {
    const db_series_evidence *of;
    double *normal, *slope, *factor, *room;
} series_model;

static void factor_model(const series_model *m, const unsigned char *held) {
    const size_t n = m->of->unknowns;
    db_cholesky_factor(n, m->normal, n, 0, held, DB_LEAST_FOR_VARIANCE, m->factor);
}

/* Column k of N^-1, in room. */
static void solve_column(const series_model *m, size_t k) {
    const size_t n = m->of->unknowns;
    for (size_t i = 0; i < n; i++) m->room[i] = i == k;
    db_cholesky_solve(n, m->factor, m->room);
}

/* An element of the scatter V of the half slopes. */
static double scatter_of(const series_model *m, size_t i, size_t k) {
    const double *const triangle = m->of->scatter + 1 + m->of->unknowns;
    return triangle[db_triangle_at(i, k)];
}

/* Variance of an unknown, misfit included: an element of N^-1 V N^-1 (the sandwich). */
static double variance_of(const series_model *m, size_t k) {
    const size_t n = m->of->unknowns;
    double sum = 0;
    if (!(m->factor[k * n + k] > 0)) return INFINITY; /* not determined */
    solve_column(m, k);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) sum += m->room[i] * m->room[j] * scatter_of(m, i, j);
    return sum;
}

/* Fall of the loss to its minimum, and the part of it that chance brings. */
typedef struct fall {
    double loss, chance;
} fall;

/* h' N^-1 h, and its mean tr(N^-1 V) if slopes are chance (K. Takeuchi, Suri-Kagaku 153, 12, 1976). */
static fall fall_of(const series_model *m) {
    const size_t n = m->of->unknowns;
    fall sum = { 0, 0 };
    for (size_t i = 0; i < n; i++) m->room[i] = m->slope[i];
    db_cholesky_forward(n, m->factor, m->room);
    for (size_t i = 0; i < n; i++) sum.loss += m->room[i] * m->room[i];
    for (size_t k = 0; k < n; k++) {
        solve_column(m, k);
        for (size_t i = 0; i < n; i++) sum.chance += m->room[i] * scatter_of(m, i, k);
    }
    return sum;
}

static void hold_all(const db_series_evidence *e, db_earning kind, unsigned char *held) {
    for (size_t i = 0; i < e->unknowns; i++)
        if (e->earning[i] == kind) held[i] = 1;
}

static int lacks_tilts(const series_model *m, const unsigned char *held) {
    double most = 0;
    for (size_t i = 0; i < m->of->unknowns; i++)
        if (m->of->earning[i] == DB_EARNING_TILT && !held[i]) most = fmax(most, variance_of(m, i));
    return most > DB_USUAL_SPINDLE_TILT * DB_USUAL_SPINDLE_TILT;
}

static int moves_any(const db_series_evidence *e, db_earning kind, const unsigned char *held) {
    for (size_t i = 0; i < e->unknowns; i++)
        if (e->earning[i] == kind && !held[i]) return 1;
    return 0;
}

/* Is the fall of the loss by a kind less than Schwarz's criterion asks for? Then the kind is held. trial: room for flags. */
static int lacks_fall(const series_model *m, db_earning kind, unsigned char *held,
                      unsigned char *trial) {
    const db_series_evidence *const e = m->of;
    if (!moves_any(e, kind, held)) return 0;
    factor_model(m, held);
    const fall with = fall_of(m);
    memcpy(trial, held, e->unknowns);
    hold_all(e, kind, trial);
    factor_model(m, trial);
    const fall without = fall_of(m);
    const int lacks = with.loss - without.loss <=
                      (with.chance - without.chance) * log((double)e->reflections + 1);
    if (lacks) memcpy(held, trial, e->unknowns);
    return lacks;
}

db_status db_series_earn(db_context *context, const db_series_evidence *e,
                         const unsigned char *held, int unearned[DB_EARNINGS]) {
    const size_t n = e->unknowns;
    double loss;
    unsigned char *const flags = malloc(2 * n + 1);
    memset(unearned, 0, DB_EARNINGS * sizeof *unearned);
    double *const numbers = malloc((2 * n * n + 2 * n + 1) * sizeof *numbers);
    if (flags && numbers) {
        const series_model m = { e, numbers, numbers + n * n, numbers + n * n + n,
                                 numbers + 2 * n * n + n };
        db_schur_total(n, e->sums, &loss, m.slope, m.normal);
        for (size_t i = 0; i < n; i++) m.slope[i] *= 0.5;
        memcpy(flags, held, n);
        factor_model(&m, flags);
        unearned[DB_EARNING_TILT] = lacks_tilts(&m, flags);
        if (unearned[DB_EARNING_TILT]) hold_all(e, DB_EARNING_TILT, flags);
        unearned[DB_EARNING_SCALE] = lacks_fall(&m, DB_EARNING_SCALE, flags, flags + n);
        unearned[DB_EARNING_ROTATION] = lacks_fall(&m, DB_EARNING_ROTATION, flags, flags + n);
    }
    const db_status status = db_need_memory(context, flags && numbers, "what a series has to earn");
    free(flags);
    free(numbers);
    return status;
}
