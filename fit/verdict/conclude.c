/* Conclusion of a refinement: statistics on the final data, errors, shoeboxes, and the verdict. */
#include "fit/verdict/conclude.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/pixels/dark_levels.h"
#include "fit/result/errors.h"
#include "fit/result/goodness.h"
#include "fit/verdict/held_distance.h"
#include "fit/objective/model_image.h"
#include "fit/verdict/other_lattice.h"
#include "fit/verdict/renumbered.h"
#include "fit/objective/statistics.h"
#include "fit/verdict/verdict.h"
#include "fit/verdict/verdict_of_light.h"
#include "fit/verdict/verdict_tests.h"
#include "fit/verdict/warnings.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fraction of the strong pixels that a model explains. rendered: the objective of known intensities, which has
 * rendered them; NULL: the model is rendered for it. images: NULL: not wanted. */
static db_status strong_fraction(db_context *context, const db_experiment *experiment,
                                 const db_fit_data *data, db_objective *rendered,
                                 db_model_images *images, db_fit_statistics *statistics) {
    size_t strong, explained;
    DB_TRY(rendered ? db_model_image_of_region(context, rendered, data, &explained, images)
                    : db_model_image(context, experiment, data, &explained, images));
    DB_TRY(db_statistics_strong_pixels(context, experiment, data, &strong));
    statistics->strong_pixels = (double)strong;
    statistics->strong_explained = strong ? (double)explained / (double)strong : 0;
    return DB_OK;
}

/* Boxes for comparing known intensities, beside tiles: they have the tiles' scale, and planes of their own. */
typedef struct display {
    db_shoeboxes boxes;
    db_objective objective;
} display;

/* Plane of the tile that holds a box's centre, expressed for the box. */
static void copy_plane(const db_objective *tiles, const db_region *box, double linear[DB_LINEAR]) {
    const int fast = box->fast_start + box->fast_count / 2,
              slow = box->slow_start + box->slow_count / 2;
    for (size_t b = 0; b < tiles->blocks.count; b++) {
        const db_region *const tile = &tiles->blocks.region[b];
        if (tile->panel != box->panel) continue;
        const int f = fast - tile->fast_start, s = slow - tile->slow_start;
        if (f < 0 || s < 0 || f >= tile->fast_count || s >= tile->slow_count) continue;
        memcpy(linear, tiles->solution[b].linear, DB_LINEAR * sizeof *linear);
        linear[0] = 1;
        linear[1] = db_block_plane(linear, tile, f, s);
    }
}

static db_status make_display(db_context *context, const db_fit_data *data,
                              const db_objective *tiles, double model_error,
                              db_shoebox_choice choice, display *shown) {
    db_experiment model = tiles->experiment; /* borrows */
    db_shoeboxes *const boxes = &shown->boxes;
    memset(shown, 0, sizeof *shown);
    DB_TRY(db_shoeboxes_place(context, &tiles->experiment, data, 0, choice, boxes));
    if (boxes->count == 0) return DB_OK;
    DB_TRY(db_shoeboxes_weigh(context, data->settings, model_error, boxes));
    const db_fit_blocks blocks = db_shoeboxes_blocks(boxes);
    const db_objective_options options = { .placement = &tiles->placement,
                                           .blur = 1,
                                           .target = (db_fit_target)tiles->loss_of.target };
    if (tiles->blocks.count) model.beam.scale *= tiles->solution[0].linear[0];
    DB_TRY(
        db_objective_create(context, &model, data->settings, &blocks, &options, &shown->objective));
    shown->objective.rule = DB_INTENSITY_ONE;
    DB_TRY(db_objective_evaluate(&shown->objective, NULL, DB_OBJECTIVE_LOSS));
    return DB_OK;
}

/* Fills boxes with results of tiles, as for free intensities. DB_SHOEBOXES_STRONG: boxes with the planes of the
 * tiles. DB_SHOEBOXES_BRIGHT: boxes for comparing intensities with known ones, with planes of their own. The model
 * chooses these boxes, because the strongest spots of the image are spots that happen to be too strong; and small
 * errors of a tile's plane add up to more than a faint spot. statistics, result: NULL: not wanted. */
