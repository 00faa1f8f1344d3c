/* Search by pairs of spots. Two spots have few pairs of nodes with their distances from the origin of reciprocal
 * space and their angle; each such pair gives a candidate orientation (with a known cell: Li et al., IUCrJ 6, 72,
 * 2019). The right candidate has more spots near nodes than a random orientation would have. */
#include "fit/search/orientation_search.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_PAIRED = 12, /* spots at the lowest angles that are paired first */
    MOST_PAIRED = 150,
    FIRST_PROBED = 50, /* spots that try candidates first */
    TURNS = 4          /* of a refinement at each tolerance */
};
static const double first_angle = 0.8; /* degree: error of a candidate and of the spots together */
static const double last_angle = 0.3;  /* degree: mosaic spread and the rest of this error */
static const double most_work = 3e9;   /* operations, about some seconds, for an effort of 1 */

typedef struct node {
    double direction[3], length;
} node;

/* Spots that try turns. */
typedef struct probes {
    size_t count;
    double by_chance;
    double *q[3];
    double *limit;  /* squared distance from a node within which a spot is near it */
    double *weight; /* -ln of the probability to be so near by chance */
} probes;

typedef struct search {
    const db_search_lattice *lattice;
    size_t count; /* spots, from low to high angles */
    const db_search_spot *spots;
    size_t node_count;
    node *nodes;            /* from low to high angles */
    double metric[9];       /* of a*; the turned crystal has the same */
    double *room;           /* of the probes */
    size_t lattices;        /* number of lattices that may share the spots */
    double work, most_work; /* work so far, and limit */
    db_context *context;
    int cancelled;
    db_search_candidates candidates;
} search;

/* The first spots, within the tolerance of an angle. */
static probes probes_of(const search *s, double angle, size_t count) {
    double *const column = s->room;
    probes p = { .q = { column, column + s->count, column + 2 * s->count },
                 .limit = column + 3 * s->count,
                 .weight = column + 4 * s->count };
    for (size_t i = 0; i < count; i++) {
        const double limit = db_search_tolerance(&s->spots[i], angle),
                     by_chance = db_search_chance(s->lattice, limit);
        if (by_chance >= 0.5) continue;
        for (int k = 0; k < 3; k++) p.q[k][p.count] = s->spots[i].q[k];
        p.limit[p.count] = limit * limit;
        p.weight[p.count++] = -log(by_chance);
        p.by_chance += by_chance;
    }
    return p;
}

/* rint, without a call of the library */
static double nearest_integer(double x) {
    const double shift = 0x1.8p52;
    return x + shift - shift;
}

/* A spot of fractional indices n + d is |a* d| away from node n. */
static db_agreement agree(const search *s, const double turn[9], const probes *p) {
    double a_star[9], m[9], near = 0, score = 0;
    const double *const g = s->metric;
    db_search_lattice_turn(s->lattice, turn, a_star, m);
#pragma omp simd reduction(+ : near, score)
    for (size_t i = 0; i < p->count; i++) {
        const double x = p->q[0][i], y = p->q[1][i], z = p->q[2][i];
        const double h = m[0] * x + m[1] * y + m[2] * z, k = m[3] * x + m[4] * y + m[5] * z,
                     l = m[6] * x + m[7] * y + m[8] * z;
        const double dh = h - nearest_integer(h), dk = k - nearest_integer(k),
                     dl = l - nearest_integer(l);
        const double off = dh * (g[0] * dh + 2 * (g[1] * dk + g[2] * dl)) +
                           dk * (g[4] * dk + 2 * g[5] * dl) + g[8] * dl * dl;
        near += off < p->limit[i] ? 1 : 0;
        score += off < p->limit[i] ? p->weight[i] : 0;
    }
    return (db_agreement){ p->count, (size_t)near, p->by_chance, score, 0 };
}

