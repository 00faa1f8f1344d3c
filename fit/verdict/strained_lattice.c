/* Symmetry holds angles and ratios of edges. The lattice of a strained crystal has others, and the quantities that are
 * refined then move to where they make up for them: edges, tilts of the detector, orientation. Spots are asked for
 * the held constants; as far as these differ from the symmetric ones by more than chance, the moves are errors of the
 * refined quantities. Constants whose stage was not earned keep their values, but nobody has said that these are known: what
 * they do to the refined quantities is an error of these, chance or not (docs/theory/refinement.md, Errors). */
#include "fit/verdict/conclude.h"

#include "base/context_internal.h"
#include "fit/config/config_refine.h"
#include "fit/config/quantity.h"
#include "fit/linear/cholesky.h"
#include "fit/result/errors.h"
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
/* The same of an angle that was to be refined (degree). Such an edge is off by as large a part as the distance, with which it
 * scales. */
static const double USUAL_ANGLE_ERROR = 1;

/* The constants of the cell that were held, by their numbers among the settings. */
typedef struct released {
    size_t count, index[CONSTANTS];
    db_fit_quantity leader[CONSTANTS]; /* that they followed; number -1: none */
    size_t untested, not_earned[CONSTANTS];
    int holds_distance; /* 1: the model does, and the equations do not */
} released;

/* What spots say about constants that were not earned: how far they are off, and Cholesky's factor of its covariance. */
typedef struct untested {
    size_t count, index[CONSTANTS]; /* numbers among the settings */
    double off[CONSTANTS], factor[CONSTANTS * CONSTANTS];
} untested;

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
    free_now->count = free_now->untested = 0;
    if (status != DB_OK) return status;
    for (int k = DB_CELL_A; k <= (int)DB_CELL_GAMMA && status == DB_OK; k++) {
        const db_fit_parameter p = db_fit_parameter_free((db_parameter)k);
        const size_t i = db_fit_parameter_index(own, db_fit_quantity_of(&p));
        const int is_new = i == own->parameter_count;
        if (is_new) status = db_fit_settings_add_parameter(context, own, &p);
        if (status != DB_OK) continue;
        if (!is_new && !db_fit_parameter_is_tied(&own->parameters[i])) {
            if (own->parameters[i].stages == DB_FIT_NOT_EARNED)
                free_now->not_earned[free_now->untested++] = i;
            continue;
        }
        free_now->index[free_now->count] = i;
        free_now->leader[free_now->count++] = own->parameters[i].follows;
        own->parameters[i].follows.number = -1;
    }
    const db_fit_parameter *const distance = db_fit_settings_find(own, DB_DISTANCE);
    free_now->holds_distance = !distance || distance->stages == DB_FIT_NOT_EARNED;
    if (status == DB_OK && free_now->count + free_now->untested)
        status = db_held_distance_add(context, own);
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
    /* flags: released variables; those and the distance, if the model holds it; constants that were not earned; none */
    unsigned char *held, *still, *untested, *none;
    double *slope, *normal, *scatter, *kept, *all, *factor, *numbers;
} equations;

