/* Loss, gradient and normal matrix of an objective, block by block. */
#include "fit/objective/evaluate.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/rendering.h"
#include "fit/objective/eliminate.h"
#include "fit/objective/shared_intensities.h"

#include <math.h>
#include <string.h>

/* Calls work for every block, on all threads. */
static void each_block(db_objective *objective, db_objective_depth depth,
                       void (*work)(db_objective *objective, size_t block,
                                    db_objective_depth depth)) {
    const long count = (long)objective->blocks.count;
#pragma omp parallel for schedule(dynamic, 4) num_threads(db_threads(objective->context))
    for (long b = 0; b < count; b++) work(objective, (size_t)b, depth);
}

/* Best coefficients of a block by itself, at a given J unless that is its own. */
static void solve_block(db_objective *objective, size_t b, db_objective_depth depth) {
    db_linear_solution *const solution = &objective->solution[b];
    db_block block = db_objective_block(objective, b);
    (void)depth;
    if (objective->rule != DB_INTENSITY_EACH) block.used[0] = 0;
    solution->loss = db_block_solve(&block, solution->linear, &solution->variance);
}

/* Every reflection with all of its blocks, then blocks of no reflection. */
static void solve_reflections(db_objective *objective) {
    const db_amplitudes *const amplitudes = objective->amplitudes;
    const long count = (long)amplitudes->count;
#pragma omp parallel for schedule(dynamic, 4) num_threads(db_threads(objective->context))
    for (long r = 0; r < count; r++) db_objective_solve_reflection(objective, (size_t)r);
    for (size_t b = 0; b < objective->blocks.count; b++)
        if (!amplitudes->holds[b]) solve_block(objective, b, DB_OBJECTIVE_LOSS);
}

static void solve(db_objective *objective) {
    if (db_objective_has_reflections(objective))
        solve_reflections(objective);
    else if (objective->rule == DB_INTENSITY_SHARED)
        db_objective_solve_common(objective, db_threads(objective->context));
    else
        each_block(objective, DB_OBJECTIVE_LOSS, solve_block);
}

/* The other losses' iterations start where chi2 with weights from the data is least: one step from
 * anywhere. */
static void solve_first(db_objective *objective) {
    const db_fit_target target = objective->loss_of.target;
    objective->work->fresh = 0;
    if (target == DB_FIT_WEIGHTED) return; /* needs no start */
    objective->loss_of.target = DB_FIT_WEIGHTED;
    solve(objective);
    objective->loss_of.target = target;
}

/* Sums of a block over all its unknowns, then without its own coefficients. */
static void derive_block(db_objective *objective, size_t b, db_objective_depth depth) {
    const struct db_objective_work *const work = objective->work;
    size_t list[DB_BLOCK_MOST];
    db_link links[DB_BLOCK_MOST_LINKS];
    const size_t n = db_objective_block_variables(objective, b, list), all = n + DB_LINEAR;
    const double *const linear = objective->solution[b].linear;
    db_block block = db_objective_block(objective, b);
    const int own = objective->rule == DB_INTENSITY_EACH || db_objective_has_parts(objective);
    if (own && !(linear[0] > 0) && objective->rule != DB_INTENSITY_GIVEN)
        block.used[0] = 0; /* held at 0 */
    const size_t link_count =
        db_variables_links(&objective->variables, work->links, &objective->placement,
                           objective->blocks.region[b].panel, list, n, links);
    const db_derivatives derivatives = { work->derivative, links, link_count, n };
    double *const gradient = db_objective_block_gradient(objective, b);
    double *const normal =
        depth == DB_OBJECTIVE_NORMAL ? db_objective_block_normal(objective, b) : NULL;
    objective->solution[b].loss = db_block_derive(&block, linear, &derivatives, gradient, normal);
    if (normal)
        objective->solution[b].loss -= db_eliminate(
            all, objective->rule == DB_INTENSITY_EACH ? n : n + 1, gradient, normal, all);
}

