/* Conjugate gradients over the records of shots. */
#include "fit/intensities/system.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/linear/cholesky.h"
#include "fit/shots/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_joint_system_make(db_joint_system *s) {
    const size_t n = s->reflections + s->shared, m = s->shared;
    const size_t size = 3 * s->reflections + m * (m + 1);
    const size_t chunks = db_joint_system_chunks(s);
    s->diagonal = calloc(s->reflections + 1, sizeof *s->diagonal);
    s->remainder = calloc(s->reflections + 1, sizeof *s->remainder);
    s->right = calloc(n + 1, sizeof *s->right);
    s->normal = calloc(m * m + 1, sizeof *s->normal);
    s->total = calloc(size + 1, sizeof *s->total);
    s->room = calloc(4 * n + m * m + 1, sizeof *s->room);
    db_status status = db_need_memory(
        s->context, s->diagonal && s->remainder && s->right && s->normal && s->total && s->room,
        "the equations of the intensities");
    if (status == DB_OK) status = db_tree_sum_begin(s->context, chunks, size, &s->sums);
    if (status == DB_OK) status = db_tree_sum_begin(s->context, chunks, n + 1, &s->products);
    if (status != DB_OK) db_joint_system_clear(s);
    return status;
}

void db_joint_system_clear(db_joint_system *s) {
    db_tree_sum_clear(&s->sums);
    db_tree_sum_clear(&s->products);
    free(s->diagonal);
    free(s->remainder);
    free(s->right);
    free(s->normal);
    free(s->total);
    free(s->room);
    s->diagonal = s->remainder = s->right = s->normal = s->total = s->room = NULL;
}

/* A pass over the records of some groups: each shot adds to the sums of its chunk. */
typedef struct pass {
    const db_joint_system *system;
    unsigned groups;
    db_joint_adder add;
    const void *user;
} pass;

static db_status add_chunk(const pass *p, size_t chunk, double *sums) {
    const db_joint_system *const s = p->system;
    const size_t first = chunk * s->chunk,
                 end = first + s->chunk < s->shots ? first + s->chunk : s->shots;
    for (size_t shot = first; shot < end; shot++) {
        db_reduced_equations record;
        if (!(s->group[shot] & p->groups)) continue;
        DB_TRY(s->read(s->user, shot, db_thread_number(), &record));
        p->add(p->user, &record, sums);
    }
    return DB_OK;
}

db_status db_joint_system_over(const db_joint_system *s, unsigned groups, db_tree_sum *tree,
                               db_joint_adder add, const void *user, double *total) {
    const pass p = { s, groups, add, user };
    const long chunks = (long)db_joint_system_chunks(s);
    db_status failed = DB_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (long chunk = 0; chunk < chunks; chunk++) {
        if (s->owner(s->owner_of, (size_t)chunk) != s->team.rank) continue;
        double *const sums = db_tree_sum_take(tree);
        const db_status status = sums ? add_chunk(&p, (size_t)chunk, sums) : DB_ERROR_MEMORY;
        if (sums) db_tree_sum_put(tree, (size_t)chunk, sums);
        if (status == DB_OK) continue;
#pragma omp atomic write
        failed = status;
    }
    if (failed == DB_ERROR_MEMORY)
        failed = db_fail_memory(s->context, "the equations of the intensities");
    DB_TRY(db_team_common_status(&s->team, s->context, failed));
    return db_tree_sum_total(&s->team, s->context, tree, s->owner, s->owner_of, total);
}

static void add_record(const void *user, const db_reduced_equations *r, double *sums) {
    const db_joint_system *const s = user;
    const size_t reflections = s->reflections, n = r->local, m = r->shared;
    double *const remainder = sums + reflections;
    double *const right = remainder + reflections;
    double *const normal = right + reflections + m;
    for (size_t b = 0; b < r->count; b++) {
        const float *const tail = r->tail + b * n;
        double slope = (double)r->pull[b], square = 0;
        for (size_t i = 0; i < n; i++) {
            slope -= (double)tail[i] * r->own[i];
            square += (double)tail[i] * (double)tail[i];
        }
        sums[r->reflection[b]] += (double)r->curvature[b];
        remainder[r->reflection[b]] += square;
        right[r->reflection[b]] -= slope;
    }
    for (size_t g = 0; g < m; g++) right[reflections + g] -= r->slope[g];
    for (size_t i = 0; i < m * m; i++) normal[i] += r->normal[i];
}

db_status db_joint_system_sum(db_joint_system *s, unsigned groups) {
    const size_t n = s->reflections, m = s->shared;
    DB_TRY(db_joint_system_over(s, groups, &s->sums, add_record, s, s->total));
    const double *const sums = s->total;
    memcpy(s->diagonal, sums, n * sizeof *sums);
    memcpy(s->remainder, sums + n, n * sizeof *sums);
    memcpy(s->right, sums + 2 * n, (n + m) * sizeof *sums);
    memcpy(s->normal, sums + 3 * n + m, m * m * sizeof *sums);
    return DB_OK;
}

