/* What refining all other quantities beside an intensity costs it: the diagonal of H^-1, by random
 * signs (M. F. Hutchinson, Commun. Stat. Simul. Comput. 19 (1990) 433; docs/theory/joint-intensities.md,
 * Errors). */
#include "fit/intensities/spread.h"

#include "base/context_internal.h"
#include "fit/shots/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* +1 or -1 by chance: a bit of splitmix64 (Steele, Lea & Flood 2014). */
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

/* Adds z (x - u - A u) of a probe z: what D H^-1 has on its diagonal beyond 1 + A, A = V V' / D, but for
 * noise by the elements beside it. */
static db_status add_probe(const probe *p, int number, double *sum) {
    const size_t n = p->system->reflections, m = p->system->shared;
    const double *const D = p->system->diagonal;
    int iterations;
    for (size_t h = 0; h < n; h++) p->u[h] = D[h] > 0 ? sign_of(number, h) / sqrt(D[h]) : 0;
    memset(p->u + n, 0, m * sizeof *p->u);
    if (p->project) p->project(p->user, p->u);
    DB_TRY(db_joint_system_multiply(p->system, p->groups, p->u, p->product));
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
        room ? DB_OK : db_fail_memory(system->context, "the errors of the intensities"));
    memset(spread, 0, n * sizeof *spread);
    for (int i = 0; room && i < probes && status == DB_OK; i++) status = add_probe(&p, i, spread);
    for (size_t h = 0; h < n; h++) {
        const double D = system->diagonal[h], first = D > 0 ? 1 + system->remainder[h] / D : 1;
        spread[h] = fmax(first, first + spread[h] / fmax(1, probes));
    }
    free(room);
    return status;
}