static db_status describe_tiles(db_context *context, const db_fit_data *data,
                                const db_stage_data *taken, const db_objective *tiles,
                                db_shoebox_choice choice, db_fit_statistics *statistics,
                                double inflation, db_fit_result *result) {
    display *const shown = malloc(sizeof *shown);
    if (!shown) return db_fail_memory(context, "the boxes shown");
    db_status status = make_display(context, data, tiles, taken->model_error, choice, shown);
    for (size_t b = 0; b < shown->boxes.count && choice == DB_SHOEBOXES_STRONG; b++)
        if (status == DB_OK)
            copy_plane(tiles, &shown->boxes.region[b], shown->objective.solution[b].linear);
    if (status == DB_OK && statistics)
        db_statistics_centroids(&shown->objective, &shown->boxes, statistics);
    if (status == DB_OK && result)
        status = db_result_boxes_make(context, &shown->objective, &shown->boxes, inflation, result);
    db_objective_destroy(&shown->objective);
    db_shoeboxes_clear(&shown->boxes);
    free(shown);
    return status;
}

/* Statistics of the target as last evaluated; also fills the result's boxes, unless it is NULL. */
static db_status describe(db_context *context, const db_fit_data *data, const db_stage_data *taken,
                          const db_objective *objective, db_fit_statistics *statistics,
                          db_fit_result *result) {
    db_statistics_residuals(objective, statistics);
    const double inflation = fmax(1, statistics->chi2_reduced);
    if (taken->boxes.count) {
        db_statistics_centroids(objective, &taken->boxes, statistics);
        return result ? db_result_boxes_make(context, objective, &taken->boxes, inflation, result)
                      : DB_OK;
    }
    return describe_tiles(context, data, taken, objective, DB_SHOEBOXES_STRONG, statistics,
                          inflation, result);
}

/* Statistics of the starting model on the data of the refined one. shell: of pixels; NULL: one of many shots. */
static db_status describe_start(db_context *context, const db_experiment *start,
                                const db_fit_data *data, const db_stage_data *taken,
                                const uint8_t *shell, db_fit_result *result) {
    const db_objective_options request = { .target = data->settings->target };
    db_objective objective;
    DB_TRY(db_stage_data_objective(context, start, data, taken, &request, &objective));
    db_status status = db_objective_evaluate(&objective, NULL, DB_OBJECTIVE_LOSS);
    if (status == DB_OK && shell)
        status = db_goodness_measure(context, &objective, shell, DB_GOODNESS_BEFORE, result);
    if (status == DB_OK) status = describe(context, data, taken, &objective, &result->before, NULL);
    if (status == DB_OK && shell && taken->tiles.count)
        status = strong_fraction(context, &objective.experiment, data, &objective, NULL,
                                 &result->before);
    db_objective_destroy(&objective);
    return status;
}

/* Statistics of the refined model, with its images and intensities. shown: as in compare. */
static db_status show_refined(db_context *context, const db_experiment *experiment,
                              const db_fit_data *data, db_objective *rendered,
                              db_fit_result *result) {
    db_model_images images = { .whole = result->model_image,
                               .background = result->background_image };
    const db_status status =
        strong_fraction(context, experiment, data, rendered, &images, &result->after);
    if (status == DB_OK) db_dark_levels_add(data->image, result->background_image);
    result->image_scale = images.scale;
    result->reflections = images.reflection;
    result->reflection_count = images.reflection_count;
    result->mates = images.mates;
    return status;
}

/* Results of a single image: goodness of fit by place, shoeboxes, images. compared: gets the boxes that are only
 * compared. */
static db_status show(db_context *context, const db_fit_data *data, const db_stage_data *taken,
                      db_objective *objective, const uint8_t *shell, db_fit_result *compared,
                      db_fit_result *result) {
    DB_TRY(db_goodness_measure(context, objective, shell, DB_GOODNESS_AFTER, result));
    DB_TRY(db_distrusted_pixels_find(context, objective, result));
    DB_TRY(describe(context, data, taken, objective, &result->after, result));
    if (taken->tiles.count)
        DB_TRY(describe_tiles(context, data, taken, objective, DB_SHOEBOXES_BRIGHT, NULL, 1,
                              compared));
    db_goodness_shifts(result);
    return DB_OK;
}