/* First node with at least this length. */
static size_t first_node(const search *s, double length) {
    size_t low = 0, high = s->node_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (s->nodes[middle].length < length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t nodes_of(const search *s, const db_search_spot *of, size_t *first) {
    *first = first_node(s, of->length - of->blur);
    return first_node(s, of->length + of->blur) - *first;
}

/* Tries all pairs of nodes for two spots. */
static void try_pair(search *s, const probes *p, const db_search_spot *a, const db_search_spot *b) {
    const double cosine = db_dot(a->q, b->q) / (a->length * b->length);
    const double angle = acos(fmax(-1, fmin(1, cosine)));
    const double off = first_angle * DB_DEGREE + a->blur / a->length + b->blur / b->length;
    if (angle < 0.3 || angle > 2.85) return; /* too close to parallel to define a turn */
    const double most = cos(fmax(0, angle - off)), least = cos(fmin(3.14159, angle + off));
    double measured[9], axes[9], back[9];
    db_search_candidates *const all = &s->candidates;
    size_t first[2];
    const size_t count[2] = { nodes_of(s, a, &first[0]), nodes_of(s, b, &first[1]) };
    db_search_frame(a->q, b->q, measured);
    s->work += 10.0 * (double)count[0] * (double)count[1];
    for (size_t i = first[0]; i < first[0] + count[0]; i++)
        for (size_t j = first[1]; j < first[1] + count[1]; j++) {
            const node *const m = &s->nodes[i];
            const node *const n = &s->nodes[j];
            const double c = db_dot(m->direction, n->direction);
            if (c > most || c < least) continue;
            db_search_candidate found = { .pose = { .scale = 1 } };
            db_search_frame(m->direction, n->direction, axes);
            db_transpose(axes, back);
            db_multiply(measured, back, found.pose.turn);
            found.score = agree(s, found.pose.turn, p).score;
            s->work += 30.0 * (double)p->count;
            all->count = db_search_keep(&found, sizeof found, all->list, all->count, all->most);
        }
}

/* The small turn that brings nodes nearest to their spots. 0: too few spots. */
static int best_turn(const search *s, const double turn[9], double angle, double omega[3]) {
    double a_star[9], to_index[9], at[3], normal[9] = { 0 }, right[3] = { 0 }, inverse[9];
    size_t used = 0;
    db_search_lattice_turn(s->lattice, turn, a_star, to_index);
    for (size_t i = 0; i < s->count; i++) {
        const db_search_spot *const seen = &s->spots[i];
        const double limit = db_search_tolerance(seen, angle);
        if (db_search_chance(s->lattice, limit) >= 0.5 ||
            db_search_nearest(a_star, to_index, seen->q, at) >= limit)
            continue;
        const double weight = 1 / (limit * limit), square = db_dot(at, at);
        double torque[3];
        db_cross(at, seen->q, torque);
        for (int k = 0; k < 3; k++) {
            right[k] += weight * torque[k];
            for (int l = 0; l < 3; l++)
                normal[3 * k + l] += weight * ((k == l) * square - at[k] * at[l]);
        }
        used++;
    }
    if (used < 3 || !db_invert(normal, inverse)) return 0;
    db_apply(inverse, right, omega);
    return 1;
}

/* Turns a candidate to its spots, with narrower and narrower tolerances. */
static void refine(const search *s, double turn[9]) {
    for (double angle = first_angle; angle >= last_angle; angle *= 0.78)
        for (int step = 0; step < TURNS; step++) {
            double omega[3], axis[3];
            if (!best_turn(s, turn, angle, omega)) return;
            const double size = db_length(omega);
            if (!(size > 0)) break;
            for (int i = 0; i < 3; i++) axis[i] = omega[i] / size;
            db_turn_columns(axis, size, turn);
        }
}

static int by_length(const void *a, const void *b) {
    const double x = ((const node *)a)->length, y = ((const node *)b)->length;
    return (x > y) - (x < y);
}

/* All nodes up to a length. */
static db_status list_nodes(db_context *context, search *s, double length) {
    int most[3];
    double room = 1;
    for (int i = 0; i < 3; i++) {
        most[i] = (int)(db_length(s->lattice->real + 3 * i) * length) + 1;
        room *= 2.0 * most[i] + 1;
    }
    if (room > 5e7)
        return db_fail(context, DB_ERROR_INPUT,
                       "search for the orientation: the cell has too many reflections to %.3g A, "
                       "where the first spots are",
                       1 / length);
    s->nodes = malloc((size_t)room * sizeof *s->nodes);
    if (!s->nodes) return db_fail_memory(context, "the nodes of the search for the orientation");
    for (int h = -most[0]; h <= most[0]; h++)
        for (int k = -most[1]; k <= most[1]; k++)
            for (int l = -most[2]; l <= most[2]; l++) {
                const double index[3] = { h, k, l };
                node *const n = &s->nodes[s->node_count];
                db_apply(s->lattice->a_star, index, n->direction);
                n->length = db_length(n->direction);
                for (int i = 0; i < 3 && n->length > 0; i++) n->direction[i] /= n->length;
                s->node_count += n->length > 0 && n->length <= length;
            }
    qsort(s->nodes, s->node_count, sizeof *s->nodes, by_length);
    return DB_OK;
}

/* The refined candidate that is least probable by chance. */
static void choose(search *s, double turn[9], db_agreement *agreement) {
    const probes all = probes_of(s, last_angle, s->count);
    for (size_t i = 0; i < s->candidates.count; i++) {
        double own[9];
        memcpy(own, s->candidates.list[i].pose.turn, sizeof own);
        refine(s, own);
        const db_agreement found = agree(s, own, &all);
        if (!db_agreement_is_better(&found, agreement)) continue;
        *agreement = found;
        memcpy(turn, own, sizeof own);
    }
}

/* If several crystals share the spots, none has half of them. A candidate is good enough if it has nearly its
 * share, was the best before, and a round with twice as many pairs has found no better one. */
static int is_still_best(const search *s, const db_agreement *before, const db_agreement *now) {
    static const double clear = -100; /* ln of a probability that few other turns approach */
    return s->lattices > 1 && db_agreement_log_probability(before) < clear &&
           (s->lattices + 1) * now->near >= now->count && before->near == now->near;
}

/* Reports progress; the caller may cancel. */
static void report(search *s) {
    db_context *const context = s->context;
    if (context->progress &&
        context->progress(context->progress_user, fmin(1, s->work / s->most_work)))
        s->cancelled = 1;
}

/* Pairs the spots at the lowest angles, then more and more, until a candidate is certain. */
static void try_pairs(search *s, double turn[9], db_agreement *agreement) {
    size_t next = FIRST_PAIRED;
    probes p = probes_of(s, first_angle, s->count < FIRST_PROBED ? s->count : FIRST_PROBED);
    for (size_t j = 1; j < s->count && j < MOST_PAIRED && s->work < s->most_work; j++) {
        for (size_t i = 0; i < j && !s->cancelled; i++) {
            try_pair(s, &p, &s->spots[i], &s->spots[j]);
            report(s);
        }
        if (s->cancelled) return;
        if (j + 1 < next && j + 1 < s->count) continue;
        const db_agreement before = *agreement;
        choose(s, turn, agreement);
        if (db_agreement_is_sure(agreement) || is_still_best(s, &before, agreement)) return;
        s->candidates.count = 0; /* scores change with the probed spots */
        next += next / 2;
        p = probes_of(s, first_angle, s->count < 2 * next ? s->count : 2 * next);
    }
    choose(s, turn, agreement);
}

void db_orientation_refine(const db_search_lattice *lattice, const db_search_spot *spots,
                           size_t count, double turn[9]) {
    const search s = { .lattice = lattice, .spots = spots, .count = count };
    refine(&s, turn);
}

db_agreement db_orientation_agreement(const db_search_lattice *lattice, const double turn[9],
                                      double times, const db_search_spot *spots, size_t count,
                                      unsigned char *near) {
    db_search_pose pose = { .scale = 1 };
    memcpy(pose.turn, turn, sizeof pose.turn);
    return db_search_agreement(lattice, &pose, times, last_angle, spots, count, near);
}

db_status db_orientation_search(db_context *context, const db_search_lattice *lattice,
                                const db_search_spot *spots, size_t count, size_t lattices,
                                double effort, double turn[9], db_agreement *agreement) {
    search *const s = calloc(1, sizeof *s);
    memset(agreement, 0, sizeof *agreement);
    for (int i = 0; i < 9; i++) turn[i] = i % 4 == 0;
    if (!s) return db_fail_memory(context, "the search for the orientation");
    s->lattice = lattice;
    s->candidates.most = DB_SEARCH_CANDIDATES;
    s->spots = spots;
    s->count = count;
    s->lattices = lattices;
    s->most_work = effort * most_work;
    s->context = context;
    db_status status = DB_OK;
    if (count > 1) {
        const db_search_spot *const last = &spots[(count < MOST_PAIRED ? count : MOST_PAIRED) - 1];
        double rows[9];
        db_transpose(lattice->a_star, rows);
        db_multiply(rows, lattice->a_star, s->metric);
        s->room = malloc(5 * count * sizeof *s->room);
        if (!s->room) status = db_fail_memory(context, "the spots of the search");
        if (status == DB_OK) status = list_nodes(context, s, last->length + last->blur);
        if (status == DB_OK) try_pairs(s, turn, agreement);
        if (s->cancelled)
            status =
                db_fail(context, DB_ERROR_CANCELLED,
                        "cancelled while the orientation was looked for: there is no model yet");
    }
    free(s->room);
    free(s->nodes);
    free(s);
    return status;
}
