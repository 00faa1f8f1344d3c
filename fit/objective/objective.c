/* Objectives: making, clearing, blocks. */
#include "fit/objective/objective.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/config/config_refine.h"
#include "fit/pixels/rendering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int db_plane_terms(const db_fit_settings *settings) {
    switch (settings->background) {
    case DB_FIT_BACKGROUND_PLANE: return 3;
    case DB_FIT_BACKGROUND_CONSTANT: return 1;
    default: return 0;
    }
}

int db_background_is_fixed(const db_fit_settings *settings, int holds_light) {
    return settings->background == DB_FIT_BACKGROUND_FIXED ||
           settings->background == DB_FIT_BACKGROUND_SMOOTH || holds_light;
}

/* Number of pixels in use in a block; sums their local background. */
static size_t pixels_in_use(const db_fit_blocks *blocks, size_t b, double *background) {
    const db_region *const r = &blocks->region[b];
    size_t count = 0;
    *background = 0;
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            if (!(blocks->weight[i] > 0)) continue;
            *background += (double)blocks->background[i];
            count++;
        }
    }
    return count;
}

static void count_degrees(db_objective *objective) {
    const int each =
        db_plane_terms(objective->settings) + db_objective_has_own_intensities(objective);
    objective->degrees = (double)objective->pixels_used - each * (double)objective->blocks.count -
                         (objective->rule == DB_INTENSITY_SHARED) -
                         (double)objective->variables.count;
}

static db_status make_plan(db_objective *objective) {
    struct db_objective_work *const work = objective->work;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = objective->settings->precision;
    options.parameters = objective->variables.parameter;
    options.parameter_count = objective->variables.columns;
    options.regions = objective->blocks.region;
    options.region_count = objective->blocks.count;
    options.tolerance = objective->blocks.tolerance;
    DB_TRY(db_plan_create(objective->context, &work->rendered, &options, &work->plan));
    if (!objective->blocks.count) return DB_OK; /* the plan is of the whole detector */
    DB_TRY(db_boxes_create(work->plan, &work->boxes));
    return db_boxes_image_of(work->boxes, &objective->shape);
}

void db_objective_data_changed(db_objective *objective) { objective->work->data_current = 0; }

static size_t most_variables(const db_variables *variables) {
    size_t list[DB_BLOCK_MOST], most = variables->table_count;
    for (int g = 0; g < DB_FIT_MOST_GROUPS; g++) {
        const size_t count = db_variables_of_group(variables, g, list);
        if (count > most) most = count;
    }
    return most;
}

static db_status allocate_objective(db_objective *objective) {
    struct db_objective_work *const work = objective->work;
    const size_t blocks = objective->blocks.count, n = objective->variables.count;
    work->most = most_variables(&objective->variables);
    work->lists = objective->placement.start ? objective->experiment.detector.panel_count : 1;
    work->total = calloc((n + 1) * (n + 2), sizeof *work->total);
    work->pulls = calloc((n + 1) * (n + 1), sizeof *work->pulls);
    work->sums = calloc(blocks * db_boxes_room(work->most) + 1, sizeof *work->sums);
    work->rule = calloc(blocks + 1, sizeof *work->rule);
    work->list = calloc(work->lists, sizeof *work->list);
    work->list_links = calloc(work->lists * DB_BLOCK_MOST_LINKS, sizeof *work->list_links);
    work->linear_sums = calloc(blocks + 1, sizeof *work->linear_sums);
    work->steps = calloc(blocks + 1, sizeof *work->steps);
    objective->solution = calloc(blocks + 1, sizeof *objective->solution);
    objective->gradient = calloc(n + 1, sizeof *objective->gradient);
    objective->normal = calloc(n * n + 1, sizeof *objective->normal);
    objective->scatter = calloc(n * n + 1, sizeof *objective->scatter);
    const int missing = !work->sums || !work->total || !work->pulls || !work->linear_sums ||
                        !work->steps || !work->rule || !work->list || !work->list_links ||
                        !objective->solution || !objective->gradient || !objective->normal ||
                        !objective->scatter;
    return db_need_memory(objective->context, !missing, "the sums of an objective");
}

static db_status build(db_objective *objective, const db_experiment *experiment,
                       const db_objective_options *options) {
    objective->work = calloc(1, sizeof *objective->work);
    if (!objective->work) return db_fail_memory(objective->context, "an objective");
    DB_TRY(
        objective->settings->intensity == DB_FIT_FREE
            ? db_experiment_unit_amplitudes(objective->context, experiment, &objective->experiment)
            : db_experiment_borrow(objective->context, experiment, &objective->experiment));
    if (objective->blocks.oversample > 0)
        objective->experiment.oversample = objective->blocks.oversample;
    DB_TRY(db_experiment_borrow(objective->context, &objective->experiment,
                                &objective->work->rendered));
    db_experiment_blur(&objective->experiment, objective->blur, &objective->work->rendered);
    DB_TRY(
        options->placement
            ? db_panel_placement_copy(objective->context, options->placement, &objective->placement)
            : db_panel_placement_make(objective->context, &experiment->detector,
                                      &objective->settings->panel_groups, &objective->placement));
    DB_TRY(db_variables_make(objective->context, objective->settings, options->stages,
                             options->given, experiment, &objective->placement,
                             &objective->variables));
    memcpy(objective->work->links, objective->variables.links,
           objective->variables.link_count * sizeof *objective->work->links);
    DB_TRY(make_plan(objective));
    DB_TRY(allocate_objective(objective));
    db_objective_restart(objective); /* this also counts pixels */
    count_degrees(objective);
    return DB_OK;
}

