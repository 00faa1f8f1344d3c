/* Indexing ambiguities, by expectation maximization over shots. */
#include "fit/merge/indexing.h"

#include "base/context_internal.h"
#include "fit/merge/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OF_SHOT = 600, MOST_SWEEPS = 30 }; /* measurements of a shot that are looked at */

/* A measurement relative to the mean of its resolution, less 1. */
typedef struct relative {
    float value, weight; /* 1/variance */
} relative;

/* Shots, and what those assigned so far say of each reflection. */
typedef struct resolution {
    const db_asu_list *list;
    const db_observations *observations;
    const db_scaling *scaling;
    int ways;
    size_t *first;                   /* [shots + 1] */
    relative *measured;              /* [first[shots]] */
    uint32_t *number;                /* [first[shots]][ways]: of the reflection by each way */
    double *probability;             /* [shots][ways] */
    double *sum, *weight;            /* [reflections] */
    double prior[DB_MOST_INDEXINGS]; /* log of the probability before */
    int by_hand;                     /* 1: ways are the two hands, which Bijvoet differences tell */
    double difference;               /* variance of half of these, beside intensities of 1 */
} resolution;

static void clear(resolution *r) {
    free(r->first);
    free(r->measured);
    free(r->number);
    free(r->probability);
    free(r->sum);
    free(r->weight);
}

static size_t stride_of(const db_observations *o, size_t s) {
    return 1 + (o->first[s + 1] - o->first[s]) / MOST_OF_SHOT;
}

static db_status make_room(db_context *context, resolution *r) {
    const size_t shots = r->observations->shots, ways = (size_t)r->ways;
    size_t count = 0;
    r->first = calloc(shots + 1, sizeof *r->first);
    if (!r->first) return db_fail_memory(context, "the indexing of the shots");
    for (size_t s = 0; s < shots; s++) {
        if (r->scaling->shot[s].aside == DB_ASIDE_NOT)
            count += (r->observations->first[s + 1] - r->observations->first[s]) /
                         stride_of(r->observations, s) +
                     1;
        r->first[s + 1] = count;
    }
    r->measured = calloc(count + 1, sizeof *r->measured);
    r->number = malloc((count * ways + 1) * sizeof *r->number);
    r->probability = calloc(shots * ways + 1, sizeof *r->probability);
    r->sum = calloc(r->list->count + 1, sizeof *r->sum);
    r->weight = calloc(r->list->count + 1, sizeof *r->weight);
    return r->measured && r->number && r->probability && r->sum && r->weight
               ? DB_OK
               : db_fail_memory(context, "the indexing of the shots");
}

static relative relative_of(const db_asu_list *list, const db_observation *o, double mean) {
    const double model = 0.04, lowest = -4,
                 highest = 5; /* model: relative variance of partialities */
    const double scale = mean * list->epsilon[o->reflection], error = (double)o->sigma / scale,
                 value = fmax(lowest, fmin(highest, (double)o->intensity / scale));
    return (relative){ (float)(value - 1),
                       (float)(1 / (error * error + model * fmax(1, value * value))) };
}

/* Takes the measurements. pairs: Bijvoet mates are one reflection. */
static void take(const db_indexings *ways, const db_shells *shells, const double *mean, int pairs,
                 resolution *r) {
    const db_observations *const o = r->observations;
    const db_asu_list *const list = r->list;
    const size_t n = (size_t)r->ways;
    for (size_t s = 0; s < o->shots; s++) {
        size_t at = r->first[s];
        if (r->scaling->shot[s].aside != DB_ASIDE_NOT) continue;
        for (size_t i = o->first[s]; i < o->first[s + 1]; i += stride_of(o, s)) {
            const db_observation *const from = &o->list[i];
            if (from->reflection == DB_NO_REFLECTION) continue;
            const double usual = mean[db_shell_of(shells, (double)list->d[from->reflection])];
            const int hkl[3] = { from->hkl[0], from->hkl[1], from->hkl[2] };
            r->measured[at] = relative_of(list, from, usual * r->scaling->shot[s].scale);
            for (size_t w = 0; w < n; w++) {
                int turned[3] = { -hkl[0], -hkl[1], -hkl[2] };
                uint32_t number = DB_NO_REFLECTION;
                if (!ways ? (w == 0 ? (memcpy(turned, hkl, sizeof turned), 1) : 1)
                          : db_indexing_apply(&ways->way[w], hkl, turned))
                    number = db_asu_number(list, turned);
                if (pairs && number != DB_NO_REFLECTION) number = db_asu_pair(list, number);
                r->number[at * n + w] = number;
            }
            at++;
        }
        for (; at < r->first[s + 1]; at++)
            for (size_t w = 0; w < n; w++) r->number[at * n + w] = DB_NO_REFLECTION;
    }
}