/* Statistics of both models, errors, and results of a single image; compared: NULL: one of many shots, without
 * such results. shell: receives the shells of pixels; to be freed. */
static db_status compare(db_context *context, const db_experiment *start, const db_fit_data *data,
                         db_stage_data *taken, db_objective *objective, db_fit_result *compared,
                         db_fit_result *result, uint8_t **shell) {
    double refined[DB_FIT_MOST_PARAMETERS], loss = 0;
    const int shown = compared != NULL;
    for (size_t k = 0; k < objective->variables.count; k++)
        refined[k] = result->estimates.list[objective->variables.index[k]].value;
    DB_TRY(db_stage_data_adapt(taken, data, objective, refined, DB_OBJECTIVE_NORMAL));
    if (shown) DB_TRY(db_goodness_prepare(context, objective, result, shell));
    DB_TRY(describe_start(context, start, data, taken, *shell, result));
    DB_TRY(db_objective_evaluate(objective, refined, DB_OBJECTIVE_NORMAL));
    DB_TRY(shown ? show(context, data, taken, objective, *shell, compared, result)
                 : describe(context, data, taken, objective, &result->after, NULL));
    db_variables_add_priors(&objective->variables, refined, &loss, NULL, objective->normal);
    DB_TRY(db_errors_estimate(context, objective, result->after.chi2_reduced, result));
    if (!shown) return DB_OK;
    DB_TRY(db_held_distance_measure(context, data, taken, objective, result));
    DB_TRY(db_strained_lattice_widen(context, data, taken, objective, result));
    return taken->tiles.count
               ? show_refined(context, &objective->experiment, data, objective, result)
               : DB_OK;
}

static db_status compare_on_final_data(db_context *context, const db_experiment *start,
                                       const db_fit_data *data, const db_panel_placement *placement,
                                       db_fit_result *compared, db_fit_result *result) {
    const db_fit_settings *const settings = data->settings;
    const db_objective_options request = { .stages = DB_FIT_ALL_STAGES,
                                           .placement = placement,
                                           .target = settings->target };
    db_stage_data taken;
    DB_TRY(
        db_stage_data_take(context, &result->experiment, data, 0, 1, DB_SHOEBOXES_STRONG, &taken));
    db_objective objective;
    db_status status = taken.blocks.count
                           ? db_stage_data_objective(context, &result->experiment, data, &taken,
                                                     &request, &objective)
                           : db_fail(context, DB_ERROR_INPUT,
                                     "the refined model predicts none of the strong reflections");
    if (status == DB_OK) {
        uint8_t *shell = NULL;
        status = compare(context, start, data, &taken, &objective, compared, result, &shell);
        free(shell);
        db_objective_destroy(&objective);
    }
    db_stage_data_clear(&taken);
    return status;
}

/* Panels must not move the model by as many errors as a distance must not be off. */
static db_status judge_panels(db_context *context, const db_fit_data *data,
                              const db_observed_spots *spots, const db_evidence *evidence,
                              db_fit_result *result) {
    db_fit_verdict *const v = &result->verdict;
    db_displaced_panel rival;
    DB_TRY(db_margin_over_displaced(context, &result->experiment, data->settings, spots, evidence,
                                    &result->estimates, &rival));
    if (!db_panel_is_displaced(&rival, v->position_rms, v->test[DB_FIT_TEST_DISTANCE].most) ||
        rival.margin >= v->test[DB_FIT_TEST_MOVED].found)
        return DB_OK;
    db_verdict_test(
        v, DB_FIT_TEST_MOVED, rival.margin,
        "panel %d (from 0), shifted by %.1f, %.1f pixels (fast, slow) from where the "
        "geometry says, raises the log likelihood of the spots by %.1f, expected at "
        "most %.1f, and changes %s by %.1f standard errors: correct the geometry, or refine "
        "panels (refine.panel_groups)",
        rival.panel, rival.shift[0], rival.shift[1], -rival.margin,
        -v->test[DB_FIT_TEST_MOVED].least, rival.name, rival.errors);
    return DB_OK;
}

