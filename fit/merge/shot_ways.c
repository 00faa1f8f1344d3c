/* Sums over shots by their ways of indexing, and the probability of each way given the sums. */
#include "fit/merge/shot_ways.h"

#include "base/context_internal.h"
#include "fit/merge/likeness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SWEEPS = 30 };

void db_shot_ways_clear(db_shot_ways *r) {
    free(r->first);
    free(r->measured);
    free(r->number);
    free(r->probability);
    free(r->sum);
    free(r->weight);
}

static size_t stride_of(const db_shot_ways *r, size_t s) {
    const db_observations *const o = r->observations;
    return 1 + (o->first[s + 1] - o->first[s]) / r->most;
}

db_status db_shot_ways_make(db_context *context, db_shot_ways *r) {
    const size_t shots = r->observations->shots, ways = (size_t)r->ways;
    size_t count = 0;
    if (!r->most) r->most = DB_MOST_OF_SHOT;
    r->first = calloc(shots + 1, sizeof *r->first);
    if (!r->first) return db_fail_memory(context, "the indexing of the shots");
    for (size_t s = 0; s < shots; s++) {
        if (r->scaling->shot[s].excluded == DB_NOT_EXCLUDED)
            count +=
                (r->observations->first[s + 1] - r->observations->first[s]) / stride_of(r, s) + 1;
        r->first[s + 1] = count;
    }
    if (!r->sums) r->sums = r->list->count;
    r->measured = calloc(count + 1, sizeof *r->measured);
    r->number = malloc((count * ways + 1) * sizeof *r->number);
    r->probability = calloc(shots * ways + 1, sizeof *r->probability);
    r->sum = calloc(r->sums + 1, sizeof *r->sum);
    r->weight = calloc(r->sums + 1, sizeof *r->weight);
    return db_need_memory(context,
                          r->measured && r->number && r->probability && r->sum && r->weight,
                          "the indexing of the shots");
}

db_relative_intensity db_relative_of(const db_asu_list *list, const db_observation *o, double mean,
                                     double misfit) {
    const double lowest = -4, highest = 5;
    const double scale = mean * list->epsilon[o->reflection], error = (double)o->sigma / scale,
                 value = fmax(lowest, fmin(highest, (double)o->intensity / scale));
    return (db_relative_intensity){
        (float)(value - 1), (float)(1 / (error * error + misfit * fmax(1, value * value)))
    };
}

void db_shot_ways_take(const db_indexings *ways, const db_shells *shells, const double *mean,
                       db_shot_ways *r) {
    const db_observations *const o = r->observations;
    const db_asu_list *const list = r->list;
    const size_t n = (size_t)r->ways;
    for (size_t s = 0; s < o->shots; s++) {
        size_t at = r->first[s];
        if (r->scaling->shot[s].excluded != DB_NOT_EXCLUDED) continue;
        for (size_t i = o->first[s]; i < o->first[s + 1]; i += stride_of(r, s)) {
            const db_observation *const from = &o->list[i];
            if (from->reflection == DB_NO_REFLECTION) continue;
            const double usual = mean[db_shell_of(shells, (double)list->d[from->reflection])];
            const int hkl[3] = { from->hkl[0], from->hkl[1], from->hkl[2] };
            r->measured[at] =
                db_relative_of(list, from, usual * r->scaling->shot[s].scale, r->misfit);
            for (size_t w = 0; w < n; w++) {
                int turned[3] = { hkl[0], hkl[1], hkl[2] };
                const uint32_t number = !ways || db_indexing_apply(&ways->way[w], hkl, turned)
                                            ? db_asu_number(list, turned)
                                            : DB_NO_REFLECTION;
                r->number[at * n + w] =
                    number == DB_NO_REFLECTION || r->hands ? number : db_asu_pair(list, number);
            }
            at++;
        }
        for (; at < r->first[s + 1]; at++)
            for (size_t w = 0; w < n; w++) r->number[at * n + w] = DB_NO_REFLECTION;
    }
}

