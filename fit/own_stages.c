/* Own stages of a shot, and its pixels for a joint stage. */
#include "fit/own_stages.h"

#include "base/context_internal.h"
#include "fit/config/config_refine.h"
#include "fit/search/moment_stage.h"
#include "fit/search/driver.h"
#include "fit/search/equivalents.h"
#include "fit/search/starts.h"
#include "fit/shots/shot_fit.h"
#include "fit/verdict/conclude.h"
#include "fit/verdict/held_distance.h"
#include "fit/verdict/rivals.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/intensities/joint_intensities.h"
#include "fit/search/agreement.h"
#include "fit/shots/checkpoint_parts.h"
#include "fit/shots/joint.h"
#include "fit/shots/lattices.h"
#include "fit/shots/links.h"
#include "fit/shots/series_parts.h"
#include "fit/shots/shares.h"
#include "fit/shots/workers.h"
#include "fit/verdict/verdict.h"
#include "fit/verdict/verdict_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work on a shot. */
typedef struct work {
    db_shots *all;
    size_t shot;
    db_measured_image image;
    uint8_t *borrowed; /* the mask that came with the image; NULL: the image still has it */
    db_strong_pixels strong;
    db_predicted_spots predicted; /* predictions of the start; empty: unknown */
    db_fit_settings settings;
    db_refinement refinement;
    db_experiment tied; /* the start, with ties kept */
    db_fit_spots parts; /* of a series: reflections that the frame or a neighbour shows */
    int is_fatal;       /* 1: the failure ends the run, not only this shot */
} work;

static void end_refinement(work *w) {
    db_strong_pixels_clear(&w->strong);
    db_predicted_spots_clear(&w->predicted);
    db_experiment_clear(&w->tied);
    db_fit_course_clear(&w->refinement.course);
    db_panel_placement_clear(&w->refinement.placement);
    if (w->refinement.result) db_fit_result_clear(w->refinement.result);
    free(w->refinement.result);
    w->refinement = (db_refinement){ .context = NULL };
    db_fit_settings_clear(&w->settings);
}

static void clear_own_work(work *w) {
    if (w->borrowed) {
        free(w->image.mask);
        w->image.mask = w->borrowed;
    }
    db_shots_release(w->all, &w->image);
    end_refinement(w);
    db_fit_spots_clear(&w->parts);
    free(w);
}

/* Restores the model from the summary, which has all results of a stage that the next one needs. */
static db_status restore_model(work *w, db_context *context) {
    const db_shots *const all = w->all;
    const db_shot_summary *const summary = &all->summary[w->shot];
    db_refinement *const r = &w->refinement;
    db_fit_result *const result = r->result;
    db_crystal *const crystal = &result->experiment.crystal;
    memcpy(crystal->orientation, summary->orientation, sizeof crystal->orientation);
    const double *const value = db_shots_value(all, w->shot);
    for (size_t i = 0; i < all->parameters; i++)
        result->estimates.list[i].at_bound = db_shots_values(all, w->shot).at_bound[i];
    return db_shots_put(all, context, value, &result->experiment, &r->placement);
}

static void store_model(work *w) {
    const db_shots *const all = w->all;
    const db_fit_result *const result = w->refinement.result;
    const db_crystal *const crystal = &result->experiment.crystal;
    db_shot_summary *const summary = &all->summary[w->shot];
    memcpy(summary->orientation, crystal->orientation, sizeof summary->orientation);
    db_shots_get(all, &result->experiment, &w->refinement.placement, db_shots_value(all, w->shot));
    for (size_t i = 0; i < all->parameters; i++)
        db_shots_values(all, w->shot).at_bound[i] = result->estimates.list[i].at_bound;
}

/* Called after an evaluation of a shot's own stage, or of a trial (NULL); 1: the run is cancelled. */
static int evaluated(void *user, const db_fit_history *entry) {
    const db_shots *const all = user;
    if (all->source->in_full && entry)
        db_shots_report(all, &(db_fit_shots_event){ .kind = DB_SHOTS_EVALUATED,
                                                    .stage = entry->stage,
                                                    .entry = entry });
    return db_workers_cancelled(all);
}

/* The starting model of the shot; borrows. */
static db_experiment start_of(const work *w) {
    db_experiment start = w->all->state[w->shot].start;
    if (w->settings.intensity == DB_FIT_KNOWN)
        start.structure_factors = db_shots_amplitudes(w->all, w->shot);
    return start;
}