/* Adds a shot to the sums by the probabilities of its ways; sign -1: takes it away. */
static void add(resolution *r, size_t s, int sign) {
    const size_t n = (size_t)r->ways;
    for (size_t w = 0; w < n; w++) {
        const double share = sign * r->probability[s * n + w];
        if (share == 0) continue;
        for (size_t i = r->first[s]; i < r->first[s + 1]; i++) {
            const uint32_t number = r->number[i * n + w];
            if (number == DB_NO_REFLECTION) continue;
            const double weight = share * (double)r->measured[i].weight;
            r->sum[number] += weight * (double)r->measured[i].value;
            r->weight[number] += weight;
        }
    }
}

/* Log of the probability of the shot's measurements, given those in the sums. Relative intensities
 * are spread with a variance of 1 around their mean. */
static double likelihood(const resolution *r, size_t s, size_t w) {
    const size_t n = (size_t)r->ways;
    double sum = 0;
    for (size_t i = r->first[s]; i < r->first[s + 1]; i++) {
        const uint32_t number = r->number[i * n + w];
        if (number == DB_NO_REFLECTION) continue;
        const double known = 1 / (fmax(0, r->weight[number]) + 1), mean = known * r->sum[number],
                     off = (double)r->measured[i].value - mean,
                     variance = 1 / (double)r->measured[i].weight + known;
        sum -= 0.5 * (off * off / variance + log(variance / (variance - known + 1)));
    }
    return sum;
}

/* Half the difference of Bijvoet mates in the sums, their mean, and the variances of both. */
typedef struct mates {
    double half, mean, half_variance, mean_variance;
} mates;

/* 0: they are not both in the sums. */
static int look_at_mates(const resolution *r, uint32_t number, mates *m) {
    const uint32_t mate = r->list->mate[number];
    const double least = 0.5, own = r->weight[number], other = r->weight[mate];
    if (mate == number || own < least || other < least) return 0;
    const double a = r->sum[number] / own, b = r->sum[mate] / other;
    m->half = 0.5 * (a - b);
    m->half_variance = 0.25 * (1 / own + 1 / other);
    m->mean_variance = 1 / (1 + own + other); /* beside the spread of intensities */
    m->mean = m->mean_variance * (r->sum[number] + r->sum[mate]);
    return 1;
}

/* The same by Bijvoet differences, as far as they are there: what they have in common with noise is
 * left out. Deviations larger than their variances, as those of another crystal, say less. */
static double likelihood_of_hand(const resolution *r, size_t s, size_t w) {
    double square[2] = { 0, 0 }, count = 0; /* this hand, the other */
    for (size_t i = r->first[s]; i < r->first[s + 1]; i++) {
        const uint32_t number = r->number[2 * i + w];
        mates m;
        if (number == DB_NO_REFLECTION || !look_at_mates(r, number, &m)) continue;
        const double known = r->difference / (r->difference + m.half_variance),
                     off = (double)r->measured[i].value - m.mean, half = known * m.half,
                     variance = 1 / (double)r->measured[i].weight + m.mean_variance +
                                (1 - known) * r->difference;
        square[0] += (off - half) * (off - half) / variance;
        square[1] += (off + half) * (off + half) / variance;
        count++;
    }
    const double misfit = count > 0 ? fmax(1, fmin(square[0], square[1]) / count) : 1;
    return -0.5 * square[0] / misfit;
}

