/* Symmetry holds angles and ratios of edges. The lattice of a strained crystal has others, and the quantities that are
 * refined then move to where they make up for them: edges, tilts of the detector, orientation. Spots are asked for
 * the held constants; as far as these differ from the symmetric ones by more than chance, the moves are errors of the
 * refined quantities (docs/theory/refinement.md, Errors). */
#include "fit/verdict/strained_lattice.h"

#include "base/context_internal.h"
#include "fit/config/config_refine.h"
#include "fit/config/quantity.h"
#include "fit/linear/cholesky.h"
#include "fit/objective/evaluate.h"
#include "fit/search/moment_stage.h"
#include "fit/verdict/held_distance.h"
#include "fit/verdict/rivals.h"
#include "fit/verdict/spot_regions.h"

#include <dualbragg/expert/fit_configurations.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONSTANTS = 6 }; /* of a cell */
/* Strains that are expected (standard deviations, part of an edge, degree): constants that the data hardly determine are
 * not released further than a crystal goes. */
static const double USUAL_STRETCH = 1e-3, USUAL_SHEAR = 0.1;

/* The constants of the cell that were held, by their numbers among the settings. */
typedef struct released {
    size_t count, index[CONSTANTS];
    db_fit_quantity leader[CONSTANTS]; /* that they followed; number -1: none */
} released;

static int is_cell_constant(const db_fit_parameter *p) {
    const db_parameter_kind kind = db_facts_of(p->parameter)->kind;
    return p->group < 0 && (kind == DB_KIND_CELL_EDGE || kind == DB_KIND_CELL_ANGLE);
}

/* Settings of one stage of moments with the refined geometry, all constants of the cell, and the distance: a wrong one is in
 * the errors by itself, and is no strain. Pixels are not asked: where the model's spots have other widths, a little strain
 * seems to mend them. */
static db_status release_cell(db_context *context, const db_fit_settings *settings,
                              db_fit_settings *own, released *free_now) {
    db_status status = db_fit_settings_copy(context, settings, own);
    free_now->count = 0;
    if (status != DB_OK) return status;
    for (int k = DB_CELL_A; k <= (int)DB_CELL_GAMMA && status == DB_OK; k++) {
        const db_fit_parameter p = db_fit_parameter_free((db_parameter)k);
        const size_t i = db_fit_parameter_index(own, db_fit_quantity_of(&p));
        const int is_new = i == own->parameter_count;
        if (is_new) status = db_fit_settings_add_parameter(context, own, &p);
        if (status != DB_OK || (!is_new && !db_fit_parameter_is_tied(&own->parameters[i])))
            continue;
        free_now->index[free_now->count] = i;
        free_now->leader[free_now->count++] = own->parameters[i].follows;
        own->parameters[i].follows.number = -1;
    }
    if (status == DB_OK && free_now->count) status = db_held_distance_add(context, own);
    for (size_t i = 0; i < own->parameter_count; i++) {
        db_fit_parameter *const p = &own->parameters[i];
        const int was_refined = p->stages != DB_FIT_NOT_EARNED,
                  places = db_facts_of(p->parameter)->settling <= DB_SETTLING_GEOMETRY;
        p->stages = is_cell_constant(p)
                        ? DB_FIT_ALL_STAGES
                        : (unsigned)(was_refined && places && !db_fit_parameter_is_tied(p));
    }
    own->stage_count = 1;
    own->stages[0] = (db_fit_stage){
        .kind = DB_STAGE_MOMENTS, .blur = 1, .target = DB_FIT_WEIGHTED, .name = "strain"
    };
    if (status != DB_OK) db_fit_settings_clear(own);
    return status;
}

/* Equations of the moves of n variables, of which some are released. */
typedef struct equations {
    size_t n;
    unsigned char *held, *none; /* flags: released variables; none */
    double *slope, *normal, *scatter, *kept, *all, *factor, *numbers;
} equations;

static int make_equations(size_t n, equations *e) {
    e->n = n;
    e->held = calloc(2 * n + 1, 1);
    e->numbers = calloc(3 * n + 3 * n * n + 1, sizeof *e->numbers);
    if (!e->held || !e->numbers) return 0;
    e->none = e->held + n;
    e->slope = e->numbers;
    e->kept = e->slope + n;
    e->all = e->kept + n;
    e->normal = e->all + n;
    e->scatter = e->normal + n * n;
    e->factor = e->scatter + n * n;
    return 1;
}

