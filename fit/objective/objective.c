#include "fit/objective/objective.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/rendering.h"
#include "fit/objective/eliminate.h"
#include "fit/objective/objective_work.h"
#include "fit/objective/reflection_intensities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_cell_count(db_parameter p) {
    return p == DB_CELLS_A || p == DB_CELLS_B || p == DB_CELLS_C;
}

/* Smaller crystals have wider spots; none is smaller than one cell. */
static void blur_cells(const db_experiment *sharp, double blur, db_experiment *rendered) {
    for (int i = 0; i < 3; i++)
        rendered->crystal.cells[i] = fmax(1, sharp->crystal.cells[i] / blur);
}

static double blur_slope(const db_objective *shot, db_parameter p) {
    if (!is_cell_count(p)) return 1;
    return db_parameter_get(&shot->experiment, p) > shot->blur ? 1 / shot->blur : 0;
}

static int plane_terms(const db_fit_settings *settings) {
    switch (settings->background) {
    case DB_FIT_BACKGROUND_PLANE: return 3;
    case DB_FIT_BACKGROUND_CONSTANT: return 1;
    default: return 0;
    }
}

static void count_degrees(db_objective *shot) {
    const db_fit_blocks *const blocks = &shot->blocks;
    for (size_t b = 0; b < blocks->count; b++) {
        const db_region *const r = &blocks->region[b];
        for (int s = 0; s < r->slow_count; s++)
            for (int f = 0; f < r->fast_count; f++)
                shot->pixels_used +=
                    blocks->weight[r->offset + (size_t)s * r->stride + (size_t)f] > 0;
    }
    const int each = plane_terms(shot->settings) + (shot->rule == DB_INTENSITY_EACH);
    shot->degrees = (double)shot->pixels_used - each * (double)blocks->count -
                    (shot->rule == DB_INTENSITY_SHARED) - (double)shot->variables.count;
}

static db_status make_plan(db_objective *shot) {
    struct db_objective_work *const work = shot->work;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = shot->settings->precision;
    options.parameters = shot->variables.parameter;
    options.parameter_count = shot->variables.columns;
    options.regions = shot->blocks.region;
    options.region_count = shot->blocks.count;
    return db_plan_create(shot->context, &work->rendered, &options, &work->plan);
}

static size_t most_variables(const db_variables *variables) {
    size_t list[DB_BLOCK_MOST], most = variables->table_count;
    for (int g = 0; g < DB_FIT_MOST_GROUPS; g++) {
        const size_t count = db_variables_of_group(variables, g, list);
        if (count > most) most = count;
    }
    return most;
}

static db_status allocate(db_objective *shot) {
    struct db_objective_work *const work = shot->work;
    const size_t pixels = db_plan_pixels(work->plan), blocks = shot->blocks.count;
    const size_t n = shot->variables.count;
    work->most = most_variables(&shot->variables);
    work->room = (work->most + DB_LINEAR) * (work->most + DB_LINEAR + 1);
    work->total = calloc((n + 1) * (n + 2), sizeof *work->total);
    work->pulls = calloc((n + 1) * (n + 1), sizeof *work->pulls);
    work->cross = calloc(2 * n + 1, sizeof *work->cross);
    work->sums = calloc(blocks * work->room + 1, sizeof *work->sums);
    work->linear_sums = calloc(blocks + 1, sizeof *work->linear_sums);
    work->steps = calloc(blocks + 1, sizeof *work->steps);
    shot->shape = calloc(pixels + 1, sizeof *shot->shape);
    shot->solution = calloc(blocks + 1, sizeof *shot->solution);
    shot->normal = calloc(n * n + 1, sizeof *shot->normal);
    shot->scatter = calloc(n * n + 1, sizeof *shot->scatter);
    int missing = !work->sums || !work->total || !work->pulls || !work->cross ||
                  !work->linear_sums || !work->steps || !shot->shape || !shot->solution ||
                  !shot->normal || !shot->scatter;
    for (size_t c = 0; c < shot->variables.columns; c++) {
        work->derivative[c] = calloc(pixels + 1, sizeof *work->derivative[c]);
        missing |= !work->derivative[c];
    }
    return missing ? db_fail_memory(shot->context, "the sums of a shot") : DB_OK;
}