/* The variance of differences, surely (by two standard errors) beyond that of their errors. */
static void estimate_differences(resolution *r) {
    double sum = 0, weights = 0;
    for (uint32_t number = 0; number < r->list->count; number++) {
        mates m;
        if (r->list->mate[number] < number || !look_at_mates(r, number, &m)) continue;
        const double weight = 1 / (m.half_variance * m.half_variance);
        sum += weight * (m.half * m.half - m.half_variance);
        weights += weight;
    }
    r->difference = weights > 0 ? fmax(0, sum / weights - 2 * sqrt(2 / weights)) : 0;
}

/* Probabilities of the ways of a shot that is not in the sums. Returns log of the sum over ways; the
 * largest change of a probability is added to *change. */
static double judge(resolution *r, size_t s, double *change) {
    const size_t n = (size_t)r->ways;
    double log_of[DB_MOST_INDEXINGS], most = -INFINITY, sum = 0;
    for (size_t w = 0; w < n; w++) {
        log_of[w] = r->prior[w] + (r->by_hand ? likelihood_of_hand : likelihood)(r, s, w);
        most = fmax(most, log_of[w]);
    }
    for (size_t w = 0; w < n; w++) sum += exp(log_of[w] - most);
    for (size_t w = 0; w < n; w++) {
        const double now = exp(log_of[w] - most) / sum;
        *change = fmax(*change, fabs(now - r->probability[s * n + w]));
        r->probability[s * n + w] = now;
    }
    return most + log(sum);
}

static int is_in(const resolution *r, size_t s) { return r->first[s + 1] > r->first[s]; }

/* Is a way of any shot, beside the one that is held, more probable than its others? */
static int is_any_decided(const resolution *r, size_t held) {
    const double known = 0.9;
    for (size_t s = 0; s < r->observations->shots; s++)
        for (size_t w = 0; w < (size_t)r->ways; w++)
            if (s != held && r->probability[s * (size_t)r->ways + w] > known) return 1;
    return 0;
}

static void hold(resolution *r, size_t s) {
    for (size_t w = 0; w < (size_t)r->ways; w++) r->probability[s * (size_t)r->ways + w] = w == 0;
}

/* Looks at all shots in this order, each given all others, until nothing changes. Shots that are not
 * in the sums yet come in one by one. One of them, `held`, has its first way for a while, since
 * nothing else says which way is which; then ways may grow apart slowly. Returns how probable all
 * is. */
static double sweep(resolution *r, const size_t *order, size_t held) {
    const double settled = 1e-3;
    const int while_held = held < r->observations->shots ? 20 : 0;
    double total = 0;
    for (int round = 0; round < MOST_SWEEPS; round++) {
        double change = 0;
        total = 0;
        if (r->by_hand) estimate_differences(r);
        for (size_t k = 0; k < r->observations->shots; k++) {
            const size_t s = order[k];
            if (!is_in(r, s)) continue;
            add(r, s, -1);
            total += judge(r, s, &change);
            if (s == held && round < while_held) hold(r, s);
            add(r, s, 1);
        }
        if (change < settled && (round >= while_held || is_any_decided(r, held))) break;
    }
    return total;
}

static void forget(resolution *r) {
    memset(r->sum, 0, r->list->count * sizeof *r->sum);
    memset(r->weight, 0, r->list->count * sizeof *r->weight);
    memset(r->probability, 0, r->observations->shots * (size_t)r->ways * sizeof *r->probability);
}

static void shuffle(uint64_t seed, size_t count, size_t *order) {
    uint64_t random = seed;
    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t i = count; i > 1; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t k = (size_t)((random >> 33) % i), kept = order[k];
        order[k] = order[i - 1];
        order[i - 1] = kept;
    }
}

/* How probable the measurements are if the crystal has all rotations of the lattice, so that there is
 * nothing to decide: reflections that any way makes of each other are one. */