/* A constant that followed another moves with it; what is released is the difference. */
static void move_together(equations *e, size_t leader, size_t follower) {
    const size_t n = e->n;
    double *const matrices[2] = { e->normal, e->scatter };
    e->slope[leader] += e->slope[follower];
    for (int m = 0; m < 2; m++) {
        for (size_t k = 0; k < n; k++) matrices[m][leader * n + k] += matrices[m][follower * n + k];
        for (size_t k = 0; k < n; k++) matrices[m][k * n + leader] += matrices[m][k * n + follower];
    }
}

/* The step to the minimum, of variables that are not held. */
static void step_to_minimum(const equations *e, const unsigned char *held, double *step) {
    db_cholesky_factor(e->n, e->normal, e->n, 0, held, DB_LEAST_FOR_VARIANCE, e->factor);
    for (size_t k = 0; k < e->n; k++) step[k] = -0.5 * e->slope[k];
    db_cholesky_solve(e->n, e->factor, step);
}

/* Square of what is released in units of its covariance by regions, and the mean of that square if the lattice is
 * symmetric: Hotelling's, since `degrees` degrees of freedom are left to tell the covariance. The factor is that of all
 * variables. */
typedef struct released_square {
    double found, by_chance;
} released_square;

static db_status square_of_released(db_context *context, const equations *e, double enlarged,
                                    double degrees, released_square *square) {
    const size_t n = e->n;
    size_t count = 0;
    double covariance[CONSTANTS * CONSTANTS] = { 0 }, factor[CONSTANTS * CONSTANTS], off[CONSTANTS];
    double *const rows = calloc(CONSTANTS * n + 1, sizeof *rows);
    if (!rows) return db_fail_memory(context, "the strain of a lattice");
    for (size_t k = 0; k < n; k++) {
        if (!e->held[k] || !(e->factor[k * n + k] > 0)) continue;
        rows[count * n + k] = 1;
        db_cholesky_solve(n, e->factor, rows + count * n);
        off[count++] = e->all[k];
    }
    for (size_t r = 0; r < count; r++)
        for (size_t s = 0; s < count; s++)
            for (size_t k = 0; k < n; k++)
                for (size_t l = 0; l < n; l++)
                    covariance[r * count + s] +=
                        enlarged * rows[r * n + k] * e->scatter[k * n + l] * rows[s * n + l];
    db_cholesky_factor(count, covariance, count, 0, NULL, DB_LEAST_FOR_VARIANCE, factor);
    db_cholesky_forward(count, factor, off);
    square->found = 0;
    for (size_t r = 0; r < count; r++) square->found += off[r] * off[r];
    const double left = degrees - (double)count - 1;
    square->by_chance = left > 0 ? (double)count * degrees / left : INFINITY;
    free(rows);
    return DB_OK;
}

/* Marks what is released, and puts ties into the equations. */
static void arrange_released(const db_fit_settings *own, const db_variables *v, const released *r,
                             equations *e) {
    for (size_t k = 0; k < e->n; k++) {
        for (size_t f = 0; f < r->count; f++) {
            if (v->index[k] != r->index[f]) continue;
            e->held[k] = 1;
            for (size_t l = 0; l < e->n; l++)
                if (db_fit_quantity_of(&own->parameters[v->index[l]]).number == r->leader[f].number)
                    move_together(e, l, k);
        }
    }
}

/* Errors grow by the change of the quantities, as far as it is no chance: as in the estimate of James and Stein, what
 * is expected by chance is taken off the square. */
static void widen_errors(const db_variables *v, const equations *e, released_square square,
                         db_fit_result *result) {
    const double real = fmax(0, 1 - square.by_chance / square.found);
    for (size_t k = 0; k < e->n; k++) {
        if (e->held[k] || v->index[k] >= result->estimates.count) continue;
        db_fit_estimate *const estimate = &result->estimates.list[v->index[k]];
        const double change = real * (e->all[k] - e->kept[k]);
        if (estimate->error > 0 && isfinite(change))
            estimate->error = hypot(estimate->error, change);
    }
}

