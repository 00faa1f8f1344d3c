/* Loss, gradient and normal matrix of an objective, block by block. */
#include "fit/objective/evaluate.h"

#include "base/context_internal.h"
#include "fit/objective/intensities.h"
#include "fit/pixels/rendering.h"
#include "loss/eliminate.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <string.h>

static db_status solve(db_objective *objective) {
    return objective->rule == DB_INTENSITY_SHARED
               ? db_objective_solve_common(objective)
               : db_objective_run_boxes(objective, DB_BOXES_AS_BEFORE, 1, DB_BOXES_NO_SUMS);
}

/* First solution: the other losses' iterations start at the least chi2 with weights from the data, which takes one
 * step from anywhere. */
static db_status solve_first(db_objective *objective) {
    const db_loss_target target = objective->loss_of.target;
    if (!objective->work->fresh) return DB_OK;
    objective->work->fresh = 0;
    if (target == DB_LOSS_WEIGHTED) return DB_OK; /* it needs no start */
    objective->loss_of.target = DB_LOSS_WEIGHTED;
    const db_status status = solve(objective);
    objective->loss_of.target = target;
    return status;
}

/* Adds a block's sums to the sums of all. A shared J is the unknown after the variables. */
static void add_block(db_objective *objective, size_t b, db_objective_depth depth) {
    const size_t count = objective->variables.count, rows = count + 1;
    const int given = objective->rule == DB_INTENSITY_GIVEN; /* pulls belong to the reflections */
    size_t list[DB_BLOCK_MOST + 1];
    const size_t n = db_objective_block_variables(objective, b, list), all = n + DB_LINEAR;
    const double *const gradient = db_objective_block_gradient(objective, b);
    const double *const normal = db_objective_block_normal(objective, b);
    double *const total = objective->work->total;
    double *const totals = total + rows;
    const double trust = db_objective_trust(objective, b);
    list[n] = count;
    for (size_t k = 0; k <= n; k++) {
        total[list[k]] += trust * gradient[k];
        for (size_t l = 0; l <= k && depth == DB_OBJECTIVE_NORMAL; l++) {
            totals[list[k] * rows + list[l]] += trust * normal[k * all + l];
            if (!given)
                objective->work->pulls[list[k] * rows + list[l]] +=
                    0.25 * gradient[k] * gradient[l];
        }
    }
}

/* Scatter of single blocks' pulls. A shared J passes the part of its pull that goes with the variables on to them. */
static void scatter_blocks(db_objective *objective) {
    const size_t n = objective->variables.count, rows = n + 1;
    const double *const pulls = objective->work->pulls;
    const double *const pull = pulls + n * rows;
    const int shared = objective->rule == DB_INTENSITY_SHARED;
    for (size_t k = 0; k < n; k++) {
        const double own = shared ? db_objective_shared_part(objective, k) : 0;
        for (size_t l = 0; l <= k; l++) {
            const double other = shared ? db_objective_shared_part(objective, l) : 0;
            objective->scatter[k * n + l] = objective->scatter[l * n + k] =
                pulls[k * rows + l] - own * pull[l] - other * pull[k] + own * other * pull[n];
        }
    }
}

/* Adds the blocks' sums in their order. */
static void add_up(db_objective *objective, db_objective_depth depth) {
    const size_t n = objective->variables.count, rows = n + 1;
    double *const total = objective->work->total;
    double *const totals = total + rows;
    memset(total, 0, rows * (rows + 1) * sizeof *total);
    objective->loss = 0;
    memset(objective->work->pulls, 0, rows * rows * sizeof *objective->work->pulls);
    for (size_t b = 0; b < objective->blocks.count; b++) {
        objective->loss += db_objective_trust(objective, b) * objective->solution[b].loss;
        add_block(objective, b, depth);
    }
    if (depth == DB_OBJECTIVE_NORMAL) scatter_blocks(objective);
    if (depth == DB_OBJECTIVE_NORMAL && objective->rule == DB_INTENSITY_SHARED)
        objective->loss -= db_eliminate(rows, n, total, totals, rows);
    for (size_t k = 0; k < n; k++) objective->gradient[k] = total[k];
    for (size_t k = 0; k < n && depth == DB_OBJECTIVE_NORMAL; k++)
        for (size_t l = 0; l <= k; l++)
            objective->normal[k * n + l] = objective->normal[l * n + k] = totals[k * rows + l];
}

/* Slope of a rendered (blurred) parameter by the sharp one. */
static double blur_slope(const db_objective *objective, db_parameter p) {
    if (db_facts_of(p)->kind != DB_KIND_CELLS) return 1;
    return db_parameter_get(&objective->experiment, p) > objective->blur ? 1 / objective->blur : 0;
}