/* Lists hot pixels of the image as spots; pixel: their numbers. list: NULL: they are only counted. */
static size_t list_hot(const db_measured_image *image, db_observed_spot *list, size_t *pixel) {
    size_t count = 0, at = 0;
    for (size_t p = 0; p < db_measured_panels(image); p++)
        for (int slow = 0; slow < db_measured_rows(image, p); slow++)
            for (int fast = 0; fast < image->fast_pixels; fast++, at++) {
                if (image->mask[at] != DB_MASK_HOT) continue;
                if (list) {
                    list[count] =
                        (db_observed_spot){ .panel = p, .position = { fast + 0.5, slow + 0.5 } };
                    pixel[count] = at;
                }
                count++;
            }
    return count;
}

/* Trusts pixels that were found hot and that the lattice of a model has made: spots of a single pixel. The mask becomes the
 * work's own, since the image may be the caller's. */
static db_status trust_spots(work *w, db_context *context, const db_experiment *model, size_t hot,
                             size_t *trusted) {
    db_measured_image *const image = &w->image;
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const db_fit_data data = { image, &w->strong, &w->settings };
    db_observed_spots spots = { hot, calloc(hot, sizeof *spots.spot) };
    size_t *const pixel = calloc(hot, sizeof *pixel);
    unsigned char *const is_foreign = malloc(hot);
    uint8_t *const mask = malloc(pixels);
    db_status status =
        db_need_memory(context, spots.spot && pixel && is_foreign && mask, "the hot pixels");
    if (status == DB_OK) {
        memset(is_foreign, 1, hot);
        (void)list_hot(image, spots.spot, pixel);
        status = db_foreign_spots_find(context, model, &data, &spots, is_foreign);
    }
    if (status == DB_OK && !w->borrowed) {
        memcpy(mask, image->mask, pixels);
        w->borrowed = image->mask;
        image->mask = mask;
    } else {
        free(mask);
    }
    for (size_t i = 0; i < hot && status == DB_OK; i++) {
        if (is_foreign[i]) continue;
        image->mask[pixel[i]] = DB_MASK_TRUSTED;
        ++*trusted;
    }
    image->masked -= *trusted;
    db_observed_spots_clear(&spots);
    free(pixel);
    free(is_foreign);
    return status;
}

static db_status find_strong(work *w, db_context *context) {
    DB_TRY(db_strong_pixels_recall(context, &w->image, &w->settings, &w->all->state[w->shot].strong,
                                   &w->strong));
    return db_lattices_add_light(w->all, context, w->shot, &w->image, &w->strong);
}

/* Finds the strong pixels again if a model has made pixels that were found hot. which: name of the model. */
static db_status take_spots(work *w, db_context *context, const db_experiment *model,
                            const char *which) {
    const size_t hot = list_hot(&w->image, NULL, NULL);
    size_t trusted = 0;
    if (hot) DB_TRY(trust_spots(w, context, model, hot, &trusted));
    if (!trusted) return DB_OK;
    db_notice(context, "%zu of %zu hot pixels are at reflections of the %s model, and count",
              trusted, hot, which);
    db_strong_pixels_clear(&w->strong);
    return find_strong(w, context);
}

/* Strong pixels, those of spots of a single pixel, too. */
static db_status take_pixels(work *w, db_context *context) {
    const db_experiment start = start_of(w);
    DB_TRY(find_strong(w, context));
    return w->borrowed ? DB_OK : take_spots(w, context, &start, "starting");
}

static db_status begin_refinement(work *w, db_context *context) {
    const db_shots *const all = w->all;
    db_refinement *const r = &w->refinement;
    DB_TRY(db_shots_settings(all, context, w->shot, &w->settings));
    w->settings.one_of_series = db_series_shares(all);
    DB_TRY(
        db_shoebox_size_predict(context, &all->state[w->shot].start, &w->settings, &w->predicted));
    all->state[w->shot].shoebox_half_width = w->settings.shoebox_half_width;
    DB_TRY(take_pixels(w, context));
    r->context = context;
    r->check = db_verdict_of_lattice;
    r->find_foreign = db_foreign_spots_find;
    r->weigh_spots = db_margin_of_spots;
    r->course.progress = evaluated;
    r->course.user = w->all;
    r->data = (db_fit_data){ &w->image, &w->strong, &w->settings };
    r->own = &w->settings;
    r->result = calloc(1, sizeof *r->result);
    if (!r->result) return db_fail_memory(context, "the result of a shot");
    const db_experiment start = start_of(w);
    DB_TRY(db_refinement_begin(r, &start));
    DB_TRY(db_experiment_copy(context, &r->result->experiment, &w->tied));
    if (all->summary[w->shot].stage > 0 || all->summary[w->shot].again)
        return restore_model(w, context);
    store_model(w); /* the orientation may have changed */
    return DB_OK;
}