void db_shot_ways_add(db_shot_ways *r, size_t s, int sign) {
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

static void empty_sums(db_shot_ways *r) {
    memset(r->sum, 0, r->sums * sizeof *r->sum);
    memset(r->weight, 0, r->sums * sizeof *r->weight);
}

void db_shot_ways_add_all(db_shot_ways *r) {
    empty_sums(r);
    for (size_t s = 0; s < r->observations->shots; s++) db_shot_ways_add(r, s, 1);
}

double db_shot_ways_likelihood(const db_shot_ways *r, size_t s, size_t w) {
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

/* Probabilities of the ways of a shot that is not in the sums. Returns log of the sum over ways; adds the largest
 * change of a probability to *change. */
static double judge_ways(db_shot_ways *r, size_t s, double *change) {
    const size_t n = (size_t)r->ways;
    double log_of[DB_MOST_INDEXINGS], most = -INFINITY, sum = 0;
    for (size_t w = 0; w < n; w++) {
        log_of[w] = r->prior[w] + r->likelihood(r, s, w);
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

int db_shot_ways_has(const db_shot_ways *r, size_t s) { return r->first[s + 1] > r->first[s]; }

/* Is a way of any shot, except the held one, more probable than its others? */
static int is_any_decided(const db_shot_ways *r, size_t held) {
    const double known = 0.9;
    for (size_t s = 0; s < r->observations->shots; s++)
        for (size_t w = 0; w < (size_t)r->ways; w++)
            if (s != held && r->probability[s * (size_t)r->ways + w] > known) return 1;
    return 0;
}

static void hold_first_way(db_shot_ways *r, size_t s) {
    for (size_t w = 0; w < (size_t)r->ways; w++) r->probability[s * (size_t)r->ways + w] = w == 0;
}

void db_shot_ways_shuffle(uint64_t seed, size_t count, size_t *order) {
    uint64_t random = seed;
    for (size_t i = count; i > 1; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t k = (size_t)((random >> 33) % i), kept = order[k];
        order[k] = order[i - 1];
        order[i - 1] = kept;
    }
}

double db_shot_ways_sweep(db_shot_ways *r, const size_t *order, size_t held) {
    const double settled = 1e-3;
    const int while_held = held < r->observations->shots ? 20 : 0;
    double total = 0;
    for (int round = 0; round < MOST_SWEEPS; round++) {
        double change = 0;
        total = 0;
        for (size_t k = 0; k < r->observations->shots; k++) {
            const size_t s = order[k];
            if (!db_shot_ways_has(r, s)) continue;
            db_shot_ways_add(r, s, -1);
            total += judge_ways(r, s, &change);
            if (s == held && round < while_held) hold_first_way(r, s);
            db_shot_ways_add(r, s, 1);
        }
        if (change < settled && (round >= while_held || is_any_decided(r, held))) break;
    }
    return total;
}

void db_shot_ways_forget(db_shot_ways *r) {
    empty_sums(r);
    memset(r->probability, 0, r->observations->shots * (size_t)r->ways * sizeof *r->probability);
}

double db_shot_ways_likeness(const db_shot_ways *r, size_t first, const db_indexing *way,
                             const double *reference, const db_shells *shells, const double *mean,
                             double *error) {
    const db_asu_list *const list = r->list;
    const double *const sum = r->sum + first, *const weight = r->weight + first;
    db_likeness c = { 0 };
    for (uint32_t h = 0; h < list->count; h++) {
        int turned[3];
        uint32_t to = h;
        if (!(weight[h] > 0)) continue;
        if (way)
            to = db_indexing_apply(way, list->hkl[h], turned) ? db_asu_number(list, turned)
                                                              : DB_NO_REFLECTION;
        if (to == DB_NO_REFLECTION || isnan(reference[to])) continue;
        const double usual = mean[db_shell_of(shells, (double)list->d[to])] * list->epsilon[to];
        if (usual > 0)
            db_likeness_add(&c, sum[h] / weight[h], 1 / weight[h], reference[to] / usual - 1, 0);
    }
    return db_likeness_value(&c, error);
}

int db_shot_ways_best(const db_shot_ways *r, size_t s) {
    const double *const p = r->probability + s * (size_t)r->ways;
    int best = 0;
    for (int w = 1; w < r->ways; w++)
        if (p[w] > p[best]) best = w;
    return best;
}