static double as_if_alike(resolution *r) {
    const size_t n = (size_t)r->ways, all = r->first[r->observations->shots];
    resolution one = *r;
    double total = 0;
    one.ways = 1;
    one.number = malloc((all + 1) * sizeof *one.number);
    one.probability = malloc((r->observations->shots + 1) * sizeof *one.probability);
    if (one.number && one.probability) {
        for (size_t i = 0; i < all; i++) {
            one.number[i] = r->number[i * n];
            for (size_t w = 1; w < n; w++)
                if (r->number[i * n + w] < one.number[i]) one.number[i] = r->number[i * n + w];
        }
        memset(one.sum, 0, r->list->count * sizeof *one.sum);
        memset(one.weight, 0, r->list->count * sizeof *one.weight);
        for (size_t s = 0; s < r->observations->shots; s++) {
            one.probability[s] = 1;
            add(&one, s, 1);
        }
        for (size_t s = 0; s < r->observations->shots; s++) {
            add(&one, s, -1);
            total += likelihood(&one, s, 0);
            add(&one, s, 1);
        }
    } else
        total = NAN;
    free(one.number);
    free(one.probability);
    return total;
}

/* The best of several orders; its probabilities are left. *gain: log of how much more probable the
 * measurements are than if there were nothing to decide. */
static db_status search(db_context *context, const db_indexing_options *options, resolution *r,
                        double *gain) {
    const size_t shots = r->observations->shots, size = shots * (size_t)r->ways;
    size_t *const order = calloc(shots + 1, sizeof *order);
    double *const best = malloc((size + 1) * sizeof *best);
    double highest = -INFINITY;
    if (!order || !best) {
        free(order);
        free(best);
        return db_fail_memory(context, "the indexing of the shots");
    }
    for (int start = 0; start < options->starts; start++) {
        shuffle(options->seed + (uint64_t)start, shots, order);
        forget(r);
        size_t first = 0;
        while (first < shots && !is_in(r, order[first])) first++;
        const double total = sweep(r, order, first < shots ? order[first] : shots);
        if (total <= highest) continue;
        highest = total;
        memcpy(best, r->probability, size * sizeof *best);
    }
    memcpy(r->probability, best, size * sizeof *best);
    free(order);
    free(best);
    const double alike = as_if_alike(r);
    *gain = highest - alike;
    return isnan(alike) ? db_fail_memory(context, "the indexing of the shots") : DB_OK;
}

static int best_way(const resolution *r, size_t s) {
    const double *const p = r->probability + s * (size_t)r->ways;
    int best = 0;
    for (int w = 1; w < r->ways; w++)
        if (p[w] > p[best]) best = w;
    return best;
}

/* Sums of all shots by the ways that they have, followed by one for all, beside a reference. */
static double agreement(const resolution *r, const db_indexings *ways, const double *reference,
                        const double *usual, int then) {
    const db_asu_list *const list = r->list;
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (uint32_t k = 0; k < list->count; k++) {
        int turned[3];
        if (!(r->weight[k] > 0) || !db_indexing_apply(&ways->way[then], list->hkl[k], turned))
            continue;
        const uint32_t to = db_asu_number(list, turned);
        if (to == DB_NO_REFLECTION || isnan(reference[to])) continue;
        const double a = r->sum[k] / r->weight[k], b = reference[to] / usual[to],
                     weight = r->weight[k] / (r->weight[k] + 1);
        n += weight;
        x += weight * a;
        y += weight * b;
        xx += weight * a * a;
        yy += weight * b * b;
        xy += weight * a * b;
    }
    const double square = (xx - x * x / n) * (yy - y * y / n);
    return n > 2 && square > 0 ? (xy - x * y / n) / sqrt(square) : 0;
}

/* Which way all shots are to be turned, once they agree: that of the reference, or such that most
 * stay as they are. */
static int common_way(const resolution *r, const db_indexings *ways, const db_space_group *group,
                      const double *reference, const double *usual) {
    size_t count[DB_MOST_INDEXINGS] = { 0 };
    int most = 0, best = 0;
    double highest = -INFINITY;
    for (size_t s = 0; s < r->observations->shots; s++)
        if (is_in(r, s)) count[best_way(r, s)]++;
    for (int w = 1; w < r->ways; w++)
        if (count[w] > count[most]) most = w;
    for (int w = 0; w < r->ways; w++) {
        if (!reference) {
            if (db_indexings_product(ways, group, most, w) == 0) return w;
            continue;
        }
        const double agrees = agreement(r, ways, reference, usual, w);
        if (agrees <= highest) continue;
        highest = agrees;
        best = w;
    }
    return best;
}

