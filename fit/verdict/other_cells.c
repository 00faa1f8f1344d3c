/* A wavelength that is wrong by a factor multiplies all edges of a cell by it, and changes nothing else of an image: it shows
 * beside the cells of other shots alone. */
#include "fit/verdict/warnings.h"

#include "base/context_internal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Part of the lists of crystals of one kind in which one is marked. */
static const double RARE = 1e-3;
/* Edges are not known better (part of them). */
static const double LEAST_ERROR = 1e-9;

/* Consecutive lengths of a list in order. They scatter by `variance` beside their errors, whose squares are `part` of what they
 * are said to be: errors that all have in common, such as that of a shared distance, do not scatter. */
typedef struct crowd {
    const db_length *list;
    size_t from, to;
    double mean, variance, part, of_mean; /* of_mean: variance of the mean */
} crowd;

static double variance_in(const crowd *c, size_t i) {
    const double error = fmax(c->list[i].error, LEAST_ERROR);
    return c->variance + c->part * error * error;
}

/* Finds the mean; returns the sum of squares, in variances. */
static double squares_about_mean(crowd *c) {
    double weights = 0, sum = 0, squares = 0;
    for (size_t i = c->from; i < c->to; i++) {
        weights += 1 / variance_in(c, i);
        sum += c->list[i].value / variance_in(c, i);
    }
    c->mean = sum / weights;
    c->of_mean = 1 / weights;
    for (size_t i = c->from; i < c->to; i++) {
        const double off = c->list[i].value - c->mean;
        squares += off * off / variance_in(c, i);
    }
    return squares;
}

/* Mean and scatter: the one for which the sum of squares is that of so many (R. C. Paule & J. Mandel, J. Res. Natl. Bur. Stand.
 * 87, 377, 1982). */
static void measure_crowd(crowd *c) {
    enum { HALVINGS = 60 };
    const double degrees = (double)(c->to - c->from - 1), none = LEAST_ERROR * LEAST_ERROR;
    c->variance = 0;
    c->part = 1;
    const double squares = squares_about_mean(c);
    double low = 0, high = 0;
    for (size_t i = c->from; i < c->to; i++) {
        const double off = c->list[i].value - c->mean;
        high += off * off;
    }
    if (squares <= degrees) {
        c->part = squares / degrees;
        c->variance = none;
        (void)squares_about_mean(c);
        return;
    }
    for (int i = 0; i < HALVINGS; i++) {
        c->variance = 0.5 * (low + high);
        *(squares_about_mean(c) > degrees ? &low : &high) = c->variance;
    }
}

/* How far a length outside is off (errors). */
static double off_crowd(const crowd *c, size_t i) {
    return fabs(c->list[i].value - c->mean) / sqrt(variance_in(c, i) + c->of_mean);
}

/* Beyond it one of so many lengths is rarely found: Student's distribution, since the scatter is an estimate. */
static double limit_of_crowd(const crowd *c, size_t count) {
    return gsl_cdf_tdist_Qinv(0.5 * RARE / (double)count, (double)(c->to - c->from - 1));
}

/* The shortest half. */
static crowd core_of_crowd(const db_length *list, size_t count) {
    const size_t half = count / 2 + 1;
    size_t first = 0;
    for (size_t i = 1; i + half <= count; i++)
        if (list[i + half - 1].value - list[i].value <
            list[first + half - 1].value - list[first].value)
            first = i;
    return (crowd){ .list = list, .from = first, .to = first + half };
}

/* Adds the nearest lengths, few at a time. Returns the limit for those outside. */
static double gather_crowd(crowd *c, size_t count) {
    enum { STEPS = 16 }; /* each adds this part of the crowd */
    for (;;) {
        const size_t most = 1 + (c->to - c->from) / STEPS;
        size_t added = 0;
        measure_crowd(c);
        const double limit = limit_of_crowd(c, count);
        for (; added < most; added++) {
            const double below = c->from > 0 ? off_crowd(c, c->from - 1) : INFINITY,
                         above = c->to < count ? off_crowd(c, c->to) : INFINITY;
            if (!(fmin(below, above) <= limit)) break;
            if (below < above)
                c->from--;
            else
                c->to++;
        }
        if (!added) return limit;
    }
}

static int compare_lengths(const void *first, const void *second) {
    const db_length *const a = first, *const b = second;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return a->shot < b->shot ? -1 : a->shot > b->shot;
}