/* A quantity with diagonal 0 is not determined. */
void db_joint_system_hold(db_joint_system *s, size_t g) {
    for (size_t k = 0; k < s->shared; k++)
        s->normal[g * s->shared + k] = s->normal[k * s->shared + g] = 0;
    s->right[s->reflections + g] = 0;
}

/* A factor of the product. */
typedef struct factor {
    size_t reflections;
    const double *x; /* [reflections + shared] */
} factor;

/* Adds a shot's part of H x, without the diagonal. */
static void add_product(const void *user, const db_reduced_equations *r, double *sums) {
    enum { MOST = 512 }; /* local quantities at a time */
    const factor *const p = user;
    const size_t reflections = p->reflections, n = r->local, m = r->shared;
    const double *const g = p->x + reflections;
    double *const border = sums + reflections;
    for (size_t from = 0; from < n; from += MOST) {
        const size_t some = n - from < MOST ? n - from : MOST;
        const double *const cross = r->cross + from * m;
        double t[MOST] = { 0 };
        for (size_t b = 0; b < r->count; b++) {
            const float *const tail = r->tail + b * n + from;
            const double x = p->x[r->reflection[b]];
            for (size_t i = 0; i < some; i++) t[i] += (double)tail[i] * x;
        }
        for (size_t i = 0; i < some; i++) {
            double sum = t[i];
            for (size_t k = 0; k < m; k++) {
                border[k] -= cross[i * m + k] * t[i];
                sum += cross[i * m + k] * g[k];
            }
            t[i] = sum;
        }
        for (size_t b = 0; b < r->count; b++) {
            const float *const tail = r->tail + b * n + from;
            double sum = 0;
            for (size_t i = 0; i < some; i++) sum += (double)tail[i] * t[i];
            sums[r->reflection[b]] -= sum;
        }
    }
    for (size_t b = 0; b < r->count; b++) {
        const float *const mixed = r->by_shared + b * r->meets;
        const uint16_t *const place = r->place + b * r->meets;
        const double x = p->x[r->reflection[b]];
        double sum = 0;
        for (size_t i = 0; i < r->meets; i++) {
            sum += (double)mixed[i] * g[place[i]];
            border[place[i]] += (double)mixed[i] * x;
        }
        sums[r->reflection[b]] += sum;
    }
}

/* Conjugate gradients. */
typedef struct search {
    db_joint_system *system;
    unsigned groups;
    double damping;
    size_t count; /* number of unknowns: shared ones may be held */
    double *residual, *direction, *product, *conditioned;
    double *factor; /* factor of the shared quantities' matrix, [shared][shared] */
} search;

static db_status multiply(const search *s) {
    db_joint_system *const y = s->system;
    const size_t n = y->reflections, m = y->shared;
    const factor of = { n, s->direction };
    DB_TRY(db_joint_system_over(y, s->groups, &y->products, add_product, &of, y->total));
    for (size_t h = 0; h < n; h++)
        s->product[h] = y->diagonal[h] > 0
                            ? y->total[h] + (1 + s->damping) * y->diagonal[h] * s->direction[h]
                            : 0;
    for (size_t g = n; g < n + m; g++) {
        s->product[g] = y->total[g];
        for (size_t i = 0; i < m; i++)
            s->product[g] += y->normal[(g - n) * m + i] * s->direction[n + i];
        s->product[g] += s->damping * y->normal[(g - n) * m + g - n] * s->direction[g];
    }
    for (size_t g = s->count; g < n + m; g++) s->product[g] = 0;
    return DB_OK;
}

static void condition(const search *s) {
    const db_joint_system *const y = s->system;
    const size_t n = y->reflections, m = y->shared;
    double *const z = s->conditioned;
    for (size_t h = 0; h < n; h++)
        z[h] = y->diagonal[h] > 0 ? s->residual[h] / ((1 + s->damping) * y->diagonal[h]) : 0;
    for (size_t g = n; g < n + m; g++) z[g] = g < s->count ? s->residual[g] : 0;
    if (s->count == n) return;
    db_cholesky_solve(m, s->factor, z + n);
}

