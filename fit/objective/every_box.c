/* Renders the shoeboxes of all predicted reflections in one plan, and fits intensity and
 * background of each. */
#include "fit/objective/model_image.h"

#include "base/context_internal.h"
#include "fit/objective/intensities.h"
#include "fit/objective/panel_placement.h"
#include "fit/pixels/rendering.h"

#include <stdlib.h>
#include <string.h>

/* Moves groups of panels to their places in an objective. */
static db_status place_panels(db_context *context, const db_fit_settings *settings,
                              db_detector *detector) {
    db_panel_placement placement;
    DB_TRY(db_panel_placement_make(context, detector, &settings->panel_groups, &placement));
    const db_status status = db_panel_placement_apply(context, &placement, detector);
    db_panel_placement_clear(&placement);
    return status;
}

/* A plan of the boxes with unit intensities. */
static db_status make_plan(db_context *context, const db_experiment *experiment,
                           const db_fit_settings *settings, db_every_box *all) {
    const db_fit_blocks *const blocks = &all->taken.blocks;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_experiment unit;
    options.precision = settings->precision;
    options.regions = blocks->region;
    options.region_count = blocks->count;
    options.tolerance = blocks->tolerance;
    DB_TRY(db_experiment_unit_amplitudes(context, experiment, &unit));
    if (blocks->oversample > 0) unit.oversample = blocks->oversample;
    db_experiment_blur(experiment, all->taken.blur, &unit);
    db_status status = place_panels(context, settings, &unit.detector);
    if (status == DB_OK) status = db_plan_create(context, &unit, &options, &all->plan);
    db_experiment_clear(&unit);
    return status;
}

static db_box_frame frame_of(const db_fit_data *data, int whole, const db_stage_data *taken) {
    const db_shoeboxes *const boxes = &taken->boxes;
    db_box_frame frame = DB_BOX_FRAME_INIT;
    frame.image = data->image;
    frame.background = data->strong->background;
    frame.strong = data->strong->strong;
    frame.own = boxes->own;
    frame.order = boxes->by_place;
    frame.gain = data->settings->gain;
    frame.readout_noise = data->settings->readout_noise;
    frame.model_error = taken->model_error;
    frame.background_fixed = db_background_is_fixed(data->settings, boxes->holds_light);
    frame.whole = whole;
    return frame;
}

static void fill_rules(const db_fit_settings *settings, const db_shoeboxes *boxes,
                       db_box_rule *rule) {
    const int terms = db_plane_terms(settings);
    for (size_t b = 0; b < boxes->count; b++)
        rule[b] = (db_box_rule){ .ridge = boxes->ridge[b],
                                 .solved = { 1, terms > 0, terms > 1, terms > 1 } };
}

/* Takes reflections in the order of the boxes. */
static void take_results(const db_box_measured *measured, db_every_box *all) {
    const db_shoeboxes *const boxes = &all->taken.boxes;
    for (size_t b = 0; b < boxes->count; b++) {
        all->intensity[b] = measured[b].solution.linear[0];
        all->explained += (size_t)measured[b].explained;
        if (all->reflection)
            all->reflection_count +=
                (size_t)db_intensity_of(&measured[b], &boxes->reflection[b], &boxes->region[b],
                                        &all->reflection[all->reflection_count]);
    }
    if (all->reflection) db_intensities_share(all->reflection, all->reflection_count);
}

/* light, rule, measured: room for one of each box. */
static db_status measure_all_boxes(db_context *context, const db_fit_data *data, double *light,
                                   db_box_rule *rule, db_box_measured *measured,
                                   db_every_box *all) {
    db_shoeboxes *const boxes = &all->taken.boxes;
    DB_TRY(db_boxes_light(all->boxes, light));
    DB_TRY(db_intensity_prior_set(context, boxes, light,
                                  db_stage_data_limit(&all->taken, data->settings)));
    fill_rules(data->settings, boxes, rule);
    DB_TRY(db_boxes_measure(all->boxes, rule, measured));
    take_results(measured, all);
    return all->reflection ? db_boxes_image_of(all->boxes, &all->shape) : DB_OK;
}

static db_status fit(db_context *context, const db_fit_data *data, db_every_box *all) {
    const size_t count = all->taken.boxes.count;
    double *const light = malloc(count * sizeof *light);
    db_box_rule *const rule = malloc(count * sizeof *rule);
    db_box_measured *const measured = malloc(count * sizeof *measured);
    const db_status status = light && rule && measured
                                 ? measure_all_boxes(context, data, light, rule, measured, all)
                                 : db_fail_memory(context, "the fit of boxes");
    free(light);
    free(rule);
    free(measured);
    return status;
}

static db_status work(db_context *context, const db_experiment *experiment, const db_fit_data *data,
                      int with_reflections, db_every_box *all) {
    const size_t count = all->taken.boxes.count;
    all->intensity = malloc((count + 1) * sizeof *all->intensity);
    if (with_reflections) all->reflection = malloc((count + 1) * sizeof *all->reflection);
    if (!all->intensity || (with_reflections && !all->reflection))
        return db_fail_memory(context, "the intensities");
    if (count == 0) return DB_OK;
    const db_box_frame frame = frame_of(data, with_reflections, &all->taken);
    DB_TRY(make_plan(context, experiment, data->settings, all));
    DB_TRY(db_boxes_create_in(all->plan, &frame, &all->boxes));
    return fit(context, data, all);
}

db_status db_every_box_fit(db_context *context, const db_experiment *experiment,
                           const db_fit_data *data, db_shoebox_choice choice, int with_reflections,
                           db_every_box *all) {
    memset(all, 0, sizeof *all);
    DB_TRY(db_stage_data_take_bare(context, experiment, data, choice, &all->taken));
    const db_status status = work(context, experiment, data, with_reflections, all);
    if (status != DB_OK) db_every_box_clear(all);
    return status;
}

void db_every_box_clear(db_every_box *all) {
    db_boxes_destroy(&all->boxes);
    db_plan_destroy(&all->plan);
    db_stage_data_clear(&all->taken);
    free(all->intensity);
    free(all->reflection);
    memset(all, 0, sizeof *all);
}