static db_status build(db_objective *shot, const db_experiment *experiment,
                       const db_objective_options *options) {
    shot->work = calloc(1, sizeof *shot->work);
    if (!shot->work) return db_fail_memory(shot->context, "a shot");
    DB_TRY(shot->settings->intensity == DB_FIT_FREE
               ? db_experiment_unit_amplitudes(shot->context, experiment, &shot->experiment)
               : db_experiment_borrow(shot->context, experiment, &shot->experiment));
    DB_TRY(db_experiment_borrow(shot->context, &shot->experiment, &shot->work->rendered));
    blur_cells(&shot->experiment, shot->blur, &shot->work->rendered);
    DB_TRY(options->placement
               ? db_panel_placement_copy(shot->context, options->placement, &shot->placement)
               : db_panel_placement_make(shot->context, &experiment->detector,
                                         &shot->settings->panel_groups, &shot->placement));
    db_variables_make(shot->settings, options->stages, options->turned, experiment,
                      &shot->placement, &shot->variables);
    memcpy(shot->work->links, shot->variables.links, sizeof shot->work->links);
    count_degrees(shot);
    DB_TRY(make_plan(shot));
    DB_TRY(allocate(shot));
    db_objective_restart(shot);
    return DB_OK;
}

static int refines_scale(const db_fit_settings *settings) {
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->parameters[i].parameter == DB_SCALE) return 1;
    return 0;
}

db_status db_objective_create(db_context *context, const db_experiment *experiment,
                              const db_fit_settings *settings, const db_fit_blocks *blocks,
                              const db_objective_options *options, db_objective *shot) {
    memset(shot, 0, sizeof *shot);
    shot->context = context;
    shot->settings = settings;
    shot->blocks = *blocks;
    shot->blur = options->blur;
    shot->amplitudes = options->amplitudes;
    shot->loss_of = db_loss_make(settings, options->target);
    shot->rule = settings->intensity == DB_FIT_FREE ? DB_INTENSITY_EACH
                 : refines_scale(settings)          ? DB_INTENSITY_ONE
                                                    : DB_INTENSITY_SHARED;
    const db_status status = build(shot, experiment, options);
    if (status != DB_OK) db_objective_destroy(shot);
    return status;
}

void db_objective_destroy(db_objective *shot) {
    struct db_objective_work *const work = shot->work;
    if (work) {
        db_plan_destroy(&work->plan);
        db_experiment_give_back(&work->rendered);
        for (size_t c = 0; c < shot->variables.columns; c++) free(work->derivative[c]);
        free(work->sums);
        free(work->total);
        free(work->pulls);
        free(work->cross);
        free(work->linear_sums);
        free(work->steps);
        free(work);
    }
    db_experiment_give_back(&shot->experiment);
    db_panel_placement_clear(&shot->placement);
    free(shot->shape);
    free(shot->solution);
    free(shot->normal);
    free(shot->scatter);
    memset(shot, 0, sizeof *shot);
}

/* Mean of the local background over the pixels in use. */
static double mean_background(const db_fit_blocks *blocks, size_t b) {
    const db_region *const r = &blocks->region[b];
    double sum = 0;
    size_t count = 0;
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            if (!(blocks->weight[i] > 0)) continue;
            sum += (double)blocks->background[i];
            count++;
        }
    }
    return count ? sum / (double)count : 0;
}

void db_objective_restart(db_objective *shot) {
    const int refined = plane_terms(shot->settings) > 0;
    shot->work->fresh = 1;
    for (size_t b = 0; b < shot->blocks.count; b++)
        shot->solution[b] = (db_linear_solution){
            .linear = { shot->rule == DB_INTENSITY_EACH ? 0 : 1,
                        refined ? mean_background(&shot->blocks, b) : 0 },
        };
}