static const char BY_ITSELF[] = "after the stages of the single shot: ",
                  TOGETHER[] = "after stages of all shots: ";
_Static_assert(sizeof BY_ITSELF + sizeof((db_fit_verdict *)NULL)->reason <= DB_FIT_REASON_SIZE + 1,
               "a shot keeps the whole reason of a verdict");

/* Is a quantity of the shot held by a bound of the user? Other quantities then only fit this value. */
static int is_held(const db_fit_settings *settings, const db_fit_estimates *found,
                   const unsigned char *shared, char text[DB_BOUND_SIZE]) {
    for (size_t i = 0; i < found->count; i++)
        if (!(shared && shared[i]) &&
            db_bound_holds(settings, &settings->parameters[i], found->list[i].at_bound, text))
            return 1;
    return 0;
}

/* Judges the model. Wrong shared parameters may move spots off their reflections, but not to random places. */
static db_status judge_model(work *w, db_context *context, db_judgement how,
                             const db_shot_panels *panels, char *reason, db_fit_verdict *verdict) {
    const db_refinement *const r = &w->refinement;
    db_centrings *const centrings = &w->all->summary[w->shot].centrings;
    db_verdict_forget(verdict);
    *centrings = (db_centrings){ .named = w->settings.centring };
    *reason = '\0';
    if (how != DB_JUDGE_START &&
        is_held(&w->settings, &r->result->estimates, w->all->shared, reason))
        return DB_OK;
    DB_TRY(db_verdict_of_shot(context, &r->result->experiment, &r->data, how, panels,
                              how == DB_JUDGE_SHOT ? centrings : NULL, verdict));
    if (!verdict->usable) memcpy(reason, verdict->reason, sizeof verdict->reason);
    return DB_OK;
}

/* Judges the model of a shot's own stages. */
static db_status check_model(work *w, db_context *context, db_judgement how) {
    char reason[sizeof((db_fit_verdict *)NULL)->reason];
    db_fit_verdict verdict;
    DB_TRY(judge_model(w, context, how, NULL, reason, &verdict));
    return *reason ? db_fail(context, DB_ERROR_INPUT, "%s%s", BY_ITSELF, reason) : DB_OK;
}

/* Runs stages from the best of several starts. Of a single image its model tells which pixels that were found hot it has made:
 * the given start may have been too bad to tell. (Later segments of many shots begin with what the given start tells.) */
static db_status run_starts(work *w, const db_experiment *start, int to, db_stage_result *end) {
    db_refinement *const r = &w->refinement;
    unsigned *const asked = malloc((w->settings.parameter_count + 1) * sizeof *asked);
    if (!asked) return db_fail_memory(r->context, "the stages of several starts");
    for (size_t i = 0; i < w->settings.parameter_count; i++)
        asked[i] = w->settings.parameters[i].stages;
    db_status status = db_starts_run(r, start, asked, to, end);
    if (status == DB_OK && w->all->source->in_full && r->result->status != DB_ERROR_CANCELLED)
        status = take_spots(w, r->context, &r->result->experiment, "refined");
    free(asked);
    return status;
}

/* Runs stages up to `to`, some of which may be done. With several starts the given one may be bad. */
static db_status run_stages(work *w, int to, db_stage_result *end) {
    db_refinement *const r = &w->refinement;
    const int from = w->all->summary[w->shot].stage,
              tries = w->settings.starts.count > 1 && to > 0 && from == 0;
    const db_experiment start = start_of(w);
    if (from == 0 && !tries) {
        r->predicted = w->predicted.spot ? &w->predicted : NULL;
        DB_TRY(db_refinement_refuse_blank(r));
        r->predicted = NULL;
    }
    db_predicted_spots_clear(&w->predicted);
    return tries       ? run_starts(w, &start, to, end)
           : from < to ? db_stages_run(r, from, to, end)
                       : DB_OK;
}

