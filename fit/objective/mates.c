/* Errors of partialities by maximum likelihood of the differences between symmetry mates. */
#include "fit/objective/model_image.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/config/crystal_system.h"
#include "fit/pixels/predict.h"

#include <dualbragg/expert/symmetry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least partiality of mates that determine the error: below it a spot is the tail of the model's Gaussian. */
static const double LEAST_PARTIALITY = 0.05;
static const size_t FEWEST_PAIRS = 10;

typedef struct measurement {
    int hkl[3]; /* the largest of equivalent indices, of all mates the same */
    double square, noise;
    double growth; /* variance of the logarithm of the partiality, if its error is 1 */
    double usual;  /* mean F^2 at this resolution */
    double d;
    db_fit_reflection *from;
} measurement;

/* The rotations of the symmetry, or if it leaves the group open, those that all its groups have. */
static db_status rotations_of(db_context *context, const char *symmetry, const double cell[6],
                              db_symmetry *rotations) {
    static const db_symmetry none = { 1, { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } } };
    db_space_group *const group = malloc(sizeof *group);
    *rotations = none;
    if (!group) return db_fail_memory(context, "the symmetry of the reflections");
    db_status status =
        *symmetry ? db_space_group_of_cell(context, symmetry, cell, group) : DB_ERROR_INPUT;
    const db_cell_ties *const ties = db_cell_ties_of(symmetry, cell);
    if (status == DB_ERROR_INPUT && ties)
        status = db_space_group_of_cell(context, ties->group, cell, group);
    if (status == DB_OK) *rotations = group->symmetry;
    free(group);
    return status == DB_ERROR_MEMORY ? status : DB_OK;
}

static void take_larger(const int hkl[3], int sign, int largest[3]) {
    const int turned[3] = { sign * hkl[0], sign * hkl[1], sign * hkl[2] };
    if (db_compare_hkl(turned, largest) > 0) memcpy(largest, turned, sizeof turned);
}

static size_t take_measured(const db_symmetry *rotations, db_fit_reflection *list, size_t count,
                            measurement *all) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        db_fit_reflection *const r = &list[i];
        if (!(r->square_sigma > 0 && isfinite(r->square_sigma) && isfinite(r->square) &&
              r->partiality > 0))
            continue;
        const double log_p = log(fmin(r->partiality, 1));
        measurement *const m = &all[n++];
        *m = (measurement){ .square = r->square,
                            .noise = r->square_sigma * r->square_sigma,
                            .growth = 1 + log_p * log_p,
                            .d = r->d_spacing,
                            .from = r };
        memcpy(m->hkl, r->hkl, sizeof m->hkl);
        for (int k = 0; k < rotations->count; k++) {
            int turned[3];
            db_symmetry_turn(rotations, k, r->hkl, turned);
            take_larger(turned, 1, m->hkl);
            take_larger(turned, -1, m->hkl);
        }
    }
    return n;
}

static int finer_last(const void *a, const void *b) {
    const measurement *const x = a, *const y = b;
    if (x->d != y->d) return x->d < y->d ? 1 : -1;
    return x->from < y->from ? -1 : 1;
}

static int by_hkl(const void *a, const void *b) {
    const measurement *const x = a, *const y = b;
    const int order = db_compare_hkl(x->hkl, y->hkl);
    return order ? order : x->from < y->from ? -1 : 1;
}

/* Means over neighbours in resolution, with the spread of intensities in the weights; at least their own error. */
static void find_usual(measurement *all, size_t count) {
    enum { PASSES = 4, NEIGHBOURS = 30 };
    qsort(all, count, sizeof *all, finer_last);
    for (size_t i = 0; i < count; i++) {
        const size_t first = i > NEIGHBOURS ? i - NEIGHBOURS : 0;
        const size_t end = i + NEIGHBOURS + 1 < count ? i + NEIGHBOURS + 1 : count;
        for (int pass = 0; pass < PASSES; pass++) {
            double sum = 0, weights = 0;
            for (size_t k = first; k < end; k++) {
                const double w = 1 / (all[k].noise + all[i].usual * all[i].usual);
                sum += w * all[k].square;
                weights += w;
            }
            all[i].usual = fmax(sum, sqrt(weights)) / weights;
        }
    }
}