db_block db_objective_block(const db_objective *shot, size_t block) {
    const int terms = plane_terms(shot->settings);
    const int fixed = shot->settings->background == DB_FIT_BACKGROUND_FIXED ||
                      shot->settings->background == DB_FIT_BACKGROUND_SMOOTH;
    return (
        db_block){ .region = shot->blocks.region[block],
                   .value = shot->blocks.value,
                   .weight = shot->blocks.weight,
                   .shape_variance = shot->blocks.shape_variance,
                   .shape = shot->shape,
                   .offset = fixed ? shot->blocks.background : NULL,
                   .loss = &shot->loss_of,
                   .ridge = shot->blocks.ridge ? shot->blocks.ridge[block] : 0,
                   .used = { shot->rule != DB_INTENSITY_ONE || db_objective_has_reflections(shot),
                             terms > 0, terms > 1, terms > 1 } };
}

/* Calls work for every block, on all threads. */
static void each_block(db_objective *shot, db_objective_depth depth,
                       void (*work)(db_objective *shot, size_t block, db_objective_depth depth)) {
    const long count = (long)shot->blocks.count;
    const int threads = db_threads(shot->context);
    (void)threads;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (long b = 0; b < count; b++) work(shot, (size_t)b, depth);
}

/* Best coefficients of a block by itself, at a given J unless that is its own. */
static void solve_block(db_objective *shot, size_t b, db_objective_depth depth) {
    db_linear_solution *const solution = &shot->solution[b];
    db_block block = db_objective_block(shot, b);
    (void)depth;
    if (shot->rule != DB_INTENSITY_EACH) block.used[0] = 0;
    solution->loss = db_block_solve(&block, solution->linear, &solution->variance);
}

static void sum_block(db_objective *shot, size_t b, db_objective_depth depth) {
    const db_block block = db_objective_block(shot, b);
    (void)depth;
    db_block_sum(&block, shot->solution[b].linear, &shot->work->linear_sums[b]);
}

static double total_loss(const db_objective *shot) {
    double sum = 0;
    for (size_t b = 0; b < shot->blocks.count; b++) sum += shot->work->linear_sums[b].value;
    return sum;
}

/* A step of all planes and the J that they share; returns the decrease that it promises. */
static double shared_step(db_objective *shot, double *fall) {
    struct db_objective_work *const work = shot->work;
    double gradient = 0, curvature = 0, promise = 0;
    *fall = 0;
    for (size_t b = 0; b < shot->blocks.count; b++) {
        db_block_sums *const s = &work->linear_sums[b];
        *fall += s->value;
        promise += db_eliminate(DB_LINEAR, 1, s->gradient, s->normal, DB_LINEAR);
        gradient += s->gradient[0];
        curvature += s->normal[0];
    }
    const double intensity = shot->solution[0].linear[0];
    const double step = curvature > 0 ? fmax(-0.5 * gradient / curvature, -intensity) : 0;
    promise -= step * (gradient + curvature * step);
    for (size_t b = 0; b < shot->blocks.count; b++) {
        const db_block_sums *const s = &work->linear_sums[b];
        double *const steps = work->steps[b];
        steps[0] = step;
        for (size_t i = 1; i < DB_LINEAR; i++)
            steps[i] = db_eliminated_step(i, s->gradient, s->normal, DB_LINEAR, steps);
        for (size_t i = 0; i < DB_LINEAR; i++) shot->solution[b].linear[i] += steps[i];
    }
    return promise;
}

/* The shared J, and every plane with it. */
static void solve_shared(db_objective *shot) {
    enum { PASSES = 40 };
    double value, before = INFINITY;
    for (int pass = 0; pass < PASSES && shot->blocks.count; pass++) {
        each_block(shot, DB_OBJECTIVE_LOSS, sum_block);
        if (total_loss(shot) > before + 1e-9 * fabs(before)) { /* too far: halfway back */
            for (size_t b = 0; b < shot->blocks.count; b++)
                for (int i = 0; i < DB_LINEAR; i++)
                    shot->solution[b].linear[i] -= shot->work->steps[b][i] *= 0.5;
            continue;
        }
        const double promise = shared_step(shot, &value);
        before = value;
        if (promise <= 1e-10 * fmax(1, value) || shot->loss_of.target == DB_FIT_WEIGHTED) break;
    }
    for (size_t b = 0; b < shot->blocks.count; b++) shot->solution[b].variance = 0;
    /* What is left for each block, so that its loss is told. */
    each_block(shot, DB_OBJECTIVE_LOSS, solve_block);
}

