/* Refined curves of f' and f'', and their edges. */
#include "fit/result/curves_found.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Number of points at either end that define the level of f'' there: points within the wings of the settings, at
 * least one. */
static size_t wing_of(const db_found_curve *c, double wing) {
    size_t count = 1;
    while (2 * (count + 1) < c->count && c->point[count].energy - c->point[0].energy <= wing)
        count++;
    return count;
}

static double mean_second(const db_curve_point *point, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += point[i].f_second;
    return sum / (double)count;
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

static void find_edge(const db_fit_estimates *estimates, const size_t *of_second, double wing,
                      double *slope, db_found_curve *c) {
    const size_t n = c->count, w = wing_of(c, wing);
    const double level = 0.5 * (mean_second(c->point, w) + mean_second(c->point + n - w, w));
    const size_t at = steepest_rise(c, level);
    c->edge = c->edge_error = NAN;
    if (at == SIZE_MAX) return;
    const db_curve_point *const low = &c->point[at], *const high = low + 1;
    const double rise = high->f_second - low->f_second, step = high->energy - low->energy,
                 part = (level - low->f_second) / rise;
    c->edge = low->energy + step * part;
    for (size_t i = 0; i < n; i++)
        slope[i] = i < w || i >= n - w ? 0.5 / (double)w * step / rise : 0;
    slope[at] -= (1 - part) * step / rise;
    slope[at + 1] -= part * step / rise;
    c->edge_error = error_by_slopes(estimates, of_second, n, slope);
}

/* Rise of f'' from its first values to its last ones, mean of two kinds. */
static double mean_step(const db_found_curve *a, const db_found_curve *b, size_t wing) {
    const size_t last = a->count - wing;
    return 0.5 * (mean_second(a->point + last, wing) - mean_second(a->point, wing) +
                  mean_second(b->point + last, wing) - mean_second(b->point, wing));
}

/* A step that moves by an energy leaves an area of this energy times the step. Stills tell areas better than single points, which
 * lie closer than a spread crystal resolves. Farther from the edges than they can move, the area would only add noise.
 * slope: [2][points], 0; of_second: this place for f'', after the first kind's. */
static void find_shift(const db_fit_estimates *estimates, const size_t *of_second, double wing,
                       const db_found_curve *first, double *slope, db_found_curve *c) {
    const size_t n = c->count, w = wing_of(c, wing);
    const double width = c->point[1].energy - c->point[0].energy,
                 middle = 0.5 * (first->edge + c->edge),
                 reach = DB_EDGE_REACH + width + 0.5 * fabs(c->edge - first->edge),
                 step = mean_step(first, c, w);
    if (!isfinite(middle) || !(step > 0)) return;
    c->shift = 0;
    for (size_t i = 0; i < n; i++) {
        if (fabs(c->point[i].energy - middle) > reach) continue;
        c->shift += width / step * (first->point[i].f_second - c->point[i].f_second);
        slope[i] = width / step;
        slope[n + i] = -width / step;
    }
    for (size_t i = 0; i < n; i++) {
        const double of_step = (i >= n - w ? 0.5 : i < w ? -0.5 : 0) / (double)w;
        slope[i] -= c->shift / step * of_step;
        slope[n + i] -= c->shift / step * of_step;
    }
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
