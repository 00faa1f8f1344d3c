/* Priors of curves of f' and f'': smoothness, wings, and the relation of Kramers and Kronig. Each is a sum of values of
 * the curve that should be 0 (docs/theory/anomalous.md, Curves refined from stills). */
#include "fit/shots/curves.h"

#include "base/context_internal.h"
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

/* Standard deviations (electrons) in stages before cross validation has chosen them. */
static const double usual_smoothness = 1, usual_kramers_kronig = 0.4;

static double one_of(double chosen, double usual) { return isnan(chosen) ? usual : chosen; }

/* A value, or its difference from the start, with a weight. */
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

static db_status smooth(const curve_priors *p, int curve) {
    for (size_t i = 1; i + 1 < points_of(p); i++) {
        add_value(p, curve, i, 1, 0);
        add_value(p, curve, i - 1, -0.5, 0);
        add_value(p, curve, i + 1, -0.5, 0);
        DB_TRY(restrain(p, one_of(p->curves->smoothness, usual_smoothness)));
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

/* f' changes from the start as f'' does; beyond the points f'' is that of the start, which it reaches within another
 * step. */
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
        DB_TRY(restrain(p, one_of(p->curves->kramers_kronig, usual_kramers_kronig)));
    }
    return DB_OK;
}

/* Where each value is among the unknowns; 0: one of them is not, as in a stage that leaves curves. */
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

/* Standard deviations among which cross validation chooses (electrons). */
static const double smoothness_choices[] = { 0.25, 0.5, 1, 2, 4, 8 };
static const double kramers_kronig_choices[] = { 0.1, 0.2, 0.4, 0.8, 1.6 };

/* One equation of all shots but a fold, and that of the fold (db_schur_sums_size each). */
typedef struct held_out {
    size_t count;
    double *gradient, *normal; /* of the others, with priors: eliminated in place */
    double *step, *own_gradient, *own_normal;
} held_out;

/* Adds sums of shots to a gradient and a normal matrix. */
static void add_fold(size_t n, const double *sums, double *gradient, double *normal) {
    for (size_t i = 0, at = 1 + n; i < n; i++) {
        gradient[i] += sums[1 + i];
        for (size_t k = 0; k <= i; k++, at++) {
            normal[i * n + k] += sums[at];
            if (k < i) normal[k * n + i] += sums[at];
        }
    }
}

/* What the shots of a fold lose by the step that all others and the priors ask for. */
static double loss_of_fold(const db_unknowns *u, const double *x, const double *folds, size_t size,
                           size_t fold, const held_out *h) {
    const size_t n = h->count;
    double loss = 0;
    memset(h->gradient, 0, n * sizeof *h->gradient);
    memset(h->normal, 0, n * n * sizeof *h->normal);
    memset(h->own_gradient, 0, n * sizeof *h->own_gradient);
    memset(h->own_normal, 0, n * n * sizeof *h->own_normal);
    for (size_t f = 0; f < DB_CURVE_FOLDS; f++)
        if (f == fold)
            add_fold(n, folds + f * size, h->own_gradient, h->own_normal);
        else
            add_fold(n, folds + f * size, h->gradient, h->normal);
    db_unknowns_add_priors(u, x, &loss, h->gradient, h->normal);
    (void)db_eliminate(n, 0, h->gradient, h->normal, n);
    for (size_t i = 0; i < n; i++)
        h->step[i] = db_eliminated_step(h->normal + i * n, i, h->gradient[i], h->step);
    loss = 0;
    for (size_t i = 0; i < n; i++) {
        loss += h->step[i] * h->own_gradient[i];
        for (size_t k = 0; k < n; k++) loss += h->step[i] * h->own_normal[i * n + k] * h->step[k];
    }
    return loss;
}

int db_curves_are_open(const db_shots *all, int stage) {
    const db_fit_settings *const s = &all->settings;
    int refined = 0;
    for (size_t i = 0; i < all->parameters; i++)
        refined |= db_fit_parameter_is_of_curve(&s->parameters[i]) &&
                   db_fit_parameter_in_stage(&s->parameters[i], (size_t)stage);
    return refined && (isnan(s->curves.smoothness) || isnan(s->curves.kramers_kronig)) &&
           stage + 1 == (int)s->stage_count && !all->options->series;
}

static int make_room(size_t n, held_out *h) {
    *h = (held_out){ .count = n, .gradient = malloc((3 * n + 2 * n * n + 1) * sizeof(double)) };
    h->step = h->gradient + n;
    h->own_gradient = h->step + n;
    h->normal = h->own_gradient + n;
    h->own_normal = h->normal + n * n;
    return h->gradient != NULL;
}

/* Of priors of these strengths: what all folds lose, each by the others. */
static db_status loss_of_priors(db_shots *all, const size_t *index, size_t n, const double *x,
                                const double *folds, const held_out *h, double *loss) {
    db_unknowns u;
    *loss = 0;
    DB_TRY(db_unknowns_make(all->context, &all->settings, index, n, &u));
    const db_status status = db_curves_restrain(all, &u);
    for (size_t fold = 0; fold < DB_CURVE_FOLDS && status == DB_OK; fold++)
        *loss += loss_of_fold(&u, x, folds, db_schur_sums_size(n), fold, h);
    db_unknowns_clear(&u);
    return status;
}

db_status db_curves_choose(db_shots *all, const size_t *index, size_t n, const double *x,
                           const double *folds) {
    db_fit_curves *const curves = &all->settings.curves;
    const int smooth_is_open = isnan(curves->smoothness),
              relation_is_open = isnan(curves->kramers_kronig);
    const size_t smooth_count = sizeof smoothness_choices / sizeof *smoothness_choices,
                 relation_count = sizeof kramers_kronig_choices / sizeof *kramers_kronig_choices;
    db_fit_curves best = *curves;
    double least = INFINITY, loss;
    held_out h;
    db_status status =
        make_room(n, &h) ? DB_OK : db_fail_memory(all->context, "cross validation of curves");
    for (size_t i = 0; i < (smooth_is_open ? smooth_count : 1); i++)
        for (size_t k = 0; k < (relation_is_open ? relation_count : 1) && status == DB_OK; k++) {
            if (smooth_is_open) curves->smoothness = smoothness_choices[i];
            if (relation_is_open) curves->kramers_kronig = kramers_kronig_choices[k];
            status = loss_of_priors(all, index, n, x, folds, &h, &loss);
            if (status != DB_OK || !(loss < least)) continue;
            least = loss;
            best = *curves;
        }
    *curves = best;
    free(h.gradient);
    return status;
}

db_status db_curves_restrain(const db_shots *all, db_unknowns *unknowns) {
    const db_site_kinds *const sites = all->amplitudes.sites;
    curve_priors p = { .all = all, .curves = &all->settings.curves, .unknowns = unknowns };
    if (!db_fit_refines_curves(&all->settings) || !sites) return DB_OK;
    p.row = calloc(unknowns->count + 1, sizeof *p.row);
    p.place = calloc(2 * (size_t)sites->count * points_of(&p), sizeof *p.place);
    db_status status = p.row && p.place ? DB_OK : db_fail_memory(all->context, "priors of curves");
    if (status == DB_OK && find_places(&p, sites->count)) status = restrain_all(&p, sites->count);
    free(p.row);
    free(p.place);
    return status;
}