static size_t end_of(const measurement *all, size_t count, size_t first) {
    size_t end = first + 1;
    while (end < count && db_compare_hkl(all[first].hkl, all[end].hkl) == 0) end++;
    return end;
}

/* Expected F^2 of mates, for variances: as in merging, what was measured must not decide it alone. square: of the error */
static double expected_of(const measurement *mate, size_t count, double square) {
    const double usual = mate[0].usual;
    double sum = 1 / usual, weights = 1 / (usual * usual);
    for (size_t i = 0; i < count; i++) {
        const double variance = mate[i].noise + square * mate[i].growth * usual * usual;
        sum += mate[i].square / variance;
        weights += 1 / variance;
    }
    return fmax(0, sum / weights);
}

static double variance_of(const measurement *m, double expected, double square) {
    return m->noise + square * m->growth * expected * expected;
}

static int is_judged(const measurement *m) { return m->from->partiality >= LEAST_PARTIALITY; }

/* Minus the log density of the differences between mates, whatever their mean is. spread: variance beside theirs */
static double loss_of_mates(const measurement *mate, size_t count, double expected, double square,
                            double spread) {
    double weights = 0, sum = 0, squares = 0, logs = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_judged(&mate[i])) continue;
        const double v = variance_of(&mate[i], expected, square) + spread;
        weights += 1 / v;
        sum += mate[i].square / v;
        squares += mate[i].square * mate[i].square / v;
        logs += log(v);
    }
    return 0.5 * (logs + log(weights) + squares - sum * sum / weights);
}

/* Minus the log likelihood of an error; *pairs: number of differences. Of a hundred mates one is wrong, as by
 * overlap: its intensity is unrelated, with the spread of all. */
static double loss_of(const measurement *all, size_t count, double error, size_t *pairs) {
    const double wrong = 0.01, square = error * error;
    double loss = 0;
    *pairs = 0;
    for (size_t first = 0, end; first < count; first = end) {
        const measurement *const mate = &all[first];
        size_t n = 0;
        end = end_of(all, count, first);
        for (size_t i = first; i < end; i++) n += (size_t)is_judged(&all[i]);
        if (n < 2) continue;
        const size_t of = end - first;
        const double usual = expected_of(mate, of, square), spread = mate->usual * mate->usual,
                     right = loss_of_mates(mate, of, usual, square, 0),
                     other = loss_of_mates(mate, of, usual, square, spread),
                     least = fmin(right, other);
        loss += least - log((1 - wrong) * exp(least - right) + wrong * exp(least - other));
        *pairs += n - 1;
    }
    return loss;
}

/* The likeliest error: a scan, then sections about its best. */
static double likeliest(const measurement *all, size_t count) {
    const double least = 0.002, step = 0.5 * log(2), golden = 0.5 * (sqrt(5) - 1);
    enum { SCAN = 24, SECTIONS = 12 };
    size_t pairs;
    double best = INFINITY, at = 0;
    for (int i = 0; i <= SCAN; i++) {
        const double loss = loss_of(all, count, least * exp(i * step), &pairs);
        if (!(loss < best)) continue;
        best = loss;
        at = i;
    }
    double low = at - 1, high = at + 1;
    for (int i = 0; i < SECTIONS; i++) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        if (loss_of(all, count, least * exp(a * step), &pairs) <
            loss_of(all, count, least * exp(b * step), &pairs))
            high = b;
        else
            low = a;
    }
    return least * exp(0.5 * (low + high) * step);
}