/* Judges the model by the places of spots; spots at no reflection may belong to another crystal. */
static db_status judge_spots(db_context *context, const db_experiment *start,
                             const db_fit_data *data, const db_observed_spots *spots,
                             db_fit_result *result) {
    const db_experiment *const model = &result->experiment;
    db_evidence evidence;
    DB_TRY(db_evidence_make(context, model, spots, &evidence));
    db_status status = db_verdict_of_places(context, model, start, data, spots, &evidence,
                                            result->model_image, &result->verdict);
    if (status == DB_OK) status = judge_panels(context, data, spots, &evidence, result);
    if (status == DB_OK) status = db_verdict_of_halves(context, &evidence, &result->verdict);
    if (status == DB_OK && result->verdict.test[DB_FIT_TEST_LATTICE].passed)
        status =
            db_other_lattice_look(context, model, start, data->settings, &evidence, spots, result);
    db_evidence_clear(&evidence);
    return status;
}

static db_status judge_places(db_context *context, const db_experiment *start,
                              const db_fit_data *data, db_fit_result *result) {
    db_observed_spots spots;
    DB_TRY(db_judged_spots_find(context, &result->experiment, data, &spots));
    const db_status status = judge_spots(context, start, data, &spots, result);
    db_observed_spots_clear(&spots);
    return status;
}

static db_status judge(db_context *context, const db_experiment *start, const db_fit_data *data,
                       const db_fit_result *compared, db_fit_result *result) {
    DB_TRY(judge_places(context, start, data, result));
    db_verdict_of_distance(!db_fit_has_moments(data->settings), result);
    if (data->settings->intensity == DB_FIT_FREE) {
        db_verdict_of_explained(result->before.strong_explained, result->after.strong_explained,
                                &result->verdict);
        db_verdict_of_light(compared->shoeboxes, compared->shoebox_count, &result->verdict);
        return DB_OK;
    }
    db_verdict_of_brightness(result->shoeboxes, result->shoebox_count, &result->verdict);
    return db_verdict_of_order(context, &result->experiment.structure_factors, compared->shoeboxes,
                               compared->shoebox_count, &result->verdict);
}

static db_status compare_and_judge(db_context *context, const db_experiment *start,
                                   const db_fit_data *data, const db_panel_placement *placement,
                                   db_fit_result *compared, db_fit_result *result) {
    DB_TRY(compare_on_final_data(context, start, data, placement, compared, result));
    if (db_fit_takes_tiles(data->settings)) return judge(context, start, data, compared, result);
    DB_TRY(strong_fraction(context, start, data, NULL, NULL, &result->before));
    DB_TRY(show_refined(context, &result->experiment, data, NULL, result));
    return judge(context, start, data, result, result);
}

db_status db_fit_conclude(db_context *context, const db_experiment *start, const db_fit_data *data,
                          const db_panel_placement *placement, db_fit_result *result) {
    const size_t pixels = (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels;
    result->model_image = malloc(pixels * sizeof *result->model_image);
    result->background_image = malloc(pixels * sizeof *result->background_image);
    db_fit_result *const compared = calloc(1, sizeof *compared); /* large: stacks are small */
    if (!result->model_image || !result->background_image || !compared) {
        free(compared);
        return db_fail_memory(context, "the model's image");
    }
    result->fast_pixels = data->image->fast_pixels;
    result->slow_pixels = data->image->slow_pixels;
    const db_status status = compare_and_judge(context, start, data, placement, compared, result);
    db_result_boxes_free(compared);
    free(compared);
    return status == DB_OK ? db_fit_warnings_make(context, result) : status;
}

db_status db_fit_conclude_shot(db_context *context, const db_experiment *start,
                               const db_fit_data *data, const db_panel_placement *placement,
                               db_fit_result *result) {
    return compare_on_final_data(context, start, data, placement, NULL, result);
}

void db_fit_result_clear(db_fit_result *r) {
    void *const lists[] = { r->distrusted,       r->history,     r->history_values,
                            r->estimates.memory, r->warnings,    (void *)r->advice,
                            r->starts,           r->trials,      r->model_image,
                            r->background_image, r->reflections, r->spot_pixels };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
    db_result_boxes_free(r);
    db_goodness_free(r);
    db_experiment_clear(&r->experiment);
    memset(r, 0, sizeof *r);
}
