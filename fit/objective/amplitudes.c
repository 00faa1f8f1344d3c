/* Which amplitudes the shoeboxes refine, and what becomes of them in a result. */
#include "fit/objective/amplitudes.h"

#include "base/context_internal.h"
#include "base/growth.h"

#include <dualbragg/reflections.h>
#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 20 }; /* of 1/d^2 */

/* What is given, and how to look at it. */
typedef struct given {
    const db_structure_factors *list;
    const db_fit_settings *settings;
    db_symmetry symmetry;
    double reciprocal[9]; /* a*, b*, c* in columns (1/angstrom) */
    double widest;        /* 1/d^2 of the list */
    double mean[BINS];    /* intensity */
} given;

/* Amplitude in the list; 0 where there is none. */
static double amplitude_of(const given *g, const int hkl[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = hkl[i] - g->list->min[i];
        if (from < 0 || from >= g->list->extent[i]) return 0;
        at = at * (size_t)g->list->extent[i] + (size_t)from;
    }
    return g->list->amplitude[at];
}

static double inverse_square(const given *g, const int hkl[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double *const row = g->reciprocal + 3 * (size_t)i;
        const double x = row[0] * hkl[0] + row[1] * hkl[1] + row[2] * hkl[2];
        sum += x * x;
    }
    return sum;
}

static size_t bin_of(const given *g, const int hkl[3]) {
    const double place = g->widest > 0 ? BINS * inverse_square(g, hkl) / g->widest : 0;
    return place < BINS - 1 ? (size_t)place : BINS - 1;
}

/* A reflection of the list that has an amplitude. */
typedef struct listed {
    size_t next; /* element of the list where the search goes on; 0 to begin with */
    int hkl[3];
    double F;
} listed;

/* The next one in the order of h, k, l; returns 0 at the end. */
static int next_listed(const given *g, listed *r) {
    const db_structure_factors *const f = g->list;
    const size_t count = (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2];
    while (r->next < count) {
        size_t at = r->next++;
        r->F = f->amplitude[at];
        if (!(r->F > 0)) continue;
        for (int i = 2; i >= 0; i--) {
            r->hkl[i] = f->min[i] + (int)(at % (size_t)f->extent[i]);
            at /= (size_t)f->extent[i];
        }
        return 1;
    }
    return 0;
}

static db_status look_at(db_context *context, const db_experiment *experiment,
                         const db_fit_settings *settings, given *g) {
    size_t count[BINS] = { 0 };
    memset(g, 0, sizeof *g);
    g->list = &experiment->structure_factors;
    g->settings = settings;
    db_crystal_matrix(&experiment->crystal, g->reciprocal);
    DB_TRY(db_symmetry_of_group(context, settings->amplitude_group, &g->symmetry));
    for (listed r = { 0 }; next_listed(g, &r);)
        g->widest = fmax(g->widest, inverse_square(g, r.hkl));
    for (listed r = { 0 }; next_listed(g, &r);) {
        const size_t bin = bin_of(g, r.hkl);
        g->mean[bin] += (r.F * r.F - g->mean[bin]) / (double)++count[bin];
    }
    return DB_OK;
}

/* Standard deviation of the restraint on an intensity. */
static double restraint(const given *g, const int hkl[3]) {
    return g->settings->amplitude_sigma * g->mean[bin_of(g, hkl)];
}

/* The equivalent reflection with the largest h, then k, then l. */
static void representative(const given *g, const int hkl[3], int best[3]) {
    const int minus[3] = { -hkl[0], -hkl[1], -hkl[2] };
    const double own = amplitude_of(g, hkl), mate = amplitude_of(g, minus);
    const int friedel = fabs(own - mate) <= 1e-5 * own;
    memcpy(best, hkl, 3 * sizeof *best);
    for (int o = 0; o < g->symmetry.count; o++) {
        int turned[3];
        db_symmetry_turn(&g->symmetry, o, hkl, turned);
        if (db_compare_hkl(turned, best) > 0) memcpy(best, turned, sizeof turned);
        for (int i = 0; i < 3; i++) turned[i] = -turned[i];
        if (friedel && db_compare_hkl(turned, best) > 0) memcpy(best, turned, sizeof turned);
    }
}

/* A box and what it holds. */
typedef struct holding {
    int hkl[3];
    size_t box;
} holding;

static int compare_holdings(const void *a, const void *b) {
    const holding *const x = a;
    const holding *const y = b;
    const int order = db_compare_hkl(x->hkl, y->hkl);
    return order ? order : x->box < y->box ? -1 : x->box > y->box;
}

