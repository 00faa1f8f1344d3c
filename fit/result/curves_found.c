/* Refined curves of f' and f'', and their edges. */
#include "fit/result/curves_found.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A rise of f'' below this many of its standard errors is no edge. */
#define LEAST_RISE 2

void db_found_curves_clear(db_found_curves *found) {
    for (size_t k = 0; k < found->count; k++) free(found->kind[k].point);
    memset(found, 0, sizeof *found);
}

/* Numbers of the estimates of f'' at each point; adds f' and f'' to the curve. */
static void take_points(const db_fit_estimates *estimates, int number, db_found_curve *curve,
                        size_t *of_second) {
    for (size_t i = 0; i < estimates->count; i++) {
        const db_fit_estimate *const e = &estimates->list[i];
        int kind, second;
        size_t point;
        if (!db_parameter_is_site_curve(e->parameter, &kind, &second, &point) || kind != number)
            continue;
        db_curve_point *const p = &curve->point[point];
        *(second ? &p->f_second : &p->f_prime) = e->value;
        *(second ? &p->f_second_error : &p->f_prime_error) = e->error;
        if (second) of_second[point] = i;
    }
}

/* Weight of a point in a mean of f''. */
static double weight_of(const db_curve_point *point) {
    const double error = point->f_second_error;
    return error > 0 && isfinite(error) ? 1 / (error * error) : 0;
}

/* Adds a mean of f'' of some points, times a factor, to the weights of all; weighted by errors where there are any. */
static void add_mean(const db_found_curve *c, size_t from, size_t to, int by_errors, double factor,
                     double *weight) {
    double sum = 0;
    for (size_t i = from; i < to && by_errors; i++) sum += weight_of(&c->point[i]);
    for (size_t i = from; i < to; i++)
        weight[i] += factor * (sum > 0 ? weight_of(&c->point[i]) / sum : 1 / (double)(to - from));
}

static double weighted_sum(const db_found_curve *c, const double *weight) {
    double sum = 0;
    for (size_t i = 0; i < c->count; i++) sum += weight[i] * c->point[i].f_second;
    return sum;
}

/* How much nearer to f'' than a constant an upward step is that has so many points below it: the difference of chi2. */
static double gain_of_step(const db_found_curve *c, size_t points_below) {
    double weight[2] = { 0, 0 }, sum[2] = { 0, 0 };
    for (size_t i = 0; i < c->count; i++) {
        const int above = i >= points_below;
        weight[above] += weight_of(&c->point[i]);
        sum[above] += weight_of(&c->point[i]) * c->point[i].f_second;
    }
    if (!(weight[0] > 0 && weight[1] > 0)) return 0;
    const double rise = sum[1] / weight[1] - sum[0] / weight[0];
    return rise > 0 ? rise * rise * weight[0] * weight[1] / (weight[0] + weight[1]) : 0;
}

/* The upward step that is nearest to f'': number of points below it. */
static size_t nearest_step(const db_found_curve *c) {
    double most = 0;
    size_t best = c->count / 2;
    for (size_t i = 1; i < c->count; i++) {
        const double gain = gain_of_step(c, i);
        if (!(gain > most)) continue;
        most = gain;
        best = i;
    }
    return best;
}

/* How far off other steps lie that f'' does not rule out: root mean square of what exceeds one distance of points, by their
 * likelihoods. 0 for an edge that stands out; large for one of the crossings of a curve of noise. */
static double doubt_about(const db_found_curve *c, double edge) {
    const double best = gain_of_step(c, nearest_step(c)),
                 step = c->point[1].energy - c->point[0].energy;
    double all = 0, sum = 0;
    for (size_t i = 1; i < c->count; i++) {
        const double likelihood = exp(0.5 * (gain_of_step(c, i) - best)),
                     off = fabs(c->point[i].energy - 0.5 * step - edge);
        all += likelihood;
        sum += likelihood * pow(fmax(0, off - step), 2);
    }
    return sqrt(sum / all);
}

/* Points whose means are the levels of f'': the first `low`, and from `high` on. */
typedef struct curve_sides {
    size_t low, high;
} curve_sides;

/* Within the wings of the settings; without wings farther from the nearest step than the edge can be, or else all. */
static curve_sides sides_of(const db_found_curve *c, double wing) {
    const size_t n = c->count, step = nearest_step(c);
    const double middle = 0.5 * (c->point[step - 1].energy + c->point[step].energy);
    curve_sides sides = { wing > 0 ? 1 : step, step };
    if (wing > 0) {
        while (2 * (sides.low + 1) < n && c->point[sides.low].energy - c->point[0].energy <= wing)
            sides.low++;
        sides.high = n - sides.low;
        return sides;
    }
    while (sides.low > 0 && middle - c->point[sides.low - 1].energy < DB_EDGE_REACH) sides.low--;
    while (sides.high < n && c->point[sides.high].energy - middle < DB_EDGE_REACH) sides.high++;
    return (curve_sides){ sides.low > 0 ? sides.low : step, sides.high < n ? sides.high : step };
}

/* Adds both levels of f'', times a factor each, to the weights of its points. */
static void add_levels(const db_found_curve *c, double wing, double of_low, double of_high,
                       double *weight) {
    const curve_sides sides = sides_of(c, wing);
    add_mean(c, 0, sides.low, !(wing > 0), of_low, weight);
    add_mean(c, sides.high, c->count, !(wing > 0), of_high, weight);
}

/* The steepest rise through a level between neighbouring points; SIZE_MAX: none. */
static size_t steepest_rise(const db_found_curve *c, double level) {
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t i = 0; i + 1 < c->count; i++) {
        const double low = c->point[i].f_second, high = c->point[i + 1].f_second;
        if (!(low <= level && high > level && high - low > most)) continue;
        most = high - low;
        best = i;
    }
    return best;
}