void db_other_lengths_mark(db_length *list, size_t count) {
    enum { FEWEST = 4 }; /* of two or three nothing says which one is another */
    qsort(list, count, sizeof *list, compare_lengths);
    for (size_t i = 0; i < count; i++) list[i].is_other = 0;
    if (count < FEWEST) return;
    crowd c = core_of_crowd(list, count);
    const double limit = gather_crowd(&c, count);
    for (size_t i = 0; i < count; i++)
        list[i].is_other = (i < c.from || i >= c.to) && off_crowd(&c, i) > limit;
}

/* Edges that the shots have of their own: their numbers among the parameters. */
typedef struct own_edges {
    size_t count, index[3];
} own_edges;

static const db_fit_estimate *edge_of(const db_fit_shots_result *r, const own_edges *edges,
                                      size_t shot, size_t k) {
    return &r->shot[shot].estimates.list[edges->index[k]];
}

static int has_error(const db_fit_estimate *e) { return e->error > 0 && isfinite(e->error); }

static int is_compared(const db_fit_result *shot) { return shot->used && shot->verdict.usable; }

/* An edge that follows another has no error. */
static own_edges find_own_edges(const db_fit_shots_result *r) {
    own_edges edges = { 0, { 0 } };
    for (size_t i = 0; i < r->estimates.count && edges.count < 3; i++) {
        const db_fit_estimate *const e = &r->estimates.list[i];
        int determined = 0;
        if (e->shared || e->parameter < DB_CELL_A || e->parameter > DB_CELL_C) continue;
        for (size_t s = 0; s < r->shot_count && !determined; s++)
            determined = is_compared(&r->shot[s]) && has_error(&r->shot[s].estimates.list[i]);
        if (determined) edges.index[edges.count++] = i;
    }
    return edges;
}

/* The mean ln of a shot's edges; its error, if theirs are alike. 0: an edge is not determined. */
static int take_length(const db_fit_shots_result *r, const own_edges *edges, size_t shot,
                       db_length *length) {
    *length = (db_length){ .shot = shot };
    if (!is_compared(&r->shot[shot])) return 0;
    for (size_t k = 0; k < edges->count; k++) {
        const db_fit_estimate *const e = edge_of(r, edges, shot, k);
        if (!has_error(e)) return 0;
        length->value += log(e->value) / (double)edges->count;
        length->error += e->error / e->value / (double)edges->count;
    }
    return 1;
}

static double scatter_of(const db_length *list, size_t count) {
    double mean = 0, squares = 0, n = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_other) continue;
        n++;
        mean += list[i].value;
    }
    mean /= n;
    for (size_t i = 0; i < count; i++)
        if (!list[i].is_other) squares += (list[i].value - mean) * (list[i].value - mean);
    return sqrt(squares / (n - 1));
}

/* Change of an edge of a shot from the mean of the crowd. */
static double edge_change(const db_fit_shots_result *r, const own_edges *edges,
                          const db_length *list, size_t count, size_t shot, size_t k) {
    double sum = 0, n = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_other) continue;
        n++;
        sum += edge_of(r, edges, list[i].shot, k)->value;
    }
    return edge_of(r, edges, shot, k)->value * n / sum - 1;
}

/* Keeps the first shots of the list with other cells. */
static void name_others(const db_length *list, size_t count, db_other_cells *found) {
    size_t begin = 0;
    for (size_t n = 0; n < DB_OTHER_CELLS_NAMED && n < found->count; n++) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < count; i++)
            if (list[i].is_other && list[i].shot >= begin && list[i].shot < next)
                next = list[i].shot;
        found->shot[n] = next;
        begin = next + 1;
    }
}

static void describe_others(const db_fit_shots_result *r, const own_edges *edges,
                            const db_length *list, size_t count, db_other_cells *found) {
    found->compared = count;
    for (size_t i = 0; i < count; i++) found->count += list[i].is_other != 0;
    if (!found->count) return;
    name_others(list, count, found);
    found->scatter = scatter_of(list, count);
    found->edges = edges->count;
    for (size_t k = 0; k < edges->count; k++) {
        found->name[k] = r->estimates.list[edges->index[k]].name;
        found->change[k] = edge_change(r, edges, list, count, found->shot[0], k);
    }
}

db_status db_other_cells_find(db_context *context, const db_fit_shots_result *result,
                              db_other_cells *found) {
    memset(found, 0, sizeof *found);
    const own_edges edges = find_own_edges(result);
    if (!edges.count) return DB_OK;
    db_length *const list = calloc(result->shot_count + 1, sizeof *list);
    size_t count = 0;
    if (!list) return db_fail_memory(context, "a comparison of cells");
    for (size_t s = 0; s < result->shot_count; s++)
        count += (size_t)take_length(result, &edges, s, &list[count]);
    db_other_lengths_mark(list, count);
    describe_others(result, &edges, list, count, found);
    free(list);
    return DB_OK;
}
