#include "fit/objective/amplitudes.h"

#include "base/context_internal.h"

#include <dualbragg/reflections.h>
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

/* Calls visit for every reflection that has an amplitude. */
static db_status visit_list(given *g,
                            db_status (*visit)(given *g, const int hkl[3], double F, void *user),
                            void *user) {
    const db_structure_factors *const f = g->list;
    size_t at = 0;
    int hkl[3];
    for (hkl[0] = f->min[0]; hkl[0] < f->min[0] + f->extent[0]; hkl[0]++)
        for (hkl[1] = f->min[1]; hkl[1] < f->min[1] + f->extent[1]; hkl[1]++)
            for (hkl[2] = f->min[2]; hkl[2] < f->min[2] + f->extent[2]; hkl[2]++, at++)
                if (f->amplitude[at] > 0) DB_TRY(visit(g, hkl, f->amplitude[at], user));
    return DB_OK;
}

static db_status widen(given *g, const int hkl[3], double F, void *user) {
    (void)F;
    (void)user;
    g->widest = fmax(g->widest, inverse_square(g, hkl));
    return DB_OK;
}

static db_status add_to_mean(given *g, const int hkl[3], double F, void *user) {
    size_t *const count = user;
    const size_t bin = bin_of(g, hkl);
    g->mean[bin] += (F * F - g->mean[bin]) / (double)++count[bin];
    return DB_OK;
}

static db_status look_at(db_context *context, const db_experiment *experiment,
                         const db_fit_settings *settings, given *g) {
    size_t count[BINS] = { 0 };
    memset(g, 0, sizeof *g);
    g->list = &experiment->structure_factors;
    g->settings = settings;
    db_crystal_matrix(&experiment->crystal, g->reciprocal);
    DB_TRY(db_symmetry_of_group(context, settings->amplitude_group, &g->symmetry));
    DB_TRY(visit_list(g, widen, NULL));
    return visit_list(g, add_to_mean, count);
}

/* Standard deviation of the restraint on an intensity. */
static double restraint(const given *g, const int hkl[3]) {
    return g->settings->amplitude_sigma * g->mean[bin_of(g, hkl)];
}

static int compare_index(const int a[3], const int b[3]) {
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
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
        if (compare_index(turned, best) > 0) memcpy(best, turned, sizeof turned);
        for (int i = 0; i < 3; i++) turned[i] = -turned[i];
        if (friedel && compare_index(turned, best) > 0) memcpy(best, turned, sizeof turned);
    }
}

/* A box and what it holds. */
typedef struct holding {
    int hkl[3];
    size_t box;
} holding;

static int compare_holdings(const void *a, const void *b) {
    const holding *const x = a, *const y = b;
    const int order = compare_index(x->hkl, y->hkl);
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
        if (a->count == 0 || compare_index(list[i].hkl, a->hkl[a->count - 1]) != 0) {
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

/* What telling needs. */
typedef struct telling {
    db_context *context;
    const db_amplitudes *amplitudes;
    const double *factor, *error;
    db_fit_result *result;
    size_t room, next; /* next: of the refined ones, which come in the same order */
} telling;

static db_status tell_one(given *g, const int hkl[3], double F, void *user) {
    telling *const t = user;
    db_fit_result *const result = t->result;
    const db_amplitudes *const a = t->amplitudes;
    int own[3];
    representative(g, hkl, own);
    if (compare_index(own, hkl) != 0) return DB_OK;
    if (result->amplitude_count == t->room) {
        const size_t room = 2 * t->room + 1000;
        db_fit_amplitude *const grown = realloc(result->amplitudes, room * sizeof *grown);
        if (!grown) return db_fail_memory(t->context, "the refined amplitudes");
        result->amplitudes = grown;
        t->room = room;
    }
    db_fit_amplitude *const out = &result->amplitudes[result->amplitude_count++];
    *out = (db_fit_amplitude){
        .hkl = { hkl[0], hkl[1], hkl[2] }, .input = F, .F = F, .sigma = restraint(g, hkl) / (2 * F)
    };
    if (t->next == a->count || compare_index(a->hkl[t->next], hkl) != 0) return DB_OK;
    const size_t r = t->next++;
    const double I = F * F * t->factor[r], sigma = F * F * t->error[r];
    out->F = sqrt(I);
    /* of a root, and where it is not linear as far as the error reaches */
    out->sigma = sigma / fmax(2 * out->F, sqrt(sigma));
    out->boxes = a->first[r + 1] - a->first[r];
    return DB_OK;
}

db_status db_amplitudes_tell(db_context *context, const db_experiment *experiment,
                             const db_fit_settings *settings, const db_amplitudes *amplitudes,
                             const double *factor, const double *error, db_fit_result *result) {
    given g;
    telling t = { context, amplitudes, factor, error, result, 0, 0 };
    DB_TRY(look_at(context, experiment, settings, &g));
    return visit_list(&g, tell_one, &t);
}
