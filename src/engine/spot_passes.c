/* See engine/spot_passes.h. */
#include "engine/spot_passes.h"

#include "base/context_internal.h"
#include "model/site_kinds.h"

#include <dualbragg/expert/site_curves.h>

#include <stddef.h>
#include <stdlib.h>

enum { WIDE = sizeof(db_dual) / sizeof(double) }; /* a value and its slopes by all slots */

static size_t numbers_of(size_t bytes) { return bytes / sizeof(db_dual); }

db_status db_spot_passes_create(db_context *context, const db_plan_parameters *p,
                                db_spot_passes *passes) {
    const db_experiment *e = p->experiment;
    const size_t most = p->count / DB_SPOT_PASS + p->count / DB_SLOPES_AT_ONCE + 1;
    passes->length =
        DB_SPOT_DUAL * (numbers_of(offsetof(db_dual_spread_interface, parts)) + 2 +
                        e->detector.panel_count * numbers_of(sizeof(db_dual_panel_interface)) +
                        e->beam.source_count * (numbers_of(sizeof(db_dual_source_interface)) +
                                                2 * (size_t)db_site_count(&e->structure_factors)));
    passes->pass = calloc(most, sizeof *passes->pass);
    passes->dual = malloc(most * passes->length * sizeof *passes->dual);
    passes->sources = e->beam.source_count;
    passes->places = p->count;
    passes->moves = calloc(passes->sources * p->count + 1, sizeof *passes->moves);
    passes->which = calloc(passes->sources * p->count + 1, sizeof *passes->which);
    if (passes->pass && passes->dual && passes->moves && passes->which) return DB_OK;
    return db_fail_memory(context, "the slopes of spots");
}

void db_spot_passes_clear(db_spot_passes *passes) {
    free(passes->pass);
    free(passes->dual);
    free(passes->moves);
    free(passes->which);
}

/* Numbers of the interface, a direction of the pass: its values, or slope number `slope`. */
static double *copy_numbers(const void *from, size_t count, int slope, int direction, double *to) {
    const double *const wide = from;
    for (size_t i = 0; i < count; i++) {
        to[i * DB_SPOT_DUAL + (size_t)direction] = wide[i * WIDE + (size_t)(1 + slope)];
    }
    return to + count * DB_SPOT_DUAL;
}

/* slope -1: the values */
static void copy_interface(const db_dual_interface *z, const db_experiment *e, int slope,
                           int direction, double *to) {
    to = copy_numbers(&z->spread, numbers_of(offsetof(db_dual_spread_interface, parts)), slope,
                      direction, to);
    to = copy_numbers(&z->layer_step, 1, slope, direction, to);
    to = copy_numbers(&z->attenuation, 1, slope, direction, to);
    to = copy_numbers(z->panel, e->detector.panel_count * numbers_of(sizeof *z->panel), slope,
                      direction, to);
    to = copy_numbers(z->source, e->beam.source_count * numbers_of(sizeof *z->source), slope,
                      direction, to);
    (void)copy_numbers(z->site_curve,
                       2 * (size_t)db_site_count(&e->structure_factors) * e->beam.source_count,
                       slope, direction, to);
}

static void begin_pass(db_spot_passes *passes, const db_experiment *e, const db_dual_interface *z) {
    double *const dual = passes->dual + passes->count * passes->length;
    db_spot_pass *const pass = &passes->pass[passes->count++];
    *pass = (db_spot_pass){ .place = { -1, -1 }, .parts = z->spread.parts };
    for (size_t i = 0; i < passes->length; i++) dual[i] = 0;
    copy_interface(z, e, -1, 0, dual);
}

/* A point of a curve moves spots of sources next to it alone, anything else all spots. */
static void note_moves(const db_spot_passes *passes, const db_plan_parameters *p,
                       const db_dual_interface *z, size_t k, size_t place, int slope) {
    const size_t curves = 2 * (size_t)db_site_count(&p->experiment->structure_factors);
    int kind, second;
    size_t point;
    const int of_curve = db_parameter_is_site_curve(p->list[k], &kind, &second, &point);
    for (size_t j = 0; j < passes->sources; j++) {
        unsigned char *const moves = &passes->moves[j * passes->places + place];
        *moves = 1;
        if (of_curve)
            *moves = z->site_curve[j * curves + (size_t)(2 * kind + second)].d[slope] != 0;
    }
}

size_t db_spot_passes_list(db_spot_passes *passes, size_t parameters) {
    size_t each = 0;
    for (size_t j = 0; j < passes->sources; j++) {
        size_t count = 0;
        for (size_t k = 0; k < parameters; k++) count += passes->moves[j * passes->places + k];
        each = count > each ? count : each;
    }
    for (size_t j = 0; j < passes->sources; j++) {
        uint16_t *to = passes->which + j * each;
        for (int moves = 1; moves >= 0; moves--)
            for (size_t k = 0; k < parameters && to < passes->which + (j + 1) * each; k++)
                if (passes->moves[j * passes->places + k] == moves) *to++ = (uint16_t)k;
    }
    return each;
}

void db_spot_passes_add(db_spot_passes *passes, const db_plan_parameters *p,
                        const db_dual_interface *z, size_t k, size_t place, int slope, int begin) {
    db_spot_pass *pass = passes->count ? &passes->pass[passes->count - 1] : NULL;
    if (begin || !pass || pass->place[DB_SPOT_PASS - 1] >= 0) {
        begin_pass(passes, p->experiment, z);
        pass = &passes->pass[passes->count - 1];
    }
    const int own = pass->place[0] < 0 ? 0 : 1;
    note_moves(passes, p, z, k, place, slope);
    pass->place[own] = (int32_t)place;
    pass->is_amplitude[own] =
        (db_parameter_moves(p->experiment, p->list[k]) & DB_MOVES_AMPLITUDE) != 0;
    if (pass->is_amplitude[own]) db_parameter_node(p->list[k], pass->hkl[own]);
    copy_interface(z, p->experiment, slope, 1 + own,
                   passes->dual + (passes->count - 1) * passes->length);
}