static db_intensity_rule rule_of(const db_fit_settings *settings, int is_given) {
    if (settings->intensity == DB_FIT_FREE)
        return is_given ? DB_INTENSITY_GIVEN : DB_INTENSITY_EACH;
    if (!db_fit_settings_find(settings, DB_SCALE)) return DB_INTENSITY_SHARED;
    return settings->intensity_error > 0 ? DB_INTENSITY_NEAR : DB_INTENSITY_ONE;
}

db_status db_objective_create(db_context *context, const db_experiment *experiment,
                              const db_fit_settings *settings, const db_fit_blocks *blocks,
                              const db_objective_options *options, db_objective *objective) {
    memset(objective, 0, sizeof *objective);
    objective->context = context;
    objective->settings = settings;
    objective->blocks = *blocks;
    objective->blur = options->blur;
    objective->loss_of = db_loss_make(settings, options->target);
    objective->rule = rule_of(settings, options->is_given);
    const db_status status = build(objective, experiment, options);
    if (status != DB_OK) db_objective_destroy(objective);
    return status;
}

void db_objective_destroy(db_objective *objective) {
    struct db_objective_work *const work = objective->work;
    if (work) {
        db_boxes_destroy(&work->boxes);
        db_plan_destroy(&work->plan);
        db_experiment_give_back(&work->rendered);
        free(work->rule);
        free(work->list);
        free(work->list_links);
        free(work->sums);
        free(work->total);
        free(work->pulls);
        free(work->linear_sums);
        free(work->steps);
        free(work);
    }
    db_experiment_give_back(&objective->experiment);
    db_panel_placement_clear(&objective->placement);
    db_variables_clear(&objective->variables);
    free(objective->solution);
    free(objective->gradient);
    free(objective->normal);
    free(objective->scatter);
    memset(objective, 0, sizeof *objective);
}

static int background_is_refined(const db_fit_settings *settings, const db_fit_blocks *blocks) {
    return db_plane_terms(settings) > 0 && !blocks->holds_light;
}

/* Start of a block: its background is the mean of the local one over the *used pixels in use. */
static db_linear_solution start_of(const db_fit_settings *settings, const db_fit_blocks *blocks,
                                   size_t b, double intensity, size_t *used) {
    double background;
    *used = pixels_in_use(blocks, b, &background);
    const int refined = background_is_refined(settings, blocks) && *used > 0;
    return (
        db_linear_solution){ .linear = { intensity, refined ? background / (double)*used : 0 } };
}

void db_objective_restart(db_objective *objective) {
    const int is_free =
        objective->rule == DB_INTENSITY_EACH || objective->rule == DB_INTENSITY_GIVEN;
    const long blocks = (long)objective->blocks.count;
    size_t all = 0;
    objective->work->fresh = 1;
    objective->work->is_placed = 0;
#pragma omp parallel for num_threads(db_threads(objective->context)) reduction(+ : all)
    for (long b = 0; b < blocks; b++) {
        size_t used;
        objective->solution[b] =
            start_of(objective->settings, &objective->blocks, (size_t)b, is_free ? 0 : 1, &used);
        all += used;
    }
    objective->pixels_used = all;
}

static db_block block_of(const db_fit_settings *settings, const db_loss *loss,
                         const db_fit_blocks *blocks, size_t b, const float *shape,
                         db_intensity_rule rule) {
    const int terms = db_plane_terms(settings);
    const int fixed = db_background_is_fixed(settings, blocks->holds_light);
    const double ridge = rule == DB_INTENSITY_NEAR
                             ? 1 / (settings->intensity_error * settings->intensity_error)
                         : blocks->ridge ? blocks->ridge[b]
                                         : 0;
    return (db_block){ .region = blocks->region[b],
                       .value = blocks->value,
                       .weight = blocks->weight,
                       .shape_variance = blocks->shape_variance,
                       .shape = shape,
                       .offset = fixed ? blocks->background : NULL,
                       .loss = loss,
                       .ridge = ridge,
                       .expected = rule == DB_INTENSITY_NEAR ? 1 : 0,
                       .used = { rule != DB_INTENSITY_ONE, terms > 0, terms > 1, terms > 1 } };
}

db_block db_objective_block(const db_objective *objective, size_t block) {
    return block_of(objective->settings, &objective->loss_of, &objective->blocks, block,
                    objective->shape, objective->rule);
}