static int make_equations(size_t n, equations *e) {
    e->n = n;
    e->held = calloc(4 * n + 1, 1);
    e->numbers = calloc(3 * n + 3 * n * n + 1, sizeof *e->numbers);
    if (!e->held || !e->numbers) return 0;
    e->still = e->held + n;
    e->untested = e->still + n;
    e->none = e->untested + n;
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

/* Cholesky's factor of the covariance by regions of flagged variables, which are listed. The equations' factor is that of
 * the last step. */
static db_status scatter_of(db_context *context, const equations *e, const unsigned char *flag,
                            double enlarged, size_t variable[CONSTANTS], size_t *listed,
                            double factor[CONSTANTS * CONSTANTS]) {
    const size_t n = e->n;
    size_t count = 0;
    double covariance[CONSTANTS * CONSTANTS] = { 0 };
    double *const rows = calloc(CONSTANTS * n + 1, sizeof *rows);
    if (!rows) return db_fail_memory(context, "the strain of a lattice");
    for (size_t k = 0; k < n; k++) {
        if (!flag[k] || !(e->factor[k * n + k] > 0)) continue;
        rows[count * n + k] = 1;
        db_cholesky_solve(n, e->factor, rows + count * n);
        variable[count++] = k;
    }
    for (size_t r = 0; r < count; r++)
        for (size_t s = 0; s < count; s++)
            for (size_t k = 0; k < n; k++)
                for (size_t l = 0; l < n; l++)
                    covariance[r * count + s] +=
                        enlarged * rows[r * n + k] * e->scatter[k * n + l] * rows[s * n + l];
    db_cholesky_factor(count, covariance, count, 0, NULL, DB_LEAST_FOR_VARIANCE, factor);
    *listed = count;
    free(rows);
    return DB_OK;
}

/* Square of what is released in units of its covariance by regions, and the mean of that square if the lattice is
 * symmetric: Hotelling's, since `degrees` degrees of freedom are left to tell the covariance. The factor is that of all
 * variables. */
typedef struct released_square {
    double found, by_chance;
} released_square;

static db_status square_of_released(db_context *context, const equations *e, double enlarged,
                                    double degrees, released_square *square) {
    size_t count, variable[CONSTANTS];
    double factor[CONSTANTS * CONSTANTS], off[CONSTANTS];
    DB_TRY(scatter_of(context, e, e->held, enlarged, variable, &count, factor));
    for (size_t r = 0; r < count; r++) off[r] = e->all[variable[r]];
    db_cholesky_forward(count, factor, off);
    square->found = 0;
    for (size_t r = 0; r < count; r++) square->found += off[r] * off[r];
    const double left = degrees - (double)count - 1;
    square->by_chance = left > 0 ? (double)count * degrees / left : INFINITY;
    return DB_OK;
}

/* The step of constants that were not earned, with all else as it was refined. */
static db_status ask_untested(db_context *context, const db_variables *v, equations *e,
                              double enlarged, untested *u) {
    size_t variable[CONSTANTS];
    step_to_minimum(e, e->still, e->kept);
    DB_TRY(scatter_of(context, e, e->untested, enlarged, variable, &u->count, u->factor));
    for (size_t c = 0; c < u->count; c++) {
        u->index[c] = v->index[variable[c]];
        u->off[c] = e->kept[variable[c]];
    }
    return DB_OK;
}

/* Marks what is released or was not earned, and puts ties into the equations. */
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
        for (size_t f = 0; f < r->untested; f++) e->untested[k] |= v->index[k] == r->not_earned[f];
        e->still[k] = e->held[k] ||
                      (r->holds_distance && own->parameters[v->index[k]].parameter == DB_DISTANCE);
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

/* How far a constant of the cell, or the distance, is expected to be off (standard deviation). */
static double expected_error(const db_variables *v, size_t k, db_parameter_kind kind,
                             int is_untested) {
    if (is_untested && v->sigma[k] < INFINITY) return v->sigma[k];
    if (kind == DB_KIND_CELL_ANGLE) return is_untested ? USUAL_ANGLE_ERROR : USUAL_SHEAR;
    return v->start[k] *
           (kind == DB_KIND_DISTANCE || is_untested ? DB_USUAL_DISTANCE_ERROR : USUAL_STRETCH);
}

static void expect_little_strain(const db_fit_settings *own, const db_variables *v, equations *e) {
    for (size_t k = 0; k < e->n; k++) {
        const db_parameter_kind kind = db_facts_of(own->parameters[v->index[k]].parameter)->kind;
        if (!e->held[k] && !e->untested[k] && kind != DB_KIND_DISTANCE) continue;
        const double sigma = expected_error(v, k, kind, e->untested[k]);
        if (e->untested[k])
            e->slope[k] += db_prior_at(v->start[k], v->centre[k], v->sigma[k]).slope;
        e->normal[k * e->n + k] += 1 / (sigma * sigma);
        e->scatter[k * e->n + k] += 1 / (sigma * sigma);
    }
}

/* parts: of the data, by whose slopes they scatter. */
static db_status compare_steps(db_context *context, const db_fit_settings *own,
                               const db_variables *v, const released *free_now, size_t parts,
                               equations *e, untested *u, db_fit_result *result) {
    const double degrees = (double)parts - (double)e->n, enlarged = (double)parts / degrees;
    released_square square;
    arrange_released(own, v, free_now, e);
    expect_little_strain(own, v, e);
    DB_TRY(ask_untested(context, v, e, enlarged, u));
    step_to_minimum(e, e->held, e->kept);
    step_to_minimum(e, e->none, e->all);
    DB_TRY(square_of_released(context, e, enlarged, degrees, &square));
    if (square.found > 0) widen_errors(v, e, square, result);
    return DB_OK;
}

static db_status take_regions(db_context *context, db_moments *m, const db_variables *v,
                              int regions, equations *e) {
    DB_TRY(db_spot_regions_order(context, regions, m));
    DB_TRY(db_spot_regions_scatter(context, m, v->start, regions, e->slope, e->normal, e->scatter));
    return db_spot_regions_curve(context, m, v->start, e->normal);
}

/* Too few spots: constants that were not earned are as uncertain as is expected. */
static void expect_untested(const db_fit_settings *own, const db_variables *v, const released *r,
                            untested *u) {
    *u = (untested){ .count = r->untested };
    for (size_t c = 0; c < u->count; c++) {
        u->index[c] = r->not_earned[c];
        for (size_t k = 0; k < v->count; k++)
            if (v->index[k] == u->index[c])
                u->factor[c * u->count + c] = expected_error(
                    v, k, db_facts_of(own->parameters[u->index[c]].parameter)->kind, 1);
    }
}

static db_status ask_moments(db_context *context, db_moments *m, const db_fit_settings *own,
                             const db_variables *v, const released *free_now, untested *u,
                             db_fit_result *result) {
    equations e = { 0 };
    const int regions = db_spot_regions_count(m->count, v->count);
    if ((size_t)regions <= v->count || (size_t)regions > m->count) {
        expect_untested(own, v, free_now, u);
        return DB_OK;
    }
    db_status status = make_equations(v->count, &e)
                           ? take_regions(context, m, v, regions, &e)
                           : db_fail_memory(context, "the strain of a lattice");
    if (status == DB_OK)
        status = compare_steps(context, own, v, free_now, (size_t)regions, &e, u, result);
    free(e.held);
    free(e.numbers);
    return status;
}

/* own: settings with the released cell, as of the following. */
static db_status ask_spots_of(db_context *context, const db_fit_data *own,
                              const db_experiment *refined, const released *free_now, untested *u,
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
        status = ask_moments(context, &m, own->settings, &v, free_now, u, result);
        db_moments_clear(&m);
    }
    db_refinement_clear_apart(&r);
    db_variables_clear(&v);
    return status;
}