/* Every reflection with all of its blocks, then blocks of no reflection. */
static void solve_reflections(db_objective *shot) {
    const db_amplitudes *const amplitudes = shot->amplitudes;
    const long count = (long)amplitudes->count;
    const int threads = db_threads(shot->context);
    (void)threads;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (long r = 0; r < count; r++) db_objective_solve_reflection(shot, (size_t)r);
    for (size_t b = 0; b < shot->blocks.count; b++)
        if (!amplitudes->holds[b]) solve_block(shot, b, DB_OBJECTIVE_LOSS);
}

static void solve(db_objective *shot) {
    if (db_objective_has_reflections(shot))
        solve_reflections(shot);
    else if (shot->rule == DB_INTENSITY_SHARED)
        solve_shared(shot);
    else
        each_block(shot, DB_OBJECTIVE_LOSS, solve_block);
}

/* The other losses' iterations start where chi2 with weights from the data is least: one step from
 * anywhere. */
static void solve_first(db_objective *shot) {
    const db_fit_target target = shot->loss_of.target;
    shot->work->fresh = 0;
    if (target == DB_FIT_WEIGHTED) return; /* needs no start */
    shot->loss_of.target = DB_FIT_WEIGHTED;
    solve(shot);
    shot->loss_of.target = target;
}

/* Sums of a block over all its unknowns, then without its own coefficients. */
static void derive_block(db_objective *shot, size_t b, db_objective_depth depth) {
    const struct db_objective_work *const work = shot->work;
    size_t list[DB_BLOCK_MOST];
    db_link links[DB_BLOCK_MOST_LINKS];
    const size_t n = db_objective_block_variables(shot, b, list), all = n + DB_LINEAR;
    const double *const linear = shot->solution[b].linear;
    db_block block = db_objective_block(shot, b);
    const int own = shot->rule == DB_INTENSITY_EACH || db_objective_has_reflections(shot);
    if (own && !(linear[0] > 0)) block.used[0] = 0; /* held at 0 */
    const size_t link_count = db_variables_links(&shot->variables, work->links, &shot->placement,
                                                 shot->blocks.region[b].panel, list, n, links);
    const db_derivatives derivatives = { work->derivative, links, link_count, n };
    double *const gradient = db_objective_block_gradient(shot, b),
                  *const normal =
                      depth == DB_OBJECTIVE_NORMAL ? db_objective_block_normal(shot, b) : NULL;
    shot->solution[b].loss = db_block_derive(&block, linear, &derivatives, gradient, normal);
    if (normal)
        shot->solution[b].loss -=
            db_eliminate(all, shot->rule == DB_INTENSITY_EACH ? n : n + 1, gradient, normal, all);
}

/* Adds a block's sums to those of all. J, if blocks share it, is the unknown after the variables.
 */
static void add_block(db_objective *shot, size_t b, db_objective_depth depth) {
    const size_t count = shot->variables.count, rows = count + 1;
    const int reflections =
        db_objective_has_reflections(shot); /* parts are theirs, not the blocks' */
    size_t list[DB_BLOCK_MOST + 1];
    const size_t n = db_objective_block_variables(shot, b, list), all = n + DB_LINEAR;
    const double *const gradient = db_objective_block_gradient(shot, b),
                        *const normal = db_objective_block_normal(shot, b);
    double *const total = shot->work->total, *const totals = total + rows;
    list[n] = count;
    for (size_t k = 0; k <= n; k++) {
        total[list[k]] += gradient[k];
        for (size_t l = 0; l <= k && depth == DB_OBJECTIVE_NORMAL; l++) {
            totals[list[k] * rows + list[l]] += normal[k * all + l];
            if (!reflections)
                shot->work->pulls[list[k] * rows + list[l]] += 0.25 * gradient[k] * gradient[l];
        }
    }
}

/* How much single blocks pull, each in its own direction. A shared J passes what of its pull goes
 * with the variables on to them. */