/* Is the shot at its end with this segment, without a joint stage? */
static int is_alone(const work *w, const db_segment *segment) {
    return segment->joint < 0 && segment->to == (int)w->all->settings.stage_count &&
           !w->all->options->array_tasks;
}

/* Blocks may be laid otherwise than the search for the orientation could know. Then the shot begins once more. */
static db_status lay_blocks(work *w, db_context *context, int to, int *anew) {
    db_shots *const all = w->all;
    db_shot_summary *const summary = &all->summary[w->shot];
    double indices[9];
    *anew = 0;
    if (!all->state[w->shot].orientation_found || all->options->series || summary->is_laid ||
        to == 0)
        return DB_OK;
    summary->is_laid = 1;
    DB_TRY(db_equivalents_find(&w->refinement, to - 1, indices, anew));
    if (!*anew) return DB_OK;
    DB_TRY(db_shots_lay(all, context, w->shot, indices));
    end_refinement(w);
    return begin_refinement(w, context);
}

/* Runs stages up to `to`, and once more if blocks are to be laid otherwise. */
static db_status run_laid_stages(work *w, db_context *context, int to, db_stage_result *end) {
    int anew = 0;
    DB_TRY(run_stages(w, to, end));
    if (end->end == DB_STAGE_CANCELLED || end->end == DB_STAGE_DIVERGED ||
        end->end == DB_STAGE_REFUSED)
        return DB_OK;
    DB_TRY(lay_blocks(w, context, to, &anew));
    return anew ? run_stages(w, to, end) : DB_OK;
}

/* Runs the remaining stages. */
static db_status run_own_stages(work *w, db_context *context, const db_segment *segment) {
    db_shot_summary *const summary = &w->all->summary[w->shot];
    db_stage_result end;
    if (summary->stage >= segment->to) return run_stages(w, segment->to, &end);
    DB_TRY(run_laid_stages(w, context, segment->to, &end));
    snprintf(summary->reason, sizeof summary->reason, "%s", end.reason);
    if (end.end == DB_STAGE_CANCELLED)
        return db_fail(context, DB_ERROR_CANCELLED, "%s", end.reason);
    if (end.end == DB_STAGE_DIVERGED || end.end == DB_STAGE_REFUSED || end.end == DB_STAGE_AT_BOUND)
        return db_fail(context, DB_ERROR_INPUT, "%s", end.reason);
    summary->stage = segment->to;
    store_model(w);
    return is_alone(w, segment) ? DB_OK : check_model(w, context, DB_JUDGE_START);
}

/* Of a series: selects the parts that the frame and its neighbours showed in the last stage, unless the user has
 * listed reflections. */
static db_status choose_parts(work *w, db_context *context) {
    if (!db_series_shares(w->all) || w->settings.spots) return DB_OK;
    DB_TRY(db_series_parts_of(w->all, context, w->shot, &w->parts));
    if (!w->parts.count) return DB_OK;
    w->settings.spots = &w->parts;
    w->settings.max_shoeboxes *= 3; /* a reflection has parts on three frames */
    return DB_OK;
}

/* Error of the shape of a spot for joint intensities, relative to its expected counts. Sub-pixels change its peak
 * by a tenth of this (fit/objective/stage_data.c), and do not change its sum. */
static const double SHAPE_ERROR = 0.05;

/* Strongest shoeboxes of a shot in joint stages before the stage of joint intensities, which takes all. */
enum { MOST_BEFORE = 200 };

/* Takes the pixels of a joint stage, and makes the objective at its start. */
static db_status open_stage(work *w, db_context *context, int stage, db_stage_data *taken,
                            db_objective *objective) {
    db_shots *const all = w->all;
    if (!db_fit_is_intensity_stage(&all->settings, stage)) {
        const int most = w->settings.max_shoeboxes;
        DB_TRY(choose_parts(w, context));
        if (all->settings.joint.wanted && most > MOST_BEFORE)
            w->settings.max_shoeboxes = MOST_BEFORE;
        const db_status opened =
            db_refinement_open_stage(&w->refinement, stage, DB_OBJECTIVE_LOSS, taken, objective);
        if (all->settings.joint.wanted) w->settings.max_shoeboxes = most;
        return opened;
    }
    memset(taken, 0, sizeof *taken);
    taken->blur = 1;
    taken->model_error = SHAPE_ERROR;
    DB_TRY(db_intensity_boxes_take(context, &w->refinement.result->experiment, &w->refinement.data,
                                   &all->asu.reflections, &taken->boxes));
    taken->blocks = db_shoeboxes_blocks(&taken->boxes);
    db_status status = db_stage_data_choose_rendering(context, &w->refinement.result->experiment,
                                                      &w->refinement.data, taken);
    if (status == DB_OK)
        status = db_refinement_make_objective(&w->refinement, stage, taken, objective);
    if (status != DB_OK) db_stage_data_clear(taken);
    return status;
}