/* Error of a value, by its derivatives by f''. */
static double error_by_slopes(const db_fit_estimates *e, const size_t *of_second, size_t count,
                              const double *slope) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            const size_t a = of_second[i], b = of_second[k];
            const double both = slope[i] * slope[k];
            if (fabs(both) > 0)
                sum += both * e->correlation[a][b] * e->list[a].error * e->list[b].error;
        }
    return sqrt(fmax(sum, 0));
}

/* slope: [points], 0. */
static void find_edge(const db_fit_estimates *estimates, const size_t *of_second, double wing,
                      double *slope, db_found_curve *c) {
    const size_t n = c->count;
    c->edge = c->edge_error = NAN;
    add_levels(c, wing, -1, 1, slope);
    c->rise = weighted_sum(c, slope);
    c->rise_error = error_by_slopes(estimates, of_second, n, slope);
    memset(slope, 0, n * sizeof *slope);
    add_levels(c, wing, 0.5, 0.5, slope);
    const double level = weighted_sum(c, slope);
    const size_t at = c->rise > LEAST_RISE * c->rise_error ? steepest_rise(c, level) : SIZE_MAX;
    if (at == SIZE_MAX) return;
    const db_curve_point *const low = &c->point[at], *const high = low + 1;
    const double rise = high->f_second - low->f_second, step = high->energy - low->energy,
                 part = (level - low->f_second) / rise;
    c->edge = low->energy + step * part;
    for (size_t i = 0; i < n; i++) slope[i] *= step / rise;
    slope[at] -= (1 - part) * step / rise;
    slope[at + 1] -= part * step / rise;
    c->edge_error = hypot(error_by_slopes(estimates, of_second, n, slope), doubt_about(c, c->edge));
}

/* A step that moves by an energy leaves an area of this energy times the step. Stills tell areas better than single points, which
 * lie closer than a spread crystal resolves. Farther from the edges than they can move, the area would only add noise.
 * slope: [2][points], 0; of_second: this place for f'', after the first kind's. */
static void find_shift(const db_fit_estimates *estimates, const size_t *of_second, double wing,
                       const db_found_curve *first, double *slope, db_found_curve *c) {
    const size_t n = c->count;
    const double width = c->point[1].energy - c->point[0].energy,
                 middle = 0.5 * (first->edge + c->edge),
                 reach = DB_EDGE_REACH + width + 0.5 * fabs(c->edge - first->edge),
                 step = 0.5 * (first->rise + c->rise);
    if (!isfinite(middle) || !(step > 0)) return;
    c->shift = 0;
    for (size_t i = 0; i < n; i++) {
        if (fabs(c->point[i].energy - middle) > reach) continue;
        c->shift += width / step * (first->point[i].f_second - c->point[i].f_second);
        slope[i] = width / step;
        slope[n + i] = -width / step;
    }
    const double by_level = 0.5 * c->shift / step;
    add_levels(first, wing, by_level, -by_level, slope);
    add_levels(c, wing, by_level, -by_level, slope + n);
    c->shift_error = error_by_slopes(estimates, of_second, 2 * n, slope);
}

static db_status compare_edges(db_context *context, const db_fit_settings *settings,
                               const db_fit_estimates *estimates, int kind,
                               db_found_curves *found) {
    db_found_curve *const first = found->kind, *const c = found->kind + kind;
    const size_t n = c->count;
    c->shift = c->shift_error = NAN;
    if (kind == 0) return DB_OK;
    double *const slope = calloc(2 * n, sizeof *slope);
    size_t *const of_second = calloc(2 * n, sizeof *of_second);
    const int made = slope && of_second;
    if (made) {
        take_points(estimates, 0, first, of_second);
        take_points(estimates, kind, c, of_second + n);
        find_shift(estimates, of_second, settings->curves.wings[0], first, slope, c);
    }
    free(slope);
    free(of_second);
    return db_need_memory(context, made, "edges of kinds of sites");
}

static db_status find_curve(db_context *context, const db_fit_settings *settings,
                            const db_fit_estimates *estimates, int kind, db_found_curve *c) {
    const db_fit_curves *const curves = &settings->curves;
    const size_t n = c->count = (size_t)curves->points[2];
    c->point = calloc(n, sizeof *c->point);
    double *const slope = calloc(n, sizeof *slope);
    size_t *const of_second = calloc(n, sizeof *of_second);
    const int made = c->point && slope && of_second;
    for (size_t i = 0; i < n && made; i++)
        c->point[i].energy = db_site_curve_energy(curves->points, (long)i);
    if (made) {
        take_points(estimates, kind, c, of_second);
        find_edge(estimates, of_second, curves->wings[0], slope, c);
    }
    free(slope);
    free(of_second);
    return db_need_memory(context, made, "curves of f' and f''");
}

db_status db_curves_found(db_context *context, const char *sites, const db_fit_settings *settings,
                          const db_fit_estimates *estimates, db_found_curves *found) {
    memset(found, 0, sizeof *found);
    if (!db_fit_refines_curves(settings)) return DB_OK;
    db_setup_sites kinds;
    DB_TRY(db_setup_read_sites(context, sites, &kinds));
    for (int k = 0; k < kinds.count; k++) {
        db_found_curve *const c = &found->kind[found->count++];
        memcpy(c->name, kinds.kind[k].sites, sizeof c->name);
        DB_TRY(find_curve(context, settings, estimates, k, c));
        DB_TRY(compare_edges(context, settings, estimates, k, found));
    }
    return DB_OK;
}