static db_status place(db_objective *objective, const double *values) {
    struct db_objective_work *const work = objective->work;
    const db_variables *const variables = &objective->variables;
    db_variables_set(variables, values, &objective->experiment);
    db_variables_set(variables, values, &work->rendered);
    if (!db_spread_is_possible(&work->rendered)) /* closer than the check of db_plan_update */
        return db_fail(objective->context, DB_ERROR_INPUT,
                       "spreads of spots: a variance is negative along some axis");
    db_variables_place(variables, values, &objective->placement);
    DB_TRY(db_panel_placement_apply(objective->context, &objective->placement,
                                    &objective->experiment.detector));
    DB_TRY(db_panel_placement_apply(objective->context, &objective->placement,
                                    &work->rendered.detector));
    db_experiment_blur(&objective->experiment, objective->blur, &work->rendered);
    for (size_t l = 0; l < variables->link_count; l++)
        work->links[l].slope =
            variables->links[l].slope *
            blur_slope(objective, variables->parameter[variables->links[l].column]);
    return db_plan_update(work->plan, &work->rendered);
}

/* Moves plan and image to values; they stay if only data, weights or ridge have changed. */
static db_status move_to(db_objective *objective, const double *values) {
    struct db_objective_work *const work = objective->work;
    const size_t count = objective->variables.count;
    if (work->is_placed && (!count || !memcmp(work->at, values, count * sizeof *values)))
        return DB_OK;
    work->is_placed = 0;
    work->shown = DB_BOXES_AS_BEFORE;
    DB_TRY(place(objective, values));
    if (count) memcpy(work->at, values, count * sizeof *values);
    work->is_placed = 1;
    return DB_OK;
}

static db_boxes_image image_for(db_objective_depth depth) {
    return depth == DB_OBJECTIVE_LOSS ? DB_BOXES_IMAGE : DB_BOXES_DERIVATIVES;
}

static db_boxes_sums sums_for(db_objective_depth depth) {
    return depth == DB_OBJECTIVE_LOSS       ? DB_BOXES_NO_SUMS
           : depth == DB_OBJECTIVE_GRADIENT ? DB_BOXES_GRADIENT
                                            : DB_BOXES_NORMAL;
}

/* Depth without derivatives if nothing is refined. */
static db_objective_depth possible(const db_objective *objective, db_objective_depth depth) {
    return objective->variables.count ? depth : DB_OBJECTIVE_LOSS;
}

db_status db_objective_render(db_objective *objective, const double *values,
                              db_objective_depth depth) {
    depth = possible(objective, depth);
    DB_TRY(move_to(objective, values));
    DB_TRY(db_objective_run_boxes(objective, image_for(depth), 0, DB_BOXES_NO_SUMS));
    return objective->sums_only ? DB_OK : db_objective_bring(objective);
}

static void add_losses(db_objective *objective) {
    objective->loss = 0;
    for (size_t b = 0; b < objective->blocks.count; b++)
        objective->loss += db_objective_trust(objective, b) * objective->solution[b].loss;
}

db_status db_objective_solve(db_objective *objective) {
    DB_TRY(solve_first(objective));
    DB_TRY(solve(objective));
    add_losses(objective);
    return DB_OK;
}

/* Image, coefficients and sums: in one round if the best coefficients of blocks do not depend on each other and
 * have a start. */
static db_status run(db_objective *objective, db_objective_depth depth) {
    const int shared = objective->rule == DB_INTENSITY_SHARED;
    const int fresh = objective->work->fresh && objective->loss_of.target != DB_LOSS_WEIGHTED;
    if (shared || fresh) {
        DB_TRY(db_objective_run_boxes(objective, image_for(depth), 0, DB_BOXES_NO_SUMS));
        DB_TRY(solve_first(objective));
        if (shared) {
            DB_TRY(solve(objective));
            return db_objective_run_boxes(objective, DB_BOXES_AS_BEFORE, 0, sums_for(depth));
        }
        return db_objective_run_boxes(objective, DB_BOXES_AS_BEFORE, 1, sums_for(depth));
    }
    objective->work->fresh = 0;
    return db_objective_run_boxes(objective, image_for(depth), 1, sums_for(depth));
}

db_status db_objective_evaluate(db_objective *objective, const double *values,
                                db_objective_depth depth) {
    depth = possible(objective, depth);
    DB_TRY(move_to(objective, values));
    DB_TRY(run(objective, depth));
    if (depth != DB_OBJECTIVE_LOSS && objective->blocks.count)
        add_up(objective, depth);
    else
        add_losses(objective);
    return objective->sums_only ? DB_OK : db_objective_bring(objective);
}