/* Puts moments of spots for a joint stage into the store, as store_pixels does with pixels. */
static db_status store_moments(work *w, db_context *context, int stage) {
    db_shots *const all = w->all;
    db_refinement *const r = &w->refinement;
    db_moments moments;
    db_variables v;
    DB_TRY(db_variables_make(context, &w->settings, 1u << stage, &r->given, &r->result->experiment,
                             &r->placement, &v));
    db_status status = db_joint_make_room(all, context, w->shot, stage);
    if (status == DB_OK) status = db_moment_stage_take(r, stage, &v, &moments);
    if (status == DB_OK) {
        (void)db_joint_links_begin(all, w->shot, stage, &v, r->data.strong->spots);
        all->state[w->shot].degrees = all->summary[w->shot].degrees = (double)moments.count;
        status = db_shot_moments_write(all, context, w->shot, &moments);
        w->is_fatal = status != DB_OK;
        db_moments_clear(&moments);
    }
    db_variables_clear(&v);
    return status;
}

/* Puts the pixels of a joint stage into the store, and sets the start of the shot's local
 * quantities. */
static db_status store_pixels(work *w, db_context *context, int stage) {
    db_shots *const all = w->all;
    db_shot_state *const state = &all->state[w->shot];
    db_stage_data taken;
    db_objective objective;
    w->refinement.scaled = all->summary[w->shot].opened == stage + 1;
    DB_TRY(db_joint_make_room(all, context, w->shot, stage));
    DB_TRY(open_stage(w, context, stage, &taken, &objective));
    all->summary[w->shot].opened = stage + 1;
    /* The scale may have changed. */
    store_model(w);
    state->degrees = all->summary[w->shot].degrees =
        objective.degrees + (double)db_joint_links_begin(all, w->shot, stage, &objective.variables,
                                                         w->refinement.data.strong->spots);
    db_status status = db_store_write(context, &all->store, &taken.blocks,
                                      taken.boxes.count ? &taken.boxes : NULL, &state->place);
    if (status == DB_OK && db_series_shares(all))
        status = db_shown_note(context, &taken.boxes, state);
    w->is_fatal = status != DB_OK;
    db_objective_destroy(&objective);
    db_stage_data_clear(&taken);
    return status;
}

static db_status store_data(work *w, db_context *context, int stage) {
    return w->settings.stages[stage].kind == DB_STAGE_MOMENTS ? store_moments(w, context, stage)
                                                              : store_pixels(w, context, stage);
}

/* After the last stage: estimates errors and statistics of the shot. */
static db_status conclude_shot_alone(work *w, db_context *context) {
    db_shots *const all = w->all;
    db_shot_summary *const summary = &all->summary[w->shot];
    db_fit_result *const result = w->refinement.result;
    db_refinement_finish(&w->refinement);
    DB_TRY((all->source->in_full ? db_fit_conclude : db_fit_conclude_shot)(
        context, &w->tied, &w->refinement.data, &w->refinement.placement, result));
    summary->fit[0] = result->before;
    summary->fit[1] = result->after;
    if (result->after.chi2_reduced > 0)
        summary->degrees = result->after.chi2 / result->after.chi2_reduced;
    for (size_t i = 0; i < all->parameters; i++)
        db_shots_values(all, w->shot).error[i] = result->estimates.list[i].error;
    return DB_OK;
}

/* If the image has a second lattice, this is the likely cause why a model failed. */
static void name_other_lattice(db_fit_result *result) {
    static const char cause[] =
        "; a second lattice is on the image (model.find_orientation: {lattices: 2})";
    const size_t length = strlen(result->reason);
    if (!result->verdict.usable && result->other_lattice.indexed &&
        length + sizeof cause <= sizeof result->reason)
        memcpy(result->reason + length, cause, sizeof cause);
}

