/* Shots whose intensities are not those of the others. */
#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/merge/scaling_work.h"

#include <stdlib.h>

static const double CERTAIN = 2.5; /* standard deviations */
static const double BRIGHTEST =
    5;                           /* times the mean of its resolution; brighter ones count as this */
static const double TOO_FAR = 8; /* robust standard deviations of a misfit's logarithm */

/* Weighted sums of two lists of values. */
typedef struct pair_sums {
    double n, squares, x, y, xx, yy, xy; /* n: of weights */
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

/* Sets correlation, what it would be by the errors alone, and the number of independent pairs. */
static void correlate(const pair_sums *sums, db_shot_scale *shot, double *pairs) {
    const double n = sums->n, vx = sums->xx / n - sums->x * sums->x / (n * n),
                 vy = sums->yy / n - sums->y * sums->y / (n * n),
                 both = sums->xy / n - sums->x * sums->y / (n * n), nx = sums->noise_x / n,
                 ny = sums->noise_y / n, signal = fmax(0.2, vy - ny);
    *pairs = n * n / sums->squares;
    shot->correlation = vx > 0 && vy > 0 ? both / sqrt(vx * vy) : 0;
    shot->expected = signal / sqrt((signal + nx) * (signal + ny));
}

/* Intensities relative to the mean of their resolution, so that its fall does not correlate them.
 * Each counts as much as it says beside the spread of intensities. */
static void look_at(const db_scaling_work *w, size_t s, double *room, double *pairs) {
    db_shot_scale *const shot = &w->shot[s];
    pair_sums sums = { 0 };
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
                     noise_y = 1 / (rest.precision * usual * usual),
                     off = (double)o->intensity - g * rest.measured;
        add_pair_of_values(&sums, 1 / (1 + noise_x + noise_y),
                           fmin(BRIGHTEST + 4 * sqrt(noise_x), (double)o->intensity / (g * usual)),
                           fmin(BRIGHTEST + 4 * sqrt(noise_y), rest.measured / usual), noise_x,
                           noise_y);
        room[count++] = off * off / (variance + g * g / rest.precision);
    }
    shot->reflections = count;
    shot->correlation = shot->expected = shot->misfit = NAN;
    *pairs = 0;
    if (count < 3) return;
    correlate(&sums, shot, pairs);
    shot->misfit = db_median(room, count) / DB_MEDIAN_CHI2;
}

/* Is the correlation surely less than half of what it should be? */
static int is_unrelated(const db_shot_scale *shot, double pairs) {
    if (!(pairs > 4)) return 0;
    const double found = atanh(fmax(-0.999, fmin(0.999, shot->correlation))),
                 error = 1 / sqrt(pairs - 3);
    return found + CERTAIN * error < atanh(fmin(0.999, 0.5 * shot->expected));
}

/* Sets shots aside whose misfit is far above that of the others. */
static size_t set_scattered_aside(const db_scaling_work *w, double *room) {
    size_t count = 0, aside = 0;
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
        shot->aside = DB_ASIDE_SCATTERED;
        aside++;
    }
    return aside;
}

size_t db_scaling_judge(db_context *context, db_scaling_work *w, db_status *status) {
    size_t most = w->observations->shots, aside = 0;
    for (size_t s = 0; s < w->observations->shots; s++) {
        const size_t count = w->observations->first[s + 1] - w->observations->first[s];
        if (count > most) most = count;
    }
    double *const room = malloc((most + 1) * sizeof *room);
    if (!room) {
        *status = db_fail_memory(context, "the verdict on shots");
        return 0;
    }
    for (size_t s = 0; s < w->observations->shots; s++) {
        double pairs;
        if (!db_scaling_uses(w, s)) continue;
        look_at(w, s, room, &pairs);
        if (!is_unrelated(&w->shot[s], pairs)) continue;
        w->shot[s].aside = DB_ASIDE_UNRELATED;
        aside++;
    }
    aside += set_scattered_aside(w, room);
    free(room);
    return aside;
}