/* Variables of the constants that were not earned, and flags of those that respond to them. */
static void list_untested(const db_variables *v, const db_fit_estimates *found, const untested *u,
                          size_t variable[CONSTANTS], int *used) {
    for (size_t k = 0; k < v->count; k++) {
        used[k] = found->list[v->index[k]].at_bound == 0;
        for (size_t c = 0; c < u->count; c++) {
            if (v->index[k] != u->index[c]) continue;
            used[k] = 0;
            variable[c] = k;
        }
    }
}

/* Widens errors by what the refined quantities change with constants that were not earned: by the step of these, and by its
 * covariance. objective: of the result's pixels, with these constants. */
static db_status widen_by_untested(db_context *context, const db_objective *objective,
                                   const untested *u, db_fit_result *result) {
    const db_variables *const v = &objective->variables;
    const size_t n = v->count;
    size_t variable[CONSTANTS] = { 0 };
    double *const change = calloc((CONSTANTS + 1) * n + 1, sizeof *change);
    int *const used = calloc(n + 1, sizeof *used);
    db_status status = db_need_memory(context, change && used, "what edges of the cell change");
    if (status == DB_OK) list_untested(v, &result->estimates, u, variable, used);
    for (size_t c = 0; c < u->count && status == DB_OK; c++)
        status = db_held_response(context, objective->normal, n, used, variable[c], change + c * n);
    for (size_t way = 0; way <= u->count && status == DB_OK; way++) {
        double *const sum = change + CONSTANTS * n;
        memset(sum, 0, n * sizeof *sum);
        for (size_t c = 0; c < u->count; c++) {
            const double off = way < u->count ? u->factor[c * u->count + way] : u->off[c];
            for (size_t k = 0; k < n; k++) sum[k] += off * change[c * n + k];
        }
        db_held_widen(sum, v->index, n, &result->estimates);
    }
    free(change);
    free(used);
    return status;
}

/* The objective of the result's pixels, with the constants that were not earned among its variables. */
static db_status respond_to_untested(db_context *context, const db_fit_data *data,
                                     const db_stage_data *taken, const db_objective *refined,
                                     const untested *u, db_fit_result *result) {
    db_fit_settings own;
    db_objective objective;
    DB_TRY(db_fit_settings_copy(context, data->settings, &own));
    for (size_t c = 0; c < u->count; c++) own.parameters[u->index[c]].stages = DB_FIT_ALL_STAGES;
    const db_fit_data with_cell = { data->image, data->strong, &own };
    db_status status = db_held_objective(context, &with_cell, taken, refined, &objective);
    if (status == DB_OK) {
        status = widen_by_untested(context, &objective, u, result);
        db_objective_destroy(&objective);
    }
    db_fit_settings_clear(&own);
    return status;
}

db_status db_strained_lattice_widen(db_context *context, const db_fit_data *data,
                                    const db_stage_data *taken, const db_objective *refined,
                                    db_fit_result *result) {
    db_fit_settings own;
    released free_now;
    untested u = { .count = 0 };
    if (!db_fit_has_moments(data->settings)) return DB_OK;
    DB_TRY(release_cell(context, data->settings, &own, &free_now));
    const db_fit_data with_cell = { data->image, data->strong, &own };
    db_status status = DB_OK;
    if (free_now.count + free_now.untested)
        status = ask_spots_of(context, &with_cell, &refined->experiment, &free_now, &u, result);
    if (status == DB_OK && u.count)
        status = respond_to_untested(context, data, taken, refined, &u, result);
    db_fit_settings_clear(&own);
    return status;
}