/* A minimum that fails a test of the verdict, or is at a bound of an early stage, does not count as converged. */
static void apply_verdict(const db_fit_settings *settings, db_fit_result *result) {
    if (result->status != DB_OK) return;
    if (is_held(settings, &result->estimates, NULL, result->reason))
        result->status = DB_NOT_CONVERGED;
    if (result->status != DB_OK || result->verdict.usable) return;
    result->status = DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason, "a minimum was found, but %.448s",
             result->verdict.reason);
}

/* Refines, and compares with the data. */
static db_status refine_in_full(work *w, db_context *context) {
    const double begun = db_seconds();
    db_stage_result end;
    DB_TRY(run_laid_stages(w, context, (int)w->settings.stage_count, &end));
    w->refinement.result->refining_seconds = db_seconds() - begun;
    store_model(w);
    return conclude_shot_alone(w, context);
}

/* Do spots contradict a distance of which nobody has said that it is known, and nothing else? */
static int is_distance_wrong(const work *w) {
    const db_fit_result *const result = w->refinement.result;
    int others = 0;
    for (int k = 0; k < DB_FIT_TESTS; k++)
        others += k != DB_FIT_TEST_DISTANCE && !result->verdict.test[k].passed;
    return result->status == DB_OK && !result->verdict.test[DB_FIT_TEST_DISTANCE].passed &&
           !others && db_held_distance_is_untested(&w->settings);
}

/* Refines once more, now with the distance, which the data have earned after all. */
static db_status free_distance(work *w, db_context *context) {
    const db_fit_result *const held = w->refinement.result;
    db_notice(context,
              "distance: spots contradict %.6g mm and fit %.6g +- %.2g mm, so all is refined "
              "again, the distance, too",
              held->experiment.detector.distance,
              held->experiment.detector.distance + held->distance_step, held->distance_error);
    end_refinement(w);
    DB_TRY(begin_refinement(w, context));
    const db_fit_parameter *const distance = db_fit_settings_find(&w->settings, DB_DISTANCE);
    size_t first = 0;
    while (!db_fit_parameter_in_stage(distance, first)) first++;
    w->settings.stages[first].earned = 0;
    return refine_in_full(w, context);
}

/* Lists the pixels found hot that the work trusts. */
static db_status list_spot_pixels(const work *w, db_context *context, db_fit_result *result) {
    size_t count = 0;
    for (int pass = 0; pass < 2 && w->borrowed; pass++) {
        count = 0;
        for (size_t i = 0; i < db_measured_pixels(&w->image); i++) {
            if (w->borrowed[i] == w->image.mask[i]) continue;
            if (pass) result->spot_pixels[count] = i;
            count++;
        }
        if (!pass) result->spot_pixels = malloc((count + 1) * sizeof *result->spot_pixels);
        if (!result->spot_pixels) return db_fail_memory(context, "the spots of a single pixel");
    }
    result->spot_pixel_count = count;
    return DB_OK;
}

/* Completes the result of a shot in full, whether it may be used or not, and hands it over. */
static db_status do_in_full(work *w, db_context *context) {
    db_refinement *const r = &w->refinement;
    DB_TRY(refine_in_full(w, context));
    if (is_distance_wrong(w)) DB_TRY(free_distance(w, context));
    db_fit_result *const result = r->result;
    DB_TRY(list_spot_pixels(w, context, result));
    apply_verdict(&w->settings, result);
    name_other_lattice(result);
    snprintf(w->all->summary[w->shot].reason, DB_FIT_REASON_SIZE, "%s", result->reason);
    w->all->evaluations += r->course.count;
    result->evaluations = (int)r->course.count;
    result->history = r->course.history;
    result->history_values = r->course.values;
    result->history_count = r->course.count;
    r->course = (db_fit_course){ .count = 0 };
    result->used = 1;
    w->all->in_full[w->shot] = *result;
    memset(result, 0, sizeof *result);
    return DB_OK;
}

static db_status do_segment(work *w, db_context *context, const void *what) {
    const db_segment *const segment = what;
    DB_TRY(begin_refinement(w, context));
    if (w->all->source->in_full) return do_in_full(w, context);
    DB_TRY(run_own_stages(w, context, segment));
    if (segment->joint >= 0) DB_TRY(store_data(w, context, segment->joint));
    if (is_alone(w, segment)) {
        DB_TRY(conclude_shot_alone(w, context));
        DB_TRY(check_model(w, context, DB_JUDGE_SHOT));
    }
#pragma omp atomic update
    w->all->evaluations += w->refinement.course.count;
    return DB_OK;
}

