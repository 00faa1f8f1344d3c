/* Priors of curves of f' and f'': smoothness, wings, and the relation of Kramers and Kronig. Each is a sum of values of
 * the curve that should be 0 (docs/theory/anomalous.md, Curves refined from stills). */
#include "fit/shots/curves.h"

#include "base/context_internal.h"
#include "fit/result/curves_found.h"
#include "loss/eliminate.h"

#include <dualbragg/expert/site_curves.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct curve_priors {
    const db_shots *all;
    const db_fit_curves *curves;
    db_unknowns *unknowns;
    long *place; /* [curves][points]: number of the unknown */
    double *row; /* [unknowns + 1] */
} curve_priors;

static size_t points_of(const curve_priors *p) { return (size_t)p->curves->points[2]; }

/* Standard deviations of the priors (electrons) in stages before the shots have chosen them. */
static const double usual_smoothness = 1, usual_kramers_kronig = 0.4;

static double one_of(double chosen, double usual) { return isnan(chosen) ? usual : chosen; }

/* Adds a point of a curve, or its difference from the start, with a weight to the row. */
static void add_value(const curve_priors *p, int curve, size_t point, double weight,
                      int from_start) {
    const size_t unknown = (size_t)p->place[(size_t)curve * points_of(p) + point],
                 index = p->unknowns->index[unknown];
    p->row[unknown] += weight;
    if (from_start) p->row[p->unknowns->count] -= weight * p->all->common.start[index];
}

static db_status restrain(const curve_priors *p, double sigma) {
    const db_status status = db_unknowns_restrain(p->all->context, p->row, sigma, p->unknowns);
    memset(p->row, 0, (p->unknowns->count + 1) * sizeof *p->row);
    return status;
}

static double start_of_point(const curve_priors *p, int curve, size_t point) {
    return p->all->common.start[p->unknowns->index[p->place[(size_t)curve * points_of(p) + point]]];
}

/* Bend of f'' of the start at a point (electrons): its distance from the mean of its neighbours. */
static double bend_of_start(const curve_priors *p, int kind, size_t i) {
    const int second = 2 * kind + 1;
    return fabs(start_of_point(p, second, i) - 0.5 * start_of_point(p, second, i - 1) -
                0.5 * start_of_point(p, second, i + 1));
}

/* How lively the curves of a kind are at a point, from 0 to 1. It is 1 near the edge of the start, where f'' bends most: there
 * f'' bends between points, too, and f' differs from the f' of straight lines. It is 0 where f'' does not bend. */
static double liveliness_of(const curve_priors *p, int kind, size_t point) {
    const double step = db_site_curve_energy(p->curves->points, 1) - p->curves->points[0];
    double near = 0, most = 0;
    for (size_t i = 1; i + 1 < points_of(p) && p->curves->calm > 0; i++) {
        const double bend = bend_of_start(p, kind, i),
                     away = step * fabs((double)i - (double)point);
        most = fmax(most, bend);
        if (away <= fmax(DB_EDGE_REACH, step)) near = fmax(near, bend);
    }
    return most > 0 ? near / most : 1;
}

/* Factor of a prior's standard deviation at a point. */
static double factor_of_sigma(const curve_priors *p, int kind, size_t point) {
    return fmax(p->curves->calm, liveliness_of(p, kind, point));
}

/* A lively point is near the middle between its neighbours. A calm one is as far from it as in the start, whose tails are
 * those of any edge of the element. */
static db_status smooth(const curve_priors *p, int curve) {
    const int kind = curve / 2;
    for (size_t i = 1; i + 1 < points_of(p); i++) {
        const double sigma = one_of(p->curves->smoothness, usual_smoothness),
                     of_start = start_of_point(p, curve, i) -
                                0.5 * start_of_point(p, curve, i - 1) -
                                0.5 * start_of_point(p, curve, i + 1);
        add_value(p, curve, i, 1, 0);
        add_value(p, curve, i - 1, -0.5, 0);
        add_value(p, curve, i + 1, -0.5, 0);
        p->row[p->unknowns->count] -= (1 - liveliness_of(p, kind, i)) * of_start;
        DB_TRY(restrain(p, sigma * factor_of_sigma(p, kind, i)));
    }
    return DB_OK;
}

static db_status hold_wings(const curve_priors *p, int curve) {
    for (size_t i = 0; i < points_of(p); i++) {
        const double energy = db_site_curve_energy(p->curves->points, (long)i),
                     away = fmin(energy - p->curves->points[0], p->curves->points[1] - energy);
        if (away > p->curves->wings[0]) continue;
        add_value(p, curve, i, 1, 1);
        DB_TRY(restrain(p, p->curves->wings[1]));
    }
    return DB_OK;
}