static void scatter_blocks(db_objective *shot) {
    const size_t n = shot->variables.count, rows = n + 1;
    const double *const totals = shot->work->total + rows, *const pulls = shot->work->pulls;
    const double *const row = totals + n * rows, *const pull = pulls + n * rows;
    const double pivot = shot->rule == DB_INTENSITY_SHARED && row[n] > 0 ? row[n] : INFINITY;
    for (size_t k = 0; k < n; k++) {
        const double own = row[k] / pivot;
        for (size_t l = 0; l <= k; l++) {
            const double other = row[l] / pivot;
            shot->scatter[k * n + l] = shot->scatter[l * n + k] =
                pulls[k * rows + l] - own * pull[l] - other * pull[k] + own * other * pull[n];
        }
    }
}

/* Adds the blocks' sums in their order. */
static void add_up(db_objective *shot, db_objective_depth depth) {
    const size_t n = shot->variables.count, rows = n + 1;
    double *const total = shot->work->total, *const totals = total + rows;
    memset(total, 0, rows * (rows + 1) * sizeof *total);
    shot->loss = 0;
    memset(shot->work->pulls, 0, rows * rows * sizeof *shot->work->pulls);
    for (size_t b = 0; b < shot->blocks.count; b++) {
        shot->loss += shot->solution[b].loss;
        add_block(shot, b, depth);
    }
    if (db_objective_has_reflections(shot)) {
        shot->loss += db_objective_restraint_loss(shot);
        db_objective_eliminate_reflections(shot, depth);
    }
    if (depth == DB_OBJECTIVE_NORMAL) scatter_blocks(shot);
    if (depth == DB_OBJECTIVE_NORMAL && shot->rule == DB_INTENSITY_SHARED)
        shot->loss -= db_eliminate(rows, n, total, totals, rows);
    memcpy(shot->gradient, total, n * sizeof *total);
    for (size_t k = 0; k < n && depth == DB_OBJECTIVE_NORMAL; k++)
        for (size_t l = 0; l <= k; l++)
            shot->normal[k * n + l] = shot->normal[l * n + k] = totals[k * rows + l];
}

static db_status render(db_objective *shot, const double *values, db_objective_depth depth) {
    struct db_objective_work *const work = shot->work;
    const db_variables *const variables = &shot->variables;
    db_variables_set(variables, values, &shot->experiment);
    db_variables_set(variables, values, &work->rendered);
    db_variables_place(variables, values, &shot->placement);
    DB_TRY(db_panel_placement_apply(shot->context, &shot->placement, &shot->experiment.detector));
    DB_TRY(db_panel_placement_apply(shot->context, &shot->placement, &work->rendered.detector));
    blur_cells(&shot->experiment, shot->blur, &work->rendered);
    for (size_t l = 0; l < variables->link_count; l++)
        work->links[l].slope = variables->links[l].slope *
                               blur_slope(shot, variables->parameter[variables->links[l].column]);
    DB_TRY(db_plan_update(work->plan, &work->rendered));
    if (depth == DB_OBJECTIVE_LOSS) return db_plan_forward(work->plan, shot->shape);
    return db_plan_gradient(work->plan, shot->shape, (void *const *)work->derivative);
}

db_status db_objective_render(db_objective *shot, const double *values) {
    return render(shot, values, DB_OBJECTIVE_LOSS);
}

void db_objective_solve(db_objective *shot) {
    if (shot->work->fresh) solve_first(shot);
    solve(shot);
    shot->loss = 0;
    for (size_t b = 0; b < shot->blocks.count; b++) shot->loss += shot->solution[b].loss;
    if (db_objective_has_reflections(shot)) shot->loss += db_objective_restraint_loss(shot);
}

db_status db_objective_evaluate(db_objective *shot, const double *values,
                                db_objective_depth depth) {
    if (shot->variables.count == 0) depth = DB_OBJECTIVE_LOSS;
    DB_TRY(render(shot, values, depth));
    db_objective_solve(shot);
    if (depth == DB_OBJECTIVE_LOSS || !shot->blocks.count) return DB_OK;
    each_block(shot, depth, derive_block);
    add_up(shot, depth);
    return DB_OK;
}