/* Tests that only many spots can confirm. */
static const db_fit_test_kind by_many[3] = { DB_FIT_TEST_LATTICE, DB_FIT_TEST_ROWS,
                                             DB_FIT_TEST_SMALLER };

/* Notes the margins of a frame, which are judged together with its neighbours' margins. */
static void note_margins(const db_fit_verdict *verdict, int is_frame, db_shot_summary *summary) {
    int many = 0, all = 0;
    summary->judged = verdict->spots;
    for (int k = 0; k < DB_FIT_TESTS; k++) all += !verdict->test[k].passed;
    for (int k = 0; k < 3; k++) {
        const db_fit_test *const t = &verdict->test[by_many[k]];
        summary->margin[k] = isfinite(t->found) ? t->found : 0;
        many += !t->passed;
    }
    if (is_frame && all > 0 && many == all && verdict->spots < DB_ENOUGH_JUDGED)
        summary->wrong = DB_FRAME_UNDECIDED;
}

/* What a shot is asked, and the sum to which it adds; NULL: none. */
typedef struct shot_judging {
    const db_judging *as;
    double *sum;
} shot_judging;

/* Lists the reflections that a frame shows by the present model: one with other widths, as the stage began with, may have left
 * out spots between neighbours that are none. */
static db_status list_parts_again(work *w, db_context *context) {
    db_stage_data taken;
    DB_TRY(db_stage_data_take(context, &w->refinement.result->experiment, &w->refinement.data, 0, 1,
                              DB_SHOEBOXES_STRONG, &taken));
    const db_status status = db_shown_note_again(context, &taken.boxes, &w->all->state[w->shot]);
    w->is_fatal = status != DB_OK;
    db_stage_data_clear(&taken);
    return status;
}

/* Judges the result of a joint stage by the spots of a shot. */
static db_status judge_together(work *w, db_context *context, const void *what) {
    const shot_judging *const judging = what;
    const db_shot_panels panels = { &judging->as->panels, w->all->shared,
                                    db_shots_values(w->all, w->shot).error, judging->sum };
    db_shot_summary *const summary = &w->all->summary[w->shot];
    char reason[sizeof((db_fit_verdict *)NULL)->reason];
    DB_TRY(begin_refinement(w, context));
    db_fit_verdict verdict;
    DB_TRY(
        judge_model(w, context, judging->as->how, judging->sum ? &panels : NULL, reason, &verdict));
    summary->wrong = *reason ? DB_SHOT_WRONG : DB_SHOT_RIGHT;
    note_margins(&verdict, w->all->options->series, summary);
    if (summary->wrong) snprintf(summary->reason, sizeof summary->reason, "%s%s", TOGETHER, reason);
    return judging->as->lists_parts && !w->settings.spots ? list_parts_again(w, context) : DB_OK;
}

/* Works on a shot that can be read; excludes it after a failure. */
static db_status work_on(db_shots *all, db_context *context, size_t shot,
                         db_status (*task)(work *, db_context *, const void *), const void *what) {
    work *const w = calloc(1, sizeof *w);
    if (!w) return db_fail_memory(context, "the work on a shot");
    w->all = all;
    w->shot = shot;
    db_status status = db_shots_load(all, context, shot, &w->image);
    if (status == DB_OK && all->summary[shot].used) {
        status = task(w, context, what);
        if (status != DB_OK && !w->is_fatal)
            status = db_shots_exclude(all, context, shot, status, NULL);
    }
    clear_own_work(w);
    return status;
}

db_status db_judge_work(db_shots *all, db_context *context, size_t shot, void *user, double *sum) {
    const shot_judging judging = { user, sum };
    return work_on(all, context, shot, judge_together, &judging);
}

db_status db_segment_work(db_shots *all, db_context *context, size_t shot, void *user,
                          double *sum) {
    const db_segment *const segment = user;
    const db_status status = work_on(all, context, shot, do_segment, segment);
    (void)sum;
    return status == DB_OK && segment->to > segment->from ? db_checkpoint_note(all, context, shot)
                                                          : status;
}