static void expect_little_strain(const db_fit_settings *own, const db_variables *v, equations *e) {
    for (size_t k = 0; k < e->n; k++) {
        const db_parameter p = own->parameters[v->index[k]].parameter;
        const db_parameter_kind kind = db_facts_of(p)->kind;
        const double sigma = kind == DB_KIND_CELL_EDGE  ? USUAL_STRETCH * v->start[k]
                             : kind == DB_KIND_DISTANCE ? DB_USUAL_DISTANCE_ERROR * v->start[k]
                                                        : USUAL_SHEAR;
        if (!e->held[k] && kind != DB_KIND_DISTANCE) continue;
        e->normal[k * e->n + k] += 1 / (sigma * sigma);
        e->scatter[k * e->n + k] += 1 / (sigma * sigma);
    }
}

/* parts: of the data, by whose slopes they scatter. */
static db_status compare_steps(db_context *context, const db_fit_settings *own,
                               const db_variables *v, const released *free_now, size_t parts,
                               equations *e, db_fit_result *result) {
    const double degrees = (double)parts - (double)e->n;
    released_square square;
    arrange_released(own, v, free_now, e);
    expect_little_strain(own, v, e);
    step_to_minimum(e, e->held, e->kept);
    step_to_minimum(e, e->none, e->all);
    DB_TRY(square_of_released(context, e, (double)parts / degrees, degrees, &square));
    if (square.found > 0) widen_errors(v, e, square, result);
    return DB_OK;
}

static db_status take_regions(db_context *context, db_moments *m, const db_variables *v,
                              int regions, equations *e) {
    double loss;
    DB_TRY(db_spot_regions_order(context, regions, m));
    DB_TRY(db_spot_regions_scatter(m, v->start, regions, e->slope, e->scatter));
    DB_TRY(db_moments_evaluate(m, v->start, &loss, e->slope, e->normal));
    return db_spot_regions_curve(context, m, v->start, e->normal);
}

static db_status ask_moments(db_context *context, db_moments *m, const db_fit_settings *own,
                             const db_variables *v, const released *free_now,
                             db_fit_result *result) {
    equations e = { 0 };
    const int regions = db_spot_regions_count(m->count, v->count);
    if ((size_t)regions <= v->count || (size_t)regions > m->count) return DB_OK;
    db_status status = make_equations(v->count, &e)
                           ? take_regions(context, m, v, regions, &e)
                           : db_fail_memory(context, "the strain of a lattice");
    if (status == DB_OK)
        status = compare_steps(context, own, v, free_now, (size_t)regions, &e, result);
    free(e.held);
    free(e.numbers);
    return status;
}

/* own: settings with the released cell, as of the following. */
static db_status ask_spots_of(db_context *context, const db_fit_data *own,
                              const db_experiment *refined, const released *free_now,
                              db_fit_result *result) {
    db_variables v = { 0 };
    db_moments m;
    db_refinement r = { .context = context, .data = *own, .find_foreign = db_foreign_spots_find };
    db_status status = db_refinement_begin_apart(&r, refined);
    if (status == DB_OK)
        status = db_variables_make(context, own->settings, 1, &r.given, &r.result->experiment,
                                   &r.placement, &v);
    if (status == DB_OK) status = db_moment_stage_take(&r, 0, &v, &m);
    if (status == DB_OK) {
        status = ask_moments(context, &m, own->settings, &v, free_now, result);
        db_moments_clear(&m);
    }
    db_refinement_clear_apart(&r);
    db_variables_clear(&v);
    return status;
}

db_status db_strained_lattice_widen(db_context *context, const db_fit_data *data,
                                    const db_objective *refined, db_fit_result *result) {
    db_fit_settings own;
    released free_now;
    if (!db_fit_has_moments(data->settings)) return DB_OK;
    DB_TRY(release_cell(context, data->settings, &own, &free_now));
    const db_fit_data with_cell = { data->image, data->strong, &own };
    db_status status = DB_OK;
    if (free_now.count)
        status = ask_spots_of(context, &with_cell, &refined->experiment, &free_now, result);
    db_fit_settings_clear(&own);
    return status;
}
