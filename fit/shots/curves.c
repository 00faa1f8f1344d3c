/* Priors of curves of f' and f'': smoothness, wings, and the relation of Kramers and Kronig. Each is a sum of values of
 * the curve that should be 0 (docs/theory/anomalous.md, Curves refined from stills). */
#include "fit/shots/curves.h"

#include "base/context_internal.h"

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

static double energy_of(const db_fit_curves *curves, long point) {
    return curves->points[0] +
           (curves->points[1] - curves->points[0]) * (double)point / (curves->points[2] - 1);
}

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
        DB_TRY(restrain(p, p->curves->smoothness));
    }
    return DB_OK;
}

static db_status hold_wings(const curve_priors *p, int curve) {
    for (size_t i = 0; i < points_of(p); i++) {
        const double energy = energy_of(p->curves, (long)i),
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
        add_value(p, 2 * kind, i, 1, 1);
        for (size_t j = 0; j < points_of(p); j++) {
            const double hat[3] = { 0, 1, 0 }, energy[3] = { energy_of(p->curves, (long)j - 1),
                                                             energy_of(p->curves, (long)j),
                                                             energy_of(p->curves, (long)j + 1) };
            add_value(p, 2 * kind + 1, j,
                      -db_kramers_kronig(energy, hat, 3, energy_of(p->curves, (long)i)), 1);
        }
        DB_TRY(restrain(p, p->curves->kramers_kronig));
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