static double product_of(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static db_status iterate(const search *s, double tolerance, double *x, int *iterations) {
    enum { MOST = 300 };
    const size_t all = s->system->reflections + s->system->shared;
    double square, first;
    condition(s);
    memcpy(s->direction, s->conditioned, all * sizeof *x);
    square = first = product_of(s->residual, s->conditioned, all);
    for (*iterations = 0; *iterations < MOST; ++*iterations) {
        if (!(square > tolerance * tolerance * first)) return DB_OK;
        DB_TRY(multiply(s));
        const double bend = product_of(s->direction, s->product, all);
        if (!(bend > 0)) return DB_OK; /* a direction that nothing determines */
        const double length = square / bend;
        for (size_t i = 0; i < all; i++) {
            x[i] += length * s->direction[i];
            s->residual[i] -= length * s->product[i];
        }
        condition(s);
        const double next = product_of(s->residual, s->conditioned, all);
        for (size_t i = 0; i < all; i++)
            s->direction[i] = s->conditioned[i] + next / square * s->direction[i];
        square = next;
    }
    return DB_OK;
}

db_status db_joint_system_solve(db_joint_system *system, unsigned groups, double damping,
                                double tolerance, int shared_moves, const double *right, double *x,
                                int *iterations) {
    const size_t n = system->reflections, m = system->shared, all = n + m;
    double *const room = system->room;
    const search s = { .system = system,
                       .groups = groups,
                       .damping = damping,
                       .count = shared_moves ? all : n,
                       .residual = room,
                       .direction = room + all,
                       .product = room + 2 * all,
                       .conditioned = room + 3 * all,
                       .factor = room + 4 * all };
    if (shared_moves)
        db_cholesky_factor(m, system->normal, m, damping, NULL, DB_LEAST_FOR_STEP, s.factor);
    for (size_t i = 0; i < all; i++) {
        const int moves = i < n ? system->diagonal[i] > 0 : i < s.count;
        s.residual[i] = moves ? right[i] : 0;
        x[i] = 0;
    }
    return iterate(&s, tolerance, x, iterations);
}

/* product = H x for these groups, after their sums; both [reflections + shared]. */
static db_status multiply_system(db_joint_system *system, unsigned groups, const double *x,
                                 double *product) {
    const size_t all = system->reflections + system->shared;
    double *const direction = system->room;
    const search s = { .system = system,
                       .groups = groups,
                       .count = all,
                       .direction = direction,
                       .product = direction + all };
    memcpy(direction, x, all * sizeof *x);
    DB_TRY(multiply(&s));
    memcpy(product, s.product, all * sizeof *product);
    return DB_OK;
}

/* Growth of an intensity's variance by all other refined quantities: the diagonal of H^-1, by random signs (M. F.
 * Hutchinson, Commun. Stat. Simul. Comput. 19 (1990) 433; docs/theory/joint-intensities.md, Errors). */

/* Random sign: a bit of splitmix64 (Steele, Lea & Flood 2014). */
static double sign_of(int probe, size_t h) {
    uint64_t z = 0x9e3779b97f4a7c15u * ((uint64_t)h + 1) + ((uint64_t)probe << 48);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) & 1 ? 1 : -1;
}

/* Vectors [reflections + shared] of a probe. */
typedef struct probe {
    db_joint_system *system;
    db_joint_projector project;
    const void *user;
    unsigned groups;
    double *u, *product, *x;
} probe;

/* Adds z (x - u - A u) of a probe z, A = V V' / D: the diagonal of D H^-1 beyond 1 + A, with noise from its other
 * elements. */
static db_status add_probe(const probe *p, int number, double *sum) {
    const size_t n = p->system->reflections, m = p->system->shared;
    const double *const D = p->system->diagonal;
    int iterations;
    for (size_t h = 0; h < n; h++) p->u[h] = D[h] > 0 ? sign_of(number, h) / sqrt(D[h]) : 0;
    memset(p->u + n, 0, m * sizeof *p->u);
    if (p->project) p->project(p->user, p->u);
    DB_TRY(multiply_system(p->system, p->groups, p->u, p->product));
    for (size_t h = 0; h < n; h++) {
        const double first = D[h] > 0 ? 2 * p->u[h] - p->product[h] / D[h] : 0;
        sum[h] -= sign_of(number, h) * sqrt(D[h]) * first;
        p->u[h] *= D[h];
    }
    DB_TRY(db_joint_system_solve(p->system, p->groups, 0, 1e-2, m > 0, p->u, p->x, &iterations));
    if (p->project) p->project(p->user, p->x);
    for (size_t h = 0; h < n; h++) sum[h] += sign_of(number, h) * sqrt(D[h]) * p->x[h];
    return DB_OK;
}

db_status db_joint_system_spread(db_joint_system *system, unsigned groups, int probes,
                                 db_joint_projector project, const void *user, double *spread) {
    const size_t n = system->reflections, all = n + system->shared;
    double *const room = calloc(3 * all + 1, sizeof *room);
    const probe p = { system, project, user, groups, room, room + all, room + 2 * all };
    db_status status = db_team_common_status(
        &system->team, system->context,
        db_need_memory(system->context, room, "the errors of the intensities"));
    memset(spread, 0, n * sizeof *spread);
    for (int i = 0; room && i < probes && status == DB_OK; i++) status = add_probe(&p, i, spread);
    for (size_t h = 0; h < n; h++) {
        const double D = system->diagonal[h], first = D > 0 ? 1 + system->remainder[h] / D : 1;
        spread[h] = fmax(first, first + spread[h] / fmax(1, probes));
    }
    free(room);
    return status;
}