static int allocate(size_t boxes, db_amplitudes *a) {
    a->hkl = calloc(boxes + 1, sizeof *a->hkl);
    a->input = calloc(boxes + 1, sizeof *a->input);
    a->sigma = calloc(boxes + 1, sizeof *a->sigma);
    a->first = calloc(boxes + 1, sizeof *a->first);
    a->box = calloc(boxes + 1, sizeof *a->box);
    a->holds = calloc(boxes + 1, 1);
    return a->holds && a->hkl && a->input && a->sigma && a->first && a->box;
}

/* Boxes of reflections that have no amplitude hold none. */
static void sort_in(const given *g, holding *list, size_t count, db_amplitudes *a) {
    size_t held = 0;
    qsort(list, count, sizeof *list, compare_holdings);
    for (size_t i = 0; i < count; i++) {
        const double F = amplitude_of(g, list[i].hkl);
        if (!(F > 0)) continue;
        if (a->count == 0 || db_compare_hkl(list[i].hkl, a->hkl[a->count - 1]) != 0) {
            memcpy(a->hkl[a->count], list[i].hkl, sizeof a->hkl[0]);
            a->input[a->count] = F * F;
            a->sigma[a->count] = restraint(g, list[i].hkl) / (F * F);
            a->first[a->count++] = held;
        }
        a->box[held++] = list[i].box;
        a->holds[list[i].box] = 1;
    }
    a->first[a->count] = held;
}

db_status db_amplitudes_make(db_context *context, const db_experiment *experiment,
                             const db_fit_settings *settings, const db_shoeboxes *boxes,
                             db_amplitudes *amplitudes) {
    given g;
    memset(amplitudes, 0, sizeof *amplitudes);
    DB_TRY(look_at(context, experiment, settings, &g));
    holding *const list = calloc(boxes->count + 1, sizeof *list);
    if (!list || !allocate(boxes->count, amplitudes)) {
        free(list);
        db_amplitudes_clear(amplitudes);
        return db_fail_memory(context, "the amplitudes of the shoeboxes");
    }
    for (size_t b = 0; b < boxes->count; b++) {
        list[b].box = b;
        representative(&g, boxes->reflection[b].hkl, list[b].hkl);
    }
    sort_in(&g, list, boxes->count, amplitudes);
    free(list);
    return DB_OK;
}

void db_amplitudes_clear(db_amplitudes *amplitudes) {
    free(amplitudes->holds);
    free(amplitudes->hkl);
    free(amplitudes->input);
    free(amplitudes->sigma);
    free(amplitudes->first);
    free(amplitudes->box);
    memset(amplitudes, 0, sizeof *amplitudes);
}

/* An amplitude of the asymmetric unit for a result; next: of the refined ones, which come in
 * the same order. */
static db_fit_amplitude amplitude_in_result(const given *g, const listed *r, const db_amplitudes *a,
                                            const double *factor, const double *error,
                                            size_t *next) {
    db_fit_amplitude out = { .hkl = { r->hkl[0], r->hkl[1], r->hkl[2] },
                             .input = r->F,
                             .F = r->F,
                             .sigma = restraint(g, r->hkl) / (2 * r->F) };
    if (*next == a->count || db_compare_hkl(a->hkl[*next], r->hkl) != 0) return out;
    const size_t n = (*next)++;
    const double I = r->F * r->F * factor[n], sigma = r->F * r->F * error[n];
    out.F = sqrt(I);
    /* of a root, and where it is not linear as far as the error reaches */
    out.sigma = sigma / fmax(2 * out.F, sqrt(sigma));
    out.boxes = a->first[n + 1] - a->first[n];
    return out;
}

db_status db_amplitudes_to_result(db_context *context, const db_experiment *experiment,
                                  const db_fit_settings *settings, const db_amplitudes *amplitudes,
                                  const double *factor, const double *error,
                                  db_fit_result *result) {
    given g;
    size_t room = 0, next = 0;
    DB_TRY(look_at(context, experiment, settings, &g));
    for (listed r = { 0 }; next_listed(&g, &r);) {
        int own[3];
        representative(&g, r.hkl, own);
        if (db_compare_hkl(own, r.hkl) != 0) continue;
        DB_GROW(context, result->amplitudes, room, result->amplitude_count + 1,
                "the refined amplitudes");
        result->amplitudes[result->amplitude_count++] =
            amplitude_in_result(&g, &r, amplitudes, factor, error, &next);
    }
    return DB_OK;
}