/* Adds a block's sums to those of all. J, if blocks share it, is the unknown after the variables.
 */
static void add_block(db_objective *objective, size_t b, db_objective_depth depth) {
    const size_t count = objective->variables.count, rows = count + 1;
    const int reflections =
        db_objective_has_parts(objective); /* pulls are theirs, not the blocks' */
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
            if (!reflections)
                objective->work->pulls[list[k] * rows + list[l]] +=
                    0.25 * gradient[k] * gradient[l];
        }
    }
}

/* How much single blocks pull, each in its own direction. A shared J passes what of its pull goes
 * with the variables on to them. */
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
    if (db_objective_has_reflections(objective)) {
        objective->loss += db_objective_restraint_loss(objective);
        db_objective_eliminate_reflections(objective, depth);
    }
    if (depth == DB_OBJECTIVE_NORMAL) scatter_blocks(objective);
    if (depth == DB_OBJECTIVE_NORMAL && objective->rule == DB_INTENSITY_SHARED)
        objective->loss -= db_eliminate(rows, n, total, totals, rows);
    memcpy(objective->gradient, total, n * sizeof *total);
    for (size_t k = 0; k < n && depth == DB_OBJECTIVE_NORMAL; k++)
        for (size_t l = 0; l <= k; l++)
            objective->normal[k * n + l] = objective->normal[l * n + k] = totals[k * rows + l];
}

/* Slope of a rendered parameter by the sharp one. */
static double blur_slope(const db_objective *objective, db_parameter p) {
    if (p != DB_CELLS_A && p != DB_CELLS_B && p != DB_CELLS_C) return 1;
    return db_parameter_get(&objective->experiment, p) > objective->blur ? 1 / objective->blur : 0;
}

static db_status render(db_objective *objective, const double *values, db_objective_depth depth) {
    struct db_objective_work *const work = objective->work;
    const db_variables *const variables = &objective->variables;
    db_variables_set(variables, values, &objective->experiment);
    db_variables_set(variables, values, &work->rendered);
    if (!db_spread_is_possible(&work->rendered)) /* closer than db_plan_update looks */
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
    DB_TRY(db_plan_update(work->plan, &work->rendered));
    if (depth == DB_OBJECTIVE_LOSS) return db_plan_forward(work->plan, objective->shape);
    return db_plan_gradient(work->plan, objective->shape, (void *const *)work->derivative);
}

db_status db_objective_render(db_objective *objective, const double *values) {
    return render(objective, values, DB_OBJECTIVE_LOSS);
}

db_status db_objective_render_derivatives(db_objective *objective, const double *values) {
    return render(objective, values, DB_OBJECTIVE_NORMAL);
}

static void derive(db_objective *objective, db_objective_depth depth) {
    db_enter_stage(objective->context, "sums");
    each_block(objective, depth, derive_block);
    add_up(objective, depth);
    db_leave_stage(objective->context, "sums");
}

void db_objective_derive(db_objective *objective) { derive(objective, DB_OBJECTIVE_NORMAL); }

void db_objective_solve(db_objective *objective) {
    db_enter_stage(objective->context, "sums");
    if (objective->work->fresh) solve_first(objective);
    solve(objective);
    objective->loss = 0;
    for (size_t b = 0; b < objective->blocks.count; b++)
        objective->loss += db_objective_trust(objective, b) * objective->solution[b].loss;
    if (db_objective_has_reflections(objective))
        objective->loss += db_objective_restraint_loss(objective);
    db_leave_stage(objective->context, "sums");
}

db_status db_objective_evaluate(db_objective *objective, const double *values,
                                db_objective_depth depth) {
    if (objective->variables.count == 0) depth = DB_OBJECTIVE_LOSS;
    DB_TRY(render(objective, values, depth));
    db_objective_solve(objective);
    if (depth != DB_OBJECTIVE_LOSS && objective->blocks.count) derive(objective, depth);
    return DB_OK;
}