static void turn_shot(const db_asu_list *list, const db_indexing *way, size_t s,
                      db_observations *observations) {
    for (size_t i = observations->first[s]; i < observations->first[s + 1]; i++) {
        db_observation *const o = &observations->list[i];
        const int hkl[3] = { o->hkl[0], o->hkl[1], o->hkl[2] };
        int turned[3];
        o->reflection =
            db_indexing_apply(way, hkl, turned) ? db_asu_number(list, turned) : DB_NO_REFLECTION;
        for (int k = 0; k < 3; k++) o->hkl[k] = (int16_t)turned[k];
    }
}

/* Could the shot as well be indexed some way that spots do not tell from the first? */
static int is_open(const resolution *r, const db_indexing_options *options,
                   const db_indexings *ways, size_t s, int then) {
    const double *const p = r->probability + s * (size_t)r->ways;
    double exact = 0;
    for (int w = 0; w < r->ways; w++) {
        const int both = db_indexings_product(ways, r->list->group, w, then);
        if (both > 0 && db_indexing_is_exact(&ways->way[both])) exact += p[w];
    }
    return exact > 1 - options->certain;
}

/* Sets way and probability of each shot, if most are decided; then turns them. */
static void decide(const resolution *r, const db_indexing_options *options, int then,
                   db_observations *observations, db_scaling *scaling, db_indexing_result *result) {
    size_t decided = 0, all = 0;
    for (size_t s = 0; s < observations->shots; s++) {
        if (!is_in(r, s)) continue;
        const int own = best_way(r, s),
                  both = db_indexings_product(&result->ways, r->list->group, own, then);
        result->probability[s] = r->probability[s * (size_t)r->ways + (size_t)own];
        result->way[s] = both >= 0 ? both : own;
        decided += result->probability[s] >= options->certain;
        all++;
    }
    const int tells = result->gain > (double)all && 2 * decided > all;
    result->end = tells ? DB_INDEXING_RESOLVED : DB_INDEXING_ALIKE;
    for (size_t s = 0; s < observations->shots; s++) {
        if (!is_in(r, s)) continue;
        if (result->end == DB_INDEXING_ALIKE) {
            result->way[s] = 0;
            continue;
        }
        if (result->probability[s] < options->certain) {
            result->way[s] = 0;
            if (!is_open(r, options, &result->ways, s, then)) continue;
            scaling->shot[s].aside = DB_ASIDE_UNDECIDED;
            result->undecided++;
        } else if (result->way[s]) {
            turn_shot(r->list, &result->ways.way[result->way[s]], s, observations);
            result->changed++;
        }
    }
}

/* The mean intensity that each reflection would have. */
static double *usual_of(const db_asu_list *list, const db_shells *shells, const double *intensity) {
    double sum[DB_MOST_SHELLS] = { 0 }, count[DB_MOST_SHELLS] = { 0 };
    double *const usual = malloc((list->count + 1) * sizeof *usual);
    if (!usual) return NULL;
    for (size_t r = 0; r < list->count; r++) {
        if (isnan(intensity[r])) continue;
        const int b = db_shell_of(shells, (double)list->d[r]);
        sum[b] += intensity[r] / list->epsilon[r];
        count[b]++;
    }
    for (size_t r = 0; r < list->count; r++) {
        const int b = db_shell_of(shells, (double)list->d[r]);
        usual[r] = sum[b] > 0 ? list->epsilon[r] * sum[b] / count[b] : 1;
    }
    return usual;
}

