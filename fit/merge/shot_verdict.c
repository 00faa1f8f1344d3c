/* Excludes shots whose intensities disagree with the intensities of the other shots. */
#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/merge/scaling_work.h"

#include <stdlib.h>

static const double CERTAIN = 2.5; /* standard deviations */
static const double BRIGHTEST =
    5; /* times the mean at a resolution; brighter reflections count as this */
static const double TOO_FAR = 8; /* robust standard deviations of a misfit's logarithm */

/* Weighted sums of two lists of values. */
typedef struct pair_sums {
    double n, squares, x, y, xx, yy, xy; /* n: sum of weights */
    double noise_x, noise_y;
} pair_sums;

static void add_pair_of_values(pair_sums *sums, double share, double x, double y, double noise_x,
                               double noise_y) {
    sums->n += share;
    sums->squares += share * share;
    sums->x += share * x;
    sums->y += share * y;
    sums->xx += share * x * x;
    sums->yy += share * y * y;
    sums->xy += share * x * y;
    sums->noise_x += share * noise_x;
    sums->noise_y += share * noise_y;
}

static double covariance_of(const pair_sums *s) {
    return s->xy / s->n - s->x * s->y / (s->n * s->n);
}

/* Common variance of intensities, relative to the mean at their resolution: errors do not correlate. */
static double common_variance(const pair_sums *sums, size_t shots) {
    double sum = 0, n = 0;
    for (size_t s = 0; s < shots; s++) {
        if (sums[s].n > 0) sum += sums[s].n * covariance_of(&sums[s]);
        n += sums[s].n;
    }
    return n > 0 ? fmax(0, sum / n) : 0;
}

/* Sets correlation, and its expected value from errors and this variance. */
static void correlate(const pair_sums *sums, double signal, db_shot_scale *shot) {
    const double n = sums->n, vx = sums->xx / n - sums->x * sums->x / (n * n),
                 vy = sums->yy / n - sums->y * sums->y / (n * n), nx = sums->noise_x / n,
                 ny = sums->noise_y / n;
    shot->correlation = vx > 0 && vy > 0 ? covariance_of(sums) / sqrt(vx * vy) : 0;
    shot->expected = signal / sqrt((signal + nx) * (signal + ny));
}

/* Adds intensities relative to the mean at their resolution, whose decrease would correlate them. Each is weighted
 * by its errors and the spread of intensities. Robust weights do not count: a shot that contradicts another one would not
 * be seen. */
static void look_at(const db_scaling_work *w, size_t s, double *room, pair_sums *sums) {
    db_shot_scale *const shot = &w->shot[s];
    size_t count = 0;
    for (size_t i = w->observations->first[s]; i < w->observations->first[s + 1]; i++) {
        const db_observation *const o = &w->observations->list[i];
        const uint32_t r = o->reflection;
        if (r == DB_NO_REFLECTION) continue;
        const db_others rest = db_scaling_others(w, s, i);
        if (!(rest.precision > 0)) continue;
        const double g = db_scaling_at(shot, db_scaling_fall(w, r)),
                     usual = db_scaling_expected(w, r),
                     variance = db_scaling_variance(w, o, g * db_scaling_mean(w, r)),
                     noise_x = variance / (g * g * usual * usual),
                     noise_y = 1 / (rest.full * usual * usual),
                     off = (double)o->intensity - g * rest.measured;
        add_pair_of_values(sums, 1 / (1 + noise_x + noise_y),
                           fmin(BRIGHTEST + 4 * sqrt(noise_x), (double)o->intensity / (g * usual)),
                           fmin(BRIGHTEST + 4 * sqrt(noise_y), rest.measured / usual), noise_x,
                           noise_y);
        room[count++] = off * off / (variance + g * g / rest.full);
    }
    shot->reflections = count;
    shot->correlation = shot->expected = shot->misfit = NAN;
    if (count < 3) return;
    shot->misfit = db_median(room, count) / DB_MEDIAN_CHI2;
}

/* Is the correlation surely less than half of its expected value? A negative one means no more than 0. usual: what part of
 * the expected value shots have. */
static int is_unrelated(const db_shot_scale *shot, double pairs, double usual) {
    if (!(pairs > 4)) return 0;
    const double found = atanh(fmax(0, fmin(0.999, shot->correlation))),
                 error = 1 / sqrt(pairs - 3);
    return found + CERTAIN * error < atanh(fmin(0.999, 0.5 * usual * shot->expected));
}

static int is_compared(const db_scaling_work *w, const pair_sums *sums, size_t s) {
    return w->shot[s].reflections >= 3 && sums[s].n > 0;
}

/* Excludes shots that correlate too little. While all models are as poor as before sizes of blocks are found, all shots
 * correlate less than their errors let expect: that is no sign of another crystal. room: [shots] */
static size_t exclude_unrelated(const db_scaling_work *w, const pair_sums *sums, double *room) {
    const double signal = common_variance(sums, w->observations->shots);
    size_t excluded = 0, count = 0;
    for (size_t s = 0; s < w->observations->shots; s++) {
        db_shot_scale *const shot = &w->shot[s];
        if (!is_compared(w, sums, s)) continue;
        correlate(&sums[s], signal, shot);
        if (shot->expected > 0) room[count++] = shot->correlation / shot->expected;
    }
    const double usual = count ? fmin(1, fmax(0, db_median(room, count))) : 1;
    for (size_t s = 0; s < w->observations->shots; s++) {
        db_shot_scale *const shot = &w->shot[s];
        if (!is_compared(w, sums, s) ||
            !is_unrelated(shot, sums[s].n * sums[s].n / sums[s].squares, usual))
            continue;
        shot->excluded = DB_EXCLUDED_UNRELATED;
        excluded++;
    }
    return excluded;
}

/* Excludes shots whose misfit is far above the others. */
static size_t exclude_scattered(const db_scaling_work *w, double *room) {
    size_t count = 0, excluded = 0;
    for (size_t s = 0; s < w->observations->shots; s++)
        if (db_scaling_uses(w, s) && w->shot[s].misfit > 0) room[count++] = log(w->shot[s].misfit);
    if (count < 5) return 0;
    const double middle = db_median(room, count);
    for (size_t i = 0; i < count; i++) room[i] = fabs(room[i] - middle);
    const double spread = fmax(0.1, 1.4826 * db_median(room, count));
    for (size_t s = 0; s < w->observations->shots; s++) {
        db_shot_scale *const shot = &w->shot[s];
        if (!db_scaling_uses(w, s) || !(shot->misfit > 4)) continue;
        if (log(shot->misfit) <= middle + TOO_FAR * spread) continue;
        shot->excluded = DB_EXCLUDED_SCATTERED;
        excluded++;
    }
    return excluded;
}

size_t db_scaling_judge(db_context *context, db_scaling_work *w, db_status *status) {
    size_t most = w->observations->shots, excluded = 0;
    for (size_t s = 0; s < w->observations->shots; s++) {
        const size_t count = w->observations->first[s + 1] - w->observations->first[s];
        if (count > most) most = count;
    }
    double *const room = malloc((most + 1) * sizeof *room);
    pair_sums *const sums = calloc(w->observations->shots + 1, sizeof *sums);
    if (room && sums) {
        for (size_t s = 0; s < w->observations->shots; s++)
            if (db_scaling_uses(w, s)) look_at(w, s, room, &sums[s]);
        excluded = exclude_unrelated(w, sums, room);
        excluded += exclude_scattered(w, room);
    } else
        *status = db_fail_memory(context, "the verdict on shots");
    free(room);
    free(sums);
    return excluded;
}