/* Robust scatter of neighbouring mates of which one is surely measured. z: room. */
static double scatter_of(const measurement *all, size_t count, double error, double *z,
                         size_t *pairs) {
    const double surely = 5, to_deviation = 1.4826;
    size_t n = 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = end_of(all, count, first);
        const double usual = expected_of(all + first, end - first, error * error);
        for (size_t i = first; i + 1 < end; i++) {
            const measurement *const a = &all[i], *const b = a + 1;
            if (!is_judged(a) || !is_judged(b) ||
                fmax(a->square / sqrt(a->noise), b->square / sqrt(b->noise)) < surely)
                continue;
            z[n++] = fabs(a->square - b->square) / sqrt(variance_of(a, usual, error * error) +
                                                        variance_of(b, usual, error * error));
        }
    }
    *pairs = n;
    return to_deviation * db_median(z, n);
}

static void widen_all(const measurement *all, size_t count, double error) {
    for (size_t first = 0, end; first < count; first = end) {
        end = end_of(all, count, first);
        const double usual = expected_of(all + first, end - first, error * error);
        for (size_t i = first; i < end; i++)
            all[i].from->square_sigma = sqrt(variance_of(&all[i], usual, error * error));
    }
}

/* Pairs of measurements of different reflections, whose indices follow each other: the last of one, the first of the next. */
static size_t pair_strangers(const measurement *all, size_t count, measurement *strangers) {
    const measurement *last = NULL;
    size_t n = 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = end_of(all, count, first);
        const measurement *own[2] = { NULL, NULL };
        for (size_t i = first; i < end; i++)
            if (is_judged(&all[i])) own[own[0] != NULL] = &all[i];
        if (!own[1]) continue;
        if (last) {
            strangers[n] = *last;
            memcpy(strangers[n++].hkl, own[0]->hkl, sizeof own[0]->hkl);
            strangers[n++] = *own[0];
        }
        last = own[1];
    }
    return n;
}

/* Are mates likelier than strangers, by more than chance makes of their number? loss: of the mates. room: as many */
static int are_related(const measurement *all, size_t count, const db_fit_mates *mates,
                       double error, double loss, measurement *room) {
    size_t pairs;
    const double strange = loss_of(room, pair_strangers(all, count, room), error, &pairs);
    const double of_all = (double)mates->pairs;
    return pairs > 0 && of_all * strange / (double)pairs - loss > sqrt(of_all);
}

static void estimate_error(measurement *all, size_t count, measurement *strangers, double *room,
                           db_fit_mates *mates) {
    find_usual(all, count);
    qsort(all, count, sizeof *all, by_hkl);
    const double without = loss_of(all, count, 0, &mates->pairs);
    mates->scatter = mates->noise_scatter = scatter_of(all, count, 0, room, &mates->strong_pairs);
    if (mates->pairs < FEWEST_PAIRS) return;
    const double error = likeliest(all, count), loss = loss_of(all, count, error, &mates->pairs);
    mates->gain = without - loss;
    if (!(mates->gain > 0.5 * log((double)mates->pairs)) ||
        !are_related(all, count, mates, error, loss, strangers))
        return;
    mates->error = error;
    mates->scatter = scatter_of(all, count, error, room, &mates->strong_pairs);
    widen_all(all, count, error);
}

db_status db_mates_widen(db_context *context, const char *symmetry, const double cell[6],
                         db_fit_reflection *list, size_t count, db_fit_mates *mates) {
    db_symmetry rotations;
    *mates = (db_fit_mates){ .gain = NAN, .noise_scatter = NAN, .scatter = NAN };
    DB_TRY(rotations_of(context, symmetry, cell, &rotations));
    measurement *const all = malloc((2 * count + 1) * sizeof *all);
    double *const room = malloc((count + 1) * sizeof *room);
    if (all && room)
        estimate_error(all, take_measured(&rotations, list, count, all), all + count, room, mates);
    free(all);
    free(room);
    return db_need_memory(context, all && room, "the symmetry mates");
}