static db_status resolve_ways(db_context *context, const db_asu_list *list,
                              const db_indexing_options *options, const double *reference,
                              const db_shells *shells, const double *mean,
                              db_observations *observations, db_scaling *scaling,
                              db_indexing_result *result) {
    resolution r = {
        .list = list, .observations = observations, .scaling = scaling, .ways = result->ways.count
    };
    double *const usual = reference ? usual_of(list, shells, reference) : NULL;
    db_status status = reference && !usual ? db_fail_memory(context, "the indexing of the shots")
                                           : make_room(context, &r);
    if (status == DB_OK) {
        take(&result->ways, shells, mean, 1, &r);
        for (int w = 0; w < r.ways; w++) r.prior[w] = -log(r.ways);
        status = search(context, options, &r, &result->gain);
    }
    if (status == DB_OK) {
        memset(r.sum, 0, list->count * sizeof *r.sum);
        memset(r.weight, 0, list->count * sizeof *r.weight);
        for (size_t s = 0; s < observations->shots; s++) add(&r, s, 1);
        const int then = common_way(&r, &result->ways, list->group, reference, usual);
        decide(&r, options, then, observations, scaling, result);
    }
    free(usual);
    clear(&r);
    return status;
}

/* Sets shots aside whose Bijvoet differences are those of the other hand than most have. */
static db_status find_other_hands(db_context *context, const db_asu_list *list,
                                  const db_shells *shells, const double *mean,
                                  db_observations *observations, db_scaling *scaling,
                                  db_indexing_result *result) {
    const double certain = 0.99, rare = 0.05;
    const size_t shots = observations->shots;
    resolution r = {
        .list = list, .observations = observations, .scaling = scaling, .ways = 2, .by_hand = 1
    };
    r.prior[0] = log(1 - rare);
    r.prior[1] = log(rare);
    size_t *const order = calloc(shots + 1, sizeof *order);
    db_status status =
        order ? make_room(context, &r) : db_fail_memory(context, "the indexing of the shots");
    if (status == DB_OK) {
        take(NULL, shells, mean, 0, &r);
        for (size_t s = 0; s < shots; s++) {
            order[s] = s;
            r.probability[2 * s] = 1;
            add(&r, s, 1);
        }
        (void)sweep(&r, order, shots);
        for (size_t s = 0; s < shots; s++) {
            if (!is_in(&r, s) || r.probability[2 * s + 1] < certain) continue;
            scaling->shot[s].aside = DB_ASIDE_OTHER_HAND;
            result->other_hand++;
        }
    }
    free(order);
    clear(&r);
    return status;
}

static int has_mates(const db_asu_list *list) {
    for (uint32_t r = 0; r < list->count; r++)
        if (list->mate[r] != r) return 1;
    return 0;
}

db_status db_indexing_result_make(db_context *context, size_t shots, db_indexing_result *result) {
    memset(result, 0, sizeof *result);
    result->shots = shots;
    result->way = calloc(shots + 1, sizeof *result->way);
    result->probability = malloc((shots + 1) * sizeof *result->probability);
    if (!result->way || !result->probability) {
        db_indexing_result_clear(result);
        return db_fail_memory(context, "the indexing of the shots");
    }
    for (size_t s = 0; s < shots; s++) result->probability[s] = NAN;
    return DB_OK;
}

db_status db_indexing_resolve(db_context *context, const db_asu_list *list,
                              const db_indexing_options *options, const double *reference,
                              db_observations *observations, db_scaling *scaling,
                              db_indexing_result *result) {
    double mean[DB_MOST_SHELLS];
    const db_shells shells = db_scaling_shells(list);
    DB_TRY(db_indexing_result_make(context, observations->shots, result));
    db_indexings_find(list->cell, list->group, options->tolerance, &result->ways);
    db_status status = db_scale_by_means(context, list, observations, &shells, mean, scaling);
    if (status == DB_OK && result->ways.count > 1)
        status = resolve_ways(context, list, options, reference, &shells, mean, observations,
                              scaling, result);
    if (status == DB_OK && has_mates(list))
        status = find_other_hands(context, list, &shells, mean, observations, scaling, result);
    if (status != DB_OK) db_indexing_result_clear(result);
    return status;
}

void db_indexing_result_clear(db_indexing_result *result) {
    free(result->way);
    free(result->probability);
    memset(result, 0, sizeof *result);
}