/* Relation of Kramers and Kronig between the changes of f' and f'' from the start. Beyond the points f'' is the curve of
 * the start, which it reaches within one more step. */
static db_status relate(const curve_priors *p, int kind) {
    for (size_t i = 0; i < points_of(p); i++) {
        const double *const points = p->curves->points, at = db_site_curve_energy(points, (long)i);
        add_value(p, 2 * kind, i, 1, 1);
        for (size_t j = 0; j < points_of(p); j++) {
            const double hat[3] = { 0, 1, 0 },
                         energy[3] = { db_site_curve_energy(points, (long)j - 1),
                                       db_site_curve_energy(points, (long)j),
                                       db_site_curve_energy(points, (long)j + 1) };
            add_value(p, 2 * kind + 1, j, -db_kramers_kronig(energy, hat, 3, at), 1);
        }
        const double sigma = one_of(p->curves->kramers_kronig, usual_kramers_kronig);
        DB_TRY(restrain(p, sigma * factor_of_sigma(p, kind, i)));
    }
    return DB_OK;
}

/* Finds the unknown of each point. 0: a point is no unknown, as in a stage that does not refine curves. */
static int find_places(const curve_priors *p, int kinds) {
    const db_unknowns *const u = p->unknowns;
    size_t found = 0;
    for (size_t i = 0; i < u->count; i++) {
        int kind, second;
        size_t point;
        if (!db_parameter_is_site_curve(u->settings->parameters[u->index[i]].parameter, &kind,
                                        &second, &point))
            continue;
        p->place[(size_t)(2 * kind + second) * points_of(p) + point] = (long)i;
        found++;
    }
    return found == (size_t)(2 * kinds) * points_of(p);
}

static db_status restrain_all(const curve_priors *p, int kinds) {
    for (int curve = 0; curve < 2 * kinds; curve++) {
        DB_TRY(smooth(p, curve));
        DB_TRY(hold_wings(p, curve));
    }
    for (int kind = 0; kind < kinds; kind++) DB_TRY(relate(p, kind));
    return DB_OK;
}

/* Choices of the shots for the standard deviations (electrons). */
static const double smoothness_choices[] = { 0.06, 0.12, 0.25, 0.5, 1, 2, 4, 8 };
static const double calm_choices[] = { 1, 0.3, 0.1, 0.03, 0.01 }; /* parts */
static const double kramers_kronig_choices[] = { 0.1, 0.2, 0.4, 0.8, 1.6 };
enum {
    SMOOTHNESS_CHOICES = sizeof smoothness_choices / sizeof *smoothness_choices,
    CALM_CHOICES = sizeof calm_choices / sizeof *calm_choices,
    RELATION_CHOICES = sizeof kramers_kronig_choices / sizeof *kramers_kronig_choices
};

/* Standard deviation (electrons) of all f' and f'' from the start. It turns the priors into a distribution whose evidence can
 * be compared, and is too wide to change anything else. */
static const double broadest = 100;

int db_curves_are_open(const db_shots *all, int stage) {
    const db_fit_settings *const s = &all->settings;
    int refined = 0;
    for (size_t i = 0; i < all->parameters; i++)
        refined |= db_fit_parameter_is_of_curve(&s->parameters[i]) &&
                   db_fit_parameter_in_stage(&s->parameters[i], (size_t)stage);
    return refined && (isnan(s->curves.smoothness) || isnan(s->curves.kramers_kronig)) &&
           stage + 1 == (int)s->stage_count && !all->options->series;
}

/* Adds the priors to unknowns; broadly: 1 adds the broadest prior of all values, too. */
static db_status restrain_curves(const db_shots *all, int broadly, db_unknowns *unknowns) {
    const db_site_kinds *const sites = all->amplitudes.sites;
    curve_priors p = { .all = all, .curves = &all->settings.curves, .unknowns = unknowns };
    if (!db_fit_refines_curves(&all->settings) || !sites) return DB_OK;
    p.row = calloc(unknowns->count + 1, sizeof *p.row);
    p.place = calloc(2 * (size_t)sites->count * points_of(&p), sizeof *p.place);
    db_status status = db_need_memory(all->context, p.row && p.place, "priors of curves");
    if (status == DB_OK && find_places(&p, sites->count)) {
        status = restrain_all(&p, sites->count);
        for (int curve = 0; curve < 2 * sites->count && broadly; curve++)
            for (size_t i = 0; i < points_of(&p) && status == DB_OK; i++) {
                add_value(&p, curve, i, 1, 1);
                status = restrain(&p, broadest);
            }
    }
    free(p.row);
    free(p.place);
    return status;
}

