#include "fit/merge/other_hand.h"

#include "base/context_internal.h"
#include "fit/merge/shot_ways.h"

#include <math.h>
#include <stdlib.h>

/* Half the difference of Bijvoet mates in the sums, their mean, and the variances of both. */
typedef struct mates {
    double half, mean, half_variance, mean_variance;
} mates;

/* 0: they are not both in the sums. */
static int look_at_mates(const db_shot_ways *r, uint32_t number, mates *m) {
    const uint32_t mate = r->list->mate[number];
    const double least = 0.5, own = r->weight[number], other = r->weight[mate];
    if (mate == number || own < least || other < least) return 0;
    const double a = r->sum[number] / own, b = r->sum[mate] / other;
    m->half = 0.5 * (a - b);
    m->half_variance = 0.25 * r->scatter * (1 / own + 1 / other);
    m->mean_variance =
        r->scatter / (r->scatter + own + other); /* beside the spread of intensities */
    m->mean = m->mean_variance / r->scatter * (r->sum[number] + r->sum[mate]);
    return 1;
}

/* Of a shot's measurements by Bijvoet differences, as far as they are there: what they have in common
 * with noise is left out. Deviations larger than their variances, as those of another crystal, say less. */
static double likelihood_of_hand(const db_shot_ways *r, size_t s, size_t w) {
    double square[2] = { 0, 0 }, count = 0; /* this hand, the other */
    for (size_t i = r->first[s]; i < r->first[s + 1]; i++) {
        const uint32_t number = r->number[2 * i + w];
        mates m;
        if (number == DB_NO_REFLECTION || !look_at_mates(r, number, &m)) continue;
        const double known = r->difference / (r->difference + m.half_variance),
                     off = (double)r->measured[i].value - m.mean, half = known * m.half,
                     variance = r->scatter / (double)r->measured[i].weight + m.mean_variance +
                                (1 - known) * r->difference;
        square[0] += (off - half) * (off - half) / variance;
        square[1] += (off + half) * (off + half) / variance;
        count++;
    }
    const double misfit = count > 0 ? fmax(1, fmin(square[0], square[1]) / count) : 1;
    return -0.5 * square[0] / misfit;
}

/* Variance of measurements around the means of their reflections, as a part of what it is taken to be:
 * partialities of a good model are much better than those of a poor one. At most 1, since measurements
 * of other crystals are among them. */
static double scatter_of(const db_shot_ways *r) {
    const double least = 0.01;
    double square = 0, expected = 0;
    for (size_t s = 0; s < r->observations->shots; s++)
        for (size_t i = r->first[s]; i < r->first[s + 1]; i++)
            for (size_t w = 0; w < 2; w++) {
                const uint32_t number = r->number[2 * i + w];
                const double share = r->probability[2 * s + w];
                if (number == DB_NO_REFLECTION || share <= 0 || r->weight[number] <= 0) continue;
                const double weight = share * (double)r->measured[i].weight,
                             off =
                                 (double)r->measured[i].value - r->sum[number] / r->weight[number];
                square += weight * off * off;
                expected += share * fmax(0, 1 - weight / r->weight[number]);
            }
    return expected > 0 ? fmax(least, fmin(1, square / expected)) : 1;
}

/* The variance of differences, surely (by two standard errors) beyond that of their errors. */
static void estimate_differences(db_shot_ways *r) {
    double sum = 0, weights = 0;
    r->scatter = scatter_of(r);
    for (uint32_t number = 0; number < r->list->count; number++) {
        mates m;
        if (r->list->mate[number] < number || !look_at_mates(r, number, &m)) continue;
        const double weight = 1 / (m.half_variance * m.half_variance);
        sum += weight * (m.half * m.half - m.half_variance);
        weights += weight;
    }
    r->difference = weights > 0 ? fmax(0, sum / weights - 2 * sqrt(2 / weights)) : 0;
}

static int has_mates(const db_asu_list *list) {
    for (uint32_t r = 0; r < list->count; r++)
        if (list->mate[r] != r) return 1;
    return 0;
}

db_status db_find_other_hands(db_context *context, const db_asu_list *list, const db_shells *shells,
                              const double *mean, const db_observations *observations,
                              db_scaling *scaling, size_t *found) {
    const double certain = 0.99, rare = 0.05;
    const size_t shots = observations->shots;
    db_shot_ways r = { .list = list,
                       .observations = observations,
                       .scaling = scaling,
                       .ways = 2,
                       .likelihood = likelihood_of_hand,
                       .prepare = estimate_differences };
    *found = 0;
    if (!has_mates(list)) return DB_OK;
    r.prior[0] = log(1 - rare);
    r.prior[1] = log(rare);
    size_t *const order = calloc(shots + 1, sizeof *order);
    db_status status = order ? db_shot_ways_make(context, &r)
                             : db_fail_memory(context, "the indexing of the shots");
    if (status == DB_OK) {
        db_shot_ways_take(NULL, shells, mean, 0, &r);
        for (size_t s = 0; s < shots; s++) {
            order[s] = s;
            r.probability[2 * s] = 1;
            db_shot_ways_add(&r, s, 1);
        }
        (void)db_shot_ways_sweep(&r, order, shots);
        for (size_t s = 0; s < shots; s++) {
            if (!db_shot_ways_has(&r, s) || r.probability[2 * s + 1] < certain) continue;
            scaling->shot[s].aside = DB_ASIDE_OTHER_HAND;
            (*found)++;
        }
    }
    free(order);
    db_shot_ways_clear(&r);
    return status;
}
