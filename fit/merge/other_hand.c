/* Shots of the other hand: their measurements contradict the Bijvoet differences of all others. The other shots'
 * mean is independent of a shot's own errors, so no error model is needed. */
#include "base/context_internal.h"
#include "fit/merge/scaling_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CERTAIN = 0.999, RARE = 0.01; /* probability: of a verdict; of the other hand */
static const double SURELY = 3;                   /* standard errors of the common slope */
static const double FEWEST = 10;                  /* fewest measurements for a slope */

/* Bijvoet mates: half their difference, the mean, and variances. */
typedef struct mates {
    double half, half_variance;
    double mean, mean_variance;
    double lean; /* the mate to which the mean is nearer: 1 the first one, -1 the second */
} mates;

/* Mates without the shot's own measurements, which are in `next_...`. 0: one of them is hardly known. */
static int look_at_mates(const db_scaling_work *w, uint32_t first, mates *m) {
    const double least = 1e-2;
    const uint32_t number[2] = { first, w->list->mate[first] };
    double mean[2], weight[2];
    if (number[0] == number[1]) return 0;
    for (int i = 0; i < 2; i++) {
        const uint32_t r = number[i];
        weight[i] = w->weight[r] - w->next_weight[r];
        if (!(weight[i] * db_scaling_spread(w, r) > least)) return 0;
        mean[i] = (w->sum[r] - w->next_sum[r]) / weight[i];
    }
    m->half = 0.5 * (mean[0] - mean[1]);
    m->half_variance = 0.25 * (1 / weight[0] + 1 / weight[1]);
    m->mean_variance = 1 / (weight[0] + weight[1]);
    m->mean = m->mean_variance * (weight[0] * mean[0] + weight[1] * mean[1]);
    m->lean = m->mean_variance * (weight[0] - weight[1]);
    return 1;
}

/* Variance of half differences over the squared mean intensity at their resolution. It only weights differences;
 * well measured ones set its least value. */
static double find_spread(const db_scaling_work *w) {
    const double least = 1e-4;
    double sum = 0, weights = 0;
    for (uint32_t r = 0; r < w->list->count; r++) {
        const double usual = db_scaling_expected(w, r);
        mates m;
        if (w->list->mate[r] < r || !look_at_mates(w, r, &m)) continue;
        const double noise = m.half_variance / (usual * usual),
                     weight = 1 / ((noise + least) * (noise + least));
        sum += weight * (m.half * m.half / (usual * usual) - noise);
        weights += weight;
    }
    return weights > 0 ? fmax(least, sum / weights) : least;
}

/* Adds a shot's measurements to `next_...`. */
static void take_out(db_scaling_work *w, size_t s) {
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const db_observation *const o = &w->observations->list[i];
        if (o->reflection == DB_NO_REFLECTION) continue;
        const double g = db_scaling_at(&w->added[s], db_scaling_fall(w, o->reflection)),
                     share = (double)w->share[i];
        w->next_sum[o->reflection] += share * g * (double)o->intensity;
        w->next_weight[o->reflection] += share * g * g;
    }
}

static void put_back(db_scaling_work *w, size_t s) {
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const uint32_t r = w->observations->list[i].reflection;
        if (r != DB_NO_REFLECTION) w->next_sum[r] = w->next_weight[r] = 0;
    }
}

/* Slope of a shot's measurements, minus the means of mates, on the half differences of the other shots; positive
 * for the same hand. */
typedef struct slope {
    double value, precision; /* 1/variance, by the scatter of the measurements; 0: unknown */
} slope;

/* Sums over a shot's measurements, in their standard errors. */
typedef struct slope_sums {
    double xx, xy, yy, count;
} slope_sums;

static slope slope_of(const slope_sums *sums) {
    if (!(sums->count >= FEWEST) || !(sums->xx > 0)) return (slope){ 0 };
    const double value = sums->xy / sums->xx,
                 misfit = (sums->yy - value * sums->xy) / (sums->count - 1);
    return (slope){ .value = value, .precision = misfit > 0 ? sums->xx / misfit : 0 };
}

/* without: the slope without the measurement that speaks most against the same hand. */
static slope find_slope(const db_scaling_work *w, size_t s, double spread, slope *without) {
    slope_sums all = { 0 }, most = { 0 };
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const db_observation *const o = &w->observations->list[i];
        const uint32_t r = o->reflection;
        mates m;
        if (r == DB_NO_REFLECTION || !look_at_mates(w, r, &m)) continue;
        const double g = db_scaling_at(&w->added[s], db_scaling_fall(w, r)),
                     usual = db_scaling_expected(w, r), differences = spread * usual * usual,
                     known = differences / (differences + m.half_variance),
                     variance = 1 / ((double)w->share[i] * g * g) + m.mean_variance +
                                (1 - known) * differences,
                     x = known * m.half, y = (double)o->intensity / g - m.mean + m.lean * x;
        const slope_sums own = { x * x / variance, x * y / variance, y * y / variance, 1 };
        all = (slope_sums){ all.xx + own.xx, all.xy + own.xy, all.yy + own.yy, all.count + 1 };
        if (own.xy < most.xy) most = own;
    }
    const slope_sums rest = { all.xx - most.xx, all.xy - most.xy, all.yy - most.yy,
                              all.count - most.count };
    *without = slope_of(&rest);
    return slope_of(&all);
}

/* Compares normal distributions around the common slope and around its opposite. One bright reflection with a wrong intensity
 * makes a slope of any size, so no single measurement may be the reason. of_shot: without the one that is most against. */
static int is_other_hand(const slope *of_shot, double of_all) {
    const double against = -2 * of_all * of_shot->value * of_shot->precision;
    return against > log(CERTAIN / (1 - CERTAIN)) + log((1 - RARE) / RARE);
}

size_t db_scaling_find_other_hands(db_context *context, db_scaling_work *w, db_status *status) {
    const size_t shots = w->observations->shots, n = w->list->count;
    double sum = 0, precision = 0;
    size_t found = 0;
    slope *const without = calloc(shots + 1, sizeof *without); /* the strongest measurement */
    if (!without) {
        *status = db_fail_memory(context, "the hands of the shots");
        return 0;
    }
    memset(w->next_sum, 0, n * sizeof *w->next_sum);
    memset(w->next_weight, 0, n * sizeof *w->next_weight);
    const double spread = find_spread(w);
    for (size_t s = 0; s < shots; s++) {
        if (!db_scaling_uses(w, s)) continue;
        take_out(w, s);
        const slope of_shot = find_slope(w, s, spread, &without[s]);
        put_back(w, s);
        sum += of_shot.precision * of_shot.value;
        precision += of_shot.precision;
    }
    if (sum > SURELY * sqrt(precision))
        for (size_t s = 0; s < shots; s++) {
            if (!is_other_hand(&without[s], sum / precision)) continue;
            w->shot[s].excluded = DB_EXCLUDED_OTHER_HAND;
            found++;
        }
    free(without);
    return found;
}