db_status db_curves_restrain(const db_shots *all, db_unknowns *unknowns) {
    return restrain_curves(all, 0, unknowns);
}

/* Gradient and normal matrix from the sums of shots; sums NULL: 0. */
static void fill_equations(size_t n, const double *sums, double *gradient, double *normal) {
    for (size_t i = 0, at = 1 + n; i < n; i++) {
        gradient[i] = sums ? sums[1 + i] : 0;
        for (size_t k = 0; k <= i; k++, at++)
            normal[i * n + k] = normal[k * n + i] = sums ? sums[at] : 0;
    }
}

/* Logarithm of the determinant of an eliminated matrix, without the pivots of undetermined directions. */
static double log_of_pivots(size_t n, const double *normal) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (normal[i * n + i] > 0) sum += log(normal[i * n + i]);
    return sum;
}

/* -2 log evidence of the present priors, without a constant: the least loss with priors, plus the log of the factor by which
 * the shots shrink the volume of likely unknowns. room: [count][count + 1]. */
static db_status weigh_priors(const db_shots *all, const size_t *index, size_t n, const double *x,
                              const double *sums, double *room, double *weight) {
    double *const gradient = room, *const normal = room + n;
    db_unknowns u;
    *weight = 0;
    DB_TRY(db_unknowns_make(all->context, &all->settings, index, n, &u));
    const db_status status = restrain_curves(all, 1, &u);
    for (int shots = 0; shots < 2 && status == DB_OK; shots++) {
        double loss = 0;
        fill_equations(n, shots ? sums : NULL, gradient, normal);
        db_unknowns_add_priors(&u, x, &loss, gradient, normal);
        const double fall = db_eliminate(n, 0, gradient, normal, n),
                     all_room = log_of_pivots(n, normal);
        *weight += shots ? loss - fall + all_room : -all_room;
    }
    db_unknowns_clear(&u);
    return status;
}

/* Tells of a strength that the shots want wider than all choices. */
static void tell_widest(const db_shots *all, const char *name, double chosen, double widest) {
    if (all->team.rank == 0 && chosen >= widest)
        db_notice(all->context,
                  "curves.%s: the shots chose the widest prior, %g electrons: the curve has a "
                  "sharp line, or it makes up for a fault of the model: structure factors of the "
                  "other atoms (data.intensity_error), places of panels, sub-pixels (oversample), "
                  "the blur of spectra (spectrum_resolution)",
                  name, widest);
}

db_status db_curves_choose(db_shots *all, const size_t *index, size_t n, const double *x,
                           const double *sums) {
    db_fit_curves *const curves = &all->settings.curves;
    const int smooth_is_open = isnan(curves->smoothness),
              relation_is_open = isnan(curves->kramers_kronig);
    const int smooth_count = smooth_is_open ? SMOOTHNESS_CHOICES * CALM_CHOICES : 1,
              relation_count = relation_is_open ? RELATION_CHOICES : 1;
    db_fit_curves best = *curves;
    double least = INFINITY, weight;
    double *const room = malloc((n + 1) * (n + 1) * sizeof *room);
    db_status status = db_need_memory(all->context, room, "evidence of curves");
    for (int i = 0; i < smooth_count * relation_count && status == DB_OK; i++) {
        const int s = i / relation_count;
        if (smooth_is_open) {
            curves->smoothness = smoothness_choices[s / CALM_CHOICES];
            curves->calm = calm_choices[s % CALM_CHOICES];
        }
        if (relation_is_open) curves->kramers_kronig = kramers_kronig_choices[i % relation_count];
        status = weigh_priors(all, index, n, x, sums, room, &weight);
        if (status != DB_OK || !(weight < least)) continue;
        least = weight;
        best = *curves;
    }
    *curves = best;
    if (smooth_is_open)
        tell_widest(all, "smoothness", best.smoothness, smoothness_choices[SMOOTHNESS_CHOICES - 1]);
    if (relation_is_open)
        tell_widest(all, "kramers_kronig", best.kramers_kronig,
                    kramers_kronig_choices[RELATION_CHOICES - 1]);
    free(room);
    return status;
}
