/* A refinement of a list of shots, one or many, from start to end. */
#include "fit/run.h"

#include "base/context_internal.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"
#include "fit/config/orientation.h"
#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/restraint.h"
#include "fit/result/estimates.h"
#include "fit/search/check_settings.h"
#include "fit/search/driver.h"
#include "fit/shots/checkpoint.h"
#include "fit/shots/checkpoint_parts.h"
#include "fit/shots/first_frame.h"
#include "fit/shots/joint.h"
#include "fit/shots/lattices.h"
#include "fit/shots/outliers.h"
#include "fit/own_stages.h"
#include "fit/verdict/conclude.h"
#include "fit/verdict/held_distance.h"
#include "fit/verdict/verdict.h"
#include "fit/verdict/warnings.h"
#include "fit/shots/records.h"
#include "fit/shots/series.h"
#include "fit/shots/series_parts.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"
#include "fit/verdict/verdict_tests.h"

#include <dualbragg/expert/fit_configurations.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of consecutive shots with a common sum. Depends only on the task, so sums are always added in the same
 * order. */
static size_t chunk_size(const db_shots *all) {
    enum { MOST_CHUNKS = 65536 };
    /* Joint intensities have long sums, so few chunks (bench/fit/reduction.py has the same numbers). */
    enum { SHOTS_OF_CHUNK = 16, FEWEST_LONG = 64, MOST_LONG = 1024 };
    const size_t parts = all->count / SHOTS_OF_CHUNK, few = parts < FEWEST_LONG ? FEWEST_LONG
                                                            : parts > MOST_LONG ? MOST_LONG
                                                                                : parts;
    const size_t most = all->settings.joint.wanted ? few : MOST_CHUNKS;
    return (all->count + most - 1) / most;
}

static db_status make_room(db_shots *all) {
    all->state = calloc(all->count, sizeof *all->state);
    all->summary = calloc(all->count, sizeof *all->summary);
    all->numbers = calloc(all->count * db_shots_numbers(all), sizeof *all->numbers);
    if (!all->state || !all->summary || !all->numbers)
        return db_fail_memory(all->context, "the list of shots");
    return DB_OK; /* the memory of other processes' shots is not touched */
}

/* Lists the reflections of joint intensities, by the cell and detector of a start. */
static db_status list_reflections(db_shots *all, const db_experiment *start) {
    const db_fit_settings *const settings = &all->settings;
    double dmin = isnan(settings->joint.dmin) ? settings->dmin : settings->joint.dmin;
    if (!settings->joint.wanted) return DB_OK;
    if (!(dmin > 0)) DB_TRY(db_intensity_rim(all->context, start, &dmin));
    DB_TRY(db_asu_list_make(all->context, start->crystal.cell, settings->amplitude_group, dmin,
                            settings->joint.anomalous, &all->asu.reflections));
    return settings->joint.reference
               ? db_intensity_reference_make(all->context, &all->asu.reflections,
                                             settings->joint.reference, &all->asu.reference)
               : DB_OK;
}

/* Starts shared parameters with the values of the first readable shot. */
static db_status start_common(db_shots *all) {
    db_status status = DB_ERROR_INPUT;
    for (size_t i = 0; i < all->count; i++) {
        db_fit_settings settings;
        db_measured_image image = { 0 };
        db_experiment start = { 0 };
        status = db_fit_settings_copy(all->context, &all->settings, &settings);
        if (status == DB_OK)
            status = db_shots_read(all, all->context, i, &image, &start, &settings);
        if (status == DB_OK) db_modes_leave_zero(&settings, &start);
        const db_status listed = status == DB_OK ? list_reflections(all, &start) : DB_OK;
        if (listed != DB_OK) status = listed;
        for (size_t k = 0; k < all->parameters && status == DB_OK; k++) {
            if (!all->shared[k]) continue;
            const db_fit_parameter *const p = &settings.parameters[k];
            /* Motions of groups begin at 0; followers are set below. */
            all->common.value[k] = p->group >= 0 ? 0 : db_parameter_get(&start, p->parameter);
            all->settings.parameters[k].lower = p->lower;
            all->settings.parameters[k].upper = p->upper;
        }
        if (status == DB_OK) db_shots_begin_crystal(all, i, &start);
        all->plate.panels = start.detector.panel_count;
        all->plate.pixel_size = all->plate.panels ? start.detector.panels[0].pixel_size[0] : 0;
        db_fit_settings_clear(&settings);
        db_shots_release(all, &image);
        if (status == DB_OK) db_shots_keep_amplitudes(all, &start); /* in any thread that reads */
        db_experiment_clear(&start);
        /* a wrong configuration or list of reflections is wrong for all shots */
        if (status == DB_OK || status == DB_ERROR_USAGE || status == DB_ERROR_MEMORY ||
            listed != DB_OK)
            break;
    }
    db_shots_tie_common(all);
    memcpy(all->common.start, all->common.value, sizeof all->common.start);
    return status;
}

/* Reads the starting values of the crystal of a shot. */
static db_status look_at_crystal(db_shots *all, size_t shot) {
    db_fit_settings settings;
    db_measured_image image = { 0 };
    db_experiment start = { 0 };
    DB_TRY(db_fit_settings_copy(all->context, &all->settings, &settings));
    const db_status status = db_shots_read(all, all->context, shot, &image, &start, &settings);
    if (status == DB_OK) {
        db_shots_begin_crystal(all, shot, &start);
        db_shots_keep_amplitudes(all, &start);
    }
    db_fit_settings_clear(&settings);
    db_shots_release(all, &image);
    db_experiment_clear(&start);
    return status == DB_ERROR_MEMORY || status == DB_ERROR_CANCELLED ? status : DB_OK;
}

/* Starts shared parameters, and each crystal of a series, by its first readable frame. */
static db_status start_all(db_shots *all) {
    DB_TRY(start_common(all));
    for (size_t c = 0; c < all->frames.crystals; c++) {
        const db_series_crystal *const one = &all->frames.crystal[c];
        for (size_t i = one->first; i < one->first + one->count && !one->is_known; i++)
            DB_TRY(look_at_crystal(all, i));
    }
    return DB_OK;
}

static void report_done(const db_shots *all, const db_segment *segment) {
    const db_fit_shots_event event = { .kind = DB_SHOTS_DONE,
                                       .stage = segment->from,
                                       .done = all->count,
                                       .count = all->count,
                                       .used = all->used,
                                       .refined = segment->to > segment->from };
    db_shots_report(all, &event);
}

/* Runs shots' own stages. Each result is kept at once, so that an interrupted run loses little. */
static db_status run_segment(db_shots *all, const db_segment *segment) {
    const int refines = segment->to > segment->from;
    const char *const what = refines ? "refining shots by themselves" : "reading shots";
    if (refines) DB_TRY(db_checkpoint_begin(all));
    DB_TRY(db_workers_each(all, what, segment->from, db_segment_work, (void *)(uintptr_t)segment));
    DB_TRY(db_records_collect(all));
    db_shots_report_excluded(all);
    report_done(all, segment);
    return DB_OK;
}

/* Says which panel does not stand where the geometry says, as for a still (fit/verdict/conclude.c), or if shots are wrong. */
static db_status tell_displaced(db_shots *all, const db_panel_equations *equations,
                                const double *sum, const db_fit_estimates *estimates, int wrong) {
    db_fit_verdict limits;
    db_displaced_panel rival;
    double place = 0;
    DB_TRY(db_panel_equations_solve(all->context, equations, sum, estimates, &rival, &place));
    db_verdict_forget(&limits);
    if (!db_panel_is_displaced(&rival, place,
                               wrong ? -1 : limits.test[DB_FIT_TEST_DISTANCE].most) ||
        !(rival.margin < limits.test[DB_FIT_TEST_MOVED].least))
        return DB_OK;
    snprintf(all->plate.displaced, sizeof all->plate.displaced,
             "panel %d (from 0), shifted by %.1f, %.1f pixels (fast, slow) from where the geometry "
             "says, raises the log likelihood of all shots' spots by %.1f, expected at most %.1f, "
             "and changes %s by %.1f standard errors: correct the geometry, or refine panels "
             "(refine.panel_groups)",
             rival.panel, rival.shift[0], rival.shift[1], -rival.margin,
             -limits.test[DB_FIT_TEST_MOVED].least, rival.name, rival.errors);
    return DB_OK;
}

/* Judges the result of a joint stage by the spots of each shot; the last one also by what all shots ask for of panels.
 * sum: room for these equations. */
static db_status judge_by_spots(db_shots *all, int stage, db_judging *judging,
                                const db_fit_estimates *estimates, double *sum,
                                db_wrong_shots *wrong) {
    const int is_last = judging->how == DB_JUDGE_SHOT;
    DB_TRY(judging->panels.size ? db_workers_sum(all, "verdict", stage, db_judge_work, judging,
                                                 judging->panels.size, sum)
                                : db_workers_each(all, "verdict", stage, db_judge_work, judging));
    DB_TRY(db_records_collect(all));
    DB_TRY(db_shots_exclude_wrong(all, is_last, wrong));
    if (!judging->panels.size) return DB_OK;
    DB_TRY(db_workers_common_status(
        all, all->team.rank == 0
                 ? tell_displaced(all, &judging->panels, sum, estimates, wrong->count > 0)
                 : DB_OK));
    return db_team_broadcast(&all->team, all->context, all->plate.displaced,
                             sizeof all->plate.displaced);
}

static db_status judge_shots(db_shots *all, int stage, int is_last,
                             const db_fit_shots_result *result, db_wrong_shots *wrong) {
    db_judging judging = { .how = is_last ? DB_JUDGE_SHOT : DB_JUDGE_SHARING,
                           .lists_parts = !is_last && db_series_shares(all) &&
                                          all->settings.stages[stage].kind == DB_STAGE_PIXELS };
    if (is_last)
        judging.panels =
            db_panel_equations_of(all->plate.panels, all->plate.pixel_size, all->parameters);
    double *const sum = malloc((judging.panels.size + 1) * sizeof *sum);
    db_status status = db_workers_need_memory(all, sum, "displaced panels");
    if (status == DB_OK)
        status = judge_by_spots(all, stage, &judging, &result->estimates, sum, wrong);
    free(sum);
    return status;
}

/* A crystal of which no frame is in use is not there, or its model is wrong. */
static void judge_crystals(const db_shots *all, db_fit_shots_result *result) {
    for (size_t c = 0;
         c < all->frames.crystals && all->frames.crystals > 1 && result->status == DB_OK; c++) {
        const db_series_crystal *const one = &all->frames.crystal[c];
        size_t used = 0;
        for (size_t s = one->first; s < one->first + one->count; s++)
            used += (size_t)all->summary[s].used;
        if (used) continue;
        result->status = DB_NOT_CONVERGED;
        snprintf(result->reason, sizeof result->reason,
                 "a minimum was found, but all %zu frames of crystal %zu were excluded; the first "
                 "is %s, %.256s",
                 one->count, c + 1, all->source->name(all->source->user, one->first),
                 all->summary[one->first].reason);
    }
}

/* A minimum with wrong shots, or with a shared quantity at a bound, does not count as converged. */
static void apply_verdicts(const db_shots *all, const db_wrong_shots *wrong,
                           db_fit_shots_result *result) {
    const db_fit_settings *const settings = &all->settings;
    for (size_t i = 0; i < all->parameters && result->status == DB_OK; i++)
        if (all->shared[i] && db_bound_holds(settings, &settings->parameters[i],
                                             all->common.at_bound[i], result->reason))
            result->status = DB_NOT_CONVERGED;
    judge_crystals(all, result);
    if (result->status != DB_OK || !(wrong->count || *all->frames.turns || *all->plate.displaced))
        return;
    result->status = DB_NOT_CONVERGED;
    if (!wrong->count || *all->plate.displaced) {
        snprintf(result->reason, sizeof result->reason, "a minimum was found, but %.480s",
                 *all->plate.displaced ? all->plate.displaced : all->frames.turns);
        return;
    }
    char reason[DB_FIT_REASON_SIZE];
    db_shots_reason(all, wrong->first, reason);
    snprintf(result->reason, sizeof result->reason,
             "a minimum was found, but %zu of %zu shots are wrong; the first is %s, %.256s",
             wrong->count, all->used, all->source->name(all->source->user, wrong->first), reason);
}

/* Takes the end of a stage; a stage that was left out (without a reason) keeps the end of the one before. */
static void take_end(const db_shots *all, int stage, const db_stage_result *end,
                     db_fit_shots_result *result) {
    const size_t length = strlen(result->reason);
    if (!*end->reason) {
        if (all->team.rank == 0 && stage + 1 < (int)all->settings.stage_count)
            db_notice(all->context,
                      "stage %s is left out: at its start the misfit exceeds the noise",
                      all->settings.stages[stage].name);
        snprintf(result->reason + length, sizeof result->reason - length,
                 "; stage %s is left out: the misfit exceeds the noise",
                 all->settings.stages[stage].name);
        return;
    }
    result->status = end->end == DB_STAGE_CONVERGED ? DB_OK : DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason, "%s", end->reason);
}

/* The first joint stage tells more of the shared quantities than single shots knew, so shots that were excluded begin once
 * more: next to a wrong detector they may have ended in a false minimum. *given: 1 if there are any. All processes call it. */
static db_status begin_again(db_shots *all, int stage, int *given) {
    const size_t used = all->used;
    if (!db_stage_lets_begin_again(all, stage)) return DB_OK;
    for (size_t i = 0; i < all->count; i++)
        if (db_shots_own(all, i)) db_shots_begin_again(all, i);
    DB_TRY(db_records_collect(all));
    *given = all->used > used;
    return DB_OK;
}

/* Between segments: keeps what is known, and forgets the pixels and the light of the last one. All processes call it. */
static db_status begin_anew(db_shots *all) {
    DB_TRY(db_checkpoint_keep(all, NULL));
    return db_workers_common_status(all, db_store_empty(all->context, &all->store));
}

/* *next: gets the stage that follows. */
static db_status run_joint(db_shots *all, int stage, int *next, db_fit_shots_result *result) {
    int again = 0, repeat = 0;
    int last = stage + 1 == (int)all->settings.stage_count;
    db_stage_result end;
    db_wrong_shots wrong;
    const int amplitudes = db_fit_is_intensity_stage(&all->settings, stage);
    DB_TRY(amplitudes ? db_intensity_stage_run(all, stage, &end, result)
                      : db_joint_run(all, stage, &end, last ? result : NULL, &repeat));
    take_end(all, stage, &end, result);
    DB_TRY(db_records_collect(all));
    if (repeat) last = 0;
    if (!last) DB_TRY(db_shots_exclude_outliers(all));
    DB_TRY(db_lattices_share(
        all,
        stage + 1)); /* spots are judged beside the light of the models that the stage has found */
    DB_TRY(judge_shots(all, stage, last, result, &wrong));
    if (last) {
        db_series_drop_passages(all, result);
        apply_verdicts(all, &wrong, result); /* rank 0 knows why a shot is wrong */
        return db_team_broadcast(&all->team, all->context, result->reason, sizeof result->reason);
    }
    DB_TRY(db_shots_check_count(all));
    DB_TRY(begin_again(all, stage, &again));
    if (repeat) *next = stage;
    if (again) *next = 0;
    DB_TRY(db_shown_pass_on(all));
    return begin_anew(all);
}

/* First stage that not all shots in use have done, as far as this process knows. */
static int next_stage(const db_shots *all) {
    int stage = (int)all->settings.stage_count;
    for (size_t i = 0; i < all->count; i++) {
        const db_shot_summary *const summary = &all->summary[i];
        int used = summary->used, next = summary->stage;
        if (!summary->used && !*summary->reason) next = db_checkpoint_stage(all, i, &used);
        if (used && next < stage) stage = next;
    }
    return stage;
}

/* Runs a task of an array: its shots' own stages, before any joint stage. */
static db_status run_task(db_shots *all, int stage, db_fit_shots_result *result) {
    db_segment segment = db_segment_from(all, 0);
    if (segment.to == 0)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "an array of tasks: expected a stage that refines single shots, but stage "
                       "%s, the first, refines what shots share",
                       all->settings.stages[0].name);
    segment.from = stage < segment.to ? stage : 0;
    DB_TRY(db_lattices_share(all, segment.from));
    segment.joint = -1;
    snprintf(result->reason, sizeof result->reason,
             "task %d of %d: its shots were refined one by one", all->options->array_task,
             all->options->array_tasks);
    return run_segment(all, &segment);
}

static db_status run_segments(db_shots *all, db_fit_shots_result *result) {
    int stage = next_stage(all);
    if (all->options->array_tasks > 0) return run_task(all, stage, result);
    if (stage == (int)all->settings.stage_count) stage = db_stages_last_segment(all);
    snprintf(result->reason, sizeof result->reason, "each shot was refined by itself");
    while (stage < (int)all->settings.stage_count) {
        const db_segment segment = db_segment_from(all, stage);
        DB_TRY(db_lattices_share(all, segment.from));
        DB_TRY(run_segment(all, &segment));
        DB_TRY(db_shots_check_count(all));
        stage = segment.to;
        if (segment.joint >= 0) {
            stage++;
            DB_TRY(run_joint(all, segment.joint, &stage, result));
        } else if (stage < (int)all->settings.stage_count) {
            DB_TRY(begin_anew(all));
        }
    }
    return DB_OK;
}

static void report_resumed(db_shots *all) {
    db_fit_shots_event event = { .kind = DB_SHOTS_RESUMED,
                                 .stage = next_stage(all),
                                 .count = all->count };
    for (size_t i = 0; i < all->count; i++) {
        int used;
        const int stage = db_checkpoint_stage(all, i, &used);
        event.done += stage > 0 || !used;
    }
    db_shots_report(all, &event);
}

/* Does a cancelled run have a model of the shot, beyond its start? */
static int is_refined(const db_shots *all, size_t shot, int first) {
    const db_shot_summary *const summary = &all->summary[shot];
    return all->state[shot].lower && summary->stage > 0 && summary->stage >= first;
}

/* Ends a cancelled run with the present models of shots that have been refined. */
static db_status end_early(db_shots *all, db_fit_shots_result *result) {
    const int first = db_segment_from(all, 0).to, most = (int)all->settings.stage_count - 1;
    int stage;
    all->ending = 1;
    DB_TRY(db_shares_agree(all));
    DB_TRY(db_records_collect(all));
    stage = next_stage(all);
    DB_TRY(db_team_broadcast(&all->team, all->context, &stage, sizeof stage));
    for (size_t i = 0; i < all->count; i++) {
        db_shot_summary *const summary = &all->summary[i];
        const int owner = db_shares_owner(all, i / all->chunk);
        if ((owner < 0 ? 0 : owner) != all->team.rank) continue;
        if (all->state[i].begun && (!summary->used || is_refined(all, i, first))) continue;
        summary->used = 0;
        snprintf(summary->reason, sizeof summary->reason,
                 "the run was cancelled before it was refined");
    }
    DB_TRY(db_records_collect(all));
    if (all->used == 0)
        return db_fail(all->context, DB_ERROR_CANCELLED, "cancelled before a shot was refined");
    result->status = DB_ERROR_CANCELLED;
    snprintf(result->reason, sizeof result->reason,
             "cancelled in stage %s; these are the best models so far",
             all->settings.stages[stage < most ? stage : most].name);
    return DB_OK;
}

static db_status create_result(db_shots *all, db_fit_shots_result **result) {
    db_fit_shots_result *const r = calloc(1, sizeof *r);
    *result = r;
    if (!r) return db_fail_memory(all->context, "the result");
    DB_TRY(db_estimates_make(all->context, &all->settings, &r->estimates));
    r->shot = calloc(all->count, sizeof *r->shot);
    all->in_full = r->shot;
    r->in_full = all->source->in_full;
    r->light_part = NAN;
    r->intensities_usable = 1;
    if (!all->source->in_full)
        r->memory = calloc(all->count * all->parameters + 1, sizeof *r->memory);
    if (!r->shot || !(r->memory || all->source->in_full))
        return db_fail_memory(all->context, "the result");
    r->shot_count = all->count;
    for (size_t i = 0; i < all->parameters; i++) {
        r->estimates.list[i].shared = all->shared[i];
        r->estimates.list[i].by_crystal = all->varies[i] == DB_VARIES_BY_CRYSTAL;
        r->estimates.list[i].by_setting = all->varies[i] == DB_VARIES_BY_SETTING;
    }
    return DB_OK;
}

/* Stores the model of a shot that this process has read, without amplitudes. */
static db_status store_model(db_shots *all, size_t s, const double *value, db_fit_result *shot) {
    db_experiment *const start = &all->state[s].start;
    db_crystal *const crystal = &shot->experiment.crystal;
    db_panel_placement placement;
    const int is_there = all->state[s].lower && all->summary[s].used;
    if (is_there) {
        shot->experiment = *start;
        memset(start, 0, sizeof *start);
    }
    memcpy(shot->reference, all->summary[s].reference, sizeof shot->reference);
    memcpy(crystal->orientation, shot->reference, sizeof crystal->orientation);
    if (!is_there) return DB_OK;
    DB_TRY(db_panel_placement_make(all->context, &shot->experiment.detector,
                                   &all->settings.panel_groups, &placement));
    const db_status status = db_shots_put(all, all->context, value, &shot->experiment, &placement);
    db_panel_placement_clear(&placement);
    return status;
}

/* Statistics of a shot that is not in full. */
static db_fit_statistics statistics_of(const db_shot_summary *summary, int after) {
    db_fit_statistics fit = summary->fit[after];
    fit.pixels = summary->fit[1].pixels;
    fit.shoeboxes = summary->fit[1].shoeboxes;
    fit.chi2_reduced = summary->degrees > 0 ? fit.chi2 / summary->degrees : (double)NAN;
    fit.rms_residual = fit.strong_pixels = fit.strong_explained = NAN;
    return fit;
}

/* Values of a shot as users know them. */
static void report_values(const db_shots *all, size_t s, double *value) {
    const db_shot_summary *const summary = &all->summary[s];
    double angle[3];
    memcpy(value, db_shots_value(all, s), all->parameters * sizeof *value);
    if (!db_orientation_is_refined(&all->settings)) return;
    db_orientation_angles(summary->orientation, summary->reference, angle);
    for (size_t i = 0; i < all->parameters; i++) {
        const int axis = db_orientation_axis(all->settings.parameters[i].parameter);
        if (axis >= 0) value[i] = angle[axis];
    }
}

static db_status fill_shot(db_shots *all, size_t s, const db_fit_shots_result *result,
                           db_fit_result *shot) {
    const db_shot_summary *const summary = &all->summary[s];
    const db_shot_values known = db_shots_values(all, s);
    const size_t n = all->parameters;
    double value[DB_FIT_MOST_PARAMETERS];
    shot->name = all->source->name(all->source->user, s);
    if (all->source->in_full) return DB_OK;
    shot->used = summary->used;
    shot->verdict.usable =
        summary->used && !summary->wrong && !*all->frames.turns && !*all->plate.displaced;
    shot->verdict.light_explained = db_light_explained(&summary->light);
    db_shots_reason(all, s, shot->reason);
    if (shot->used && !shot->verdict.usable && !summary->wrong)
        *shot->reason = '\0'; /* not its own: the series fails as a whole */
    shot->crystal = all->frames.crystals > 1 ? db_shots_crystal(all, s) + 1 : 0;
    shot->estimates =
        (db_fit_estimates){ .count = n, .list = result->memory + s * n, .shared_misfit = 1 };
    report_values(all, s, value);
    for (size_t i = 0; i < n; i++) {
        db_fit_estimate *const e = &shot->estimates.list[i];
        *e = result->estimates.list[i];
        e->start = known.begin[i];
        e->at_bound = known.at_bound[i];
        if (!e->shared) {
            e->value = value[i];
            e->error = known.error[i];
        } else {
            e->value += db_shots_shift(all, s, i);
        }
        value[i] = e->value;
    }
    shot->before = statistics_of(summary, 0);
    shot->after = statistics_of(summary, 1);
    return store_model(all, s, value, shot);
}

/* Sums over all shots in use; in rank 0. */
typedef struct totals {
    size_t pixels, shoeboxes;
    double chi2[2], degrees;
} totals;

static totals add_up(const db_shots *all) {
    totals sum = { 0 };
    for (size_t i = 0; i < all->parameters; i++)
        sum.degrees -= all->shared[i] && !db_fit_parameter_is_tied(&all->settings.parameters[i]);
    for (size_t s = 0; s < all->count; s++) {
        const db_shot_summary *const summary = &all->summary[s];
        if (!summary->used) continue;
        sum.pixels += summary->fit[1].pixels;
        sum.shoeboxes += summary->fit[1].shoeboxes;
        sum.degrees += summary->degrees;
        for (int k = 0; k < 2; k++) sum.chi2[k] += summary->fit[k].chi2;
    }
    return sum;
}

/* What only series and joint intensities have: merged intensities, errors and warnings. */
static db_status finish_series(db_shots *all, db_fit_shots_result *result) {
    db_first_frame first;
    int wanted = result->passages || result->intensities;
    DB_TRY(db_team_broadcast(&all->team, all->context, &wanted, sizeof wanted));
    if (!wanted) return DB_OK;
    DB_TRY(db_first_frame_tell(all, result, &first));
    if (result->intensities) result->intensities->wavelength = first.wavelength;
    const int merges = all->team.rank == 0 && result->passages && first.known;
    DB_TRY(db_workers_common_status(all, merges ? db_series_merge(all, &first, result) : DB_OK));
    if (first.is_flat && !result->intensities) db_held_distance_widen_edges(&result->estimates);
    return db_workers_common_status(
        all, db_fit_series_warnings_make(all->context, first.known ? first.distance : (double)NAN,
                                         result));
}

/* Makes the result of a single shot that of the list. */
static void tell_of_one(db_fit_shots_result *result) {
    const db_fit_result *const shot = &result->shot[0];
    free(result->estimates.memory);
    result->estimates = shot->estimates;
    result->estimates.memory = NULL; /* owned by the shot, like the history */
    result->history = shot->history;
    result->history_count = shot->history_count;
    result->status = shot->status;
    memcpy(result->reason, shot->reason, sizeof result->reason);
}

/* Every frame alone may have too few spots to show a centring. */
static void add_centrings(const db_shots *all, db_fit_shots_result *result) {
    db_centrings sum = { .named = 0 };
    for (size_t s = 0; s < all->count; s++) {
        const db_centrings *const own = &all->summary[s].centrings;
        if (!all->summary[s].used) continue;
        if (own->named) sum.named = own->named;
        for (int k = 0; k < DB_CENTRINGS; k++) {
            sum.gain[k] += own->gain[k];
            sum.beside[k] += own->beside[k];
        }
    }
    result->centring = db_unnamed_centring(&sum, &result->centring_gain);
}

/* Fills the result at the end, with the history. */
static db_status fill_result(db_shots *all, db_fit_shots_result *result) {
    const int rank = all->team.rank;
    totals sum = { 0 };
    for (size_t i = 0; i < all->parameters; i++) {
        db_fit_estimate *const e = &result->estimates.list[i];
        if (!e->shared) continue;
        e->start = all->common.start[i];
        e->value = all->common.value[i];
        e->at_bound = all->common.at_bound[i];
    }
    db_status status = DB_OK;
    for (size_t s = 0; s < all->count && status == DB_OK; s++)
        if (rank == 0 || db_shots_own(all, s)) status = fill_shot(all, s, result, &result->shot[s]);
    DB_TRY(db_workers_common_status(all, status));
    if (rank == 0) sum = add_up(all);
    DB_TRY(db_team_broadcast(&all->team, all->context, &sum, sizeof sum));
    result->used = all->used;
    result->curves = all->settings.curves;
    result->pixels = sum.pixels;
    result->shoeboxes = sum.shoeboxes;
    for (int k = 0; k < 2; k++) result->chi2_reduced[k] = sum.chi2[k] / sum.degrees;
    result->history = all->course.history;
    result->history_values = all->course.values;
    result->history_count = all->course.count;
    all->course = (db_fit_course){ .count = 0 };
    result->shot_evaluations = all->evaluations;
    if (all->source->in_full && all->count == 1) tell_of_one(result);
    DB_TRY(finish_series(all, result));
    if (rank == 0) add_centrings(all, result);
    if (rank == 0)
        status =
            db_fit_dark_warning_add(all->context, all->frames.dark, db_series_fewest(all), result);
    if (rank == 0 && status == DB_OK)
        status = db_fit_undetermined_warnings_add(all->context, result);
    if (rank == 0 && status == DB_OK) status = db_fit_centring_warning_add(all->context, result);
    if (rank == 0 && status == DB_OK) status = db_fit_cells_warning_add(all->context, result);
    return db_workers_common_status(all, status);
}

static db_status refine_shots(db_shots *all, db_fit_shots_result *result) {
    int found;
    DB_TRY(db_workers_common_status(all, start_all(all)));
    db_status status = db_workers_common_status(all, db_checkpoint_resume(all, &found));
    if (status == DB_OK) status = db_workers_begin(all);
    if (status == DB_OK && found) report_resumed(all);
    if (status == DB_OK) status = run_segments(all, result);
    if (status == DB_ERROR_CANCELLED && !all->source->in_full) status = end_early(all, result);
    if (status == DB_OK) status = fill_result(all, result);
    return status;
}

static void clear_frames(db_shots_frames *frames) {
    free(frames->crystal);
    for (int s = 0; s < DB_FIT_SETTINGS; s++) free(frames->setting[s]);
    free(frames->sweep);
    free(frames->step);
    free(frames->is_dark);
}

static void clear_shots(db_shots *all) {
    for (size_t i = 0; i < all->count && all->state; i++) {
        db_experiment_clear(&all->state[i].start);
        free(all->state[i].lower);
        free(all->state[i].curves);
        free(all->state[i].best.local);
        free(all->state[i].boxes.hkl);
        free(all->state[i].shown.hkl);
        free(all->state[i].shown_before.hkl);
        db_strong_memory_clear(&all->state[i].strong);
    }
    db_workers_destroy(all);
    db_shares_destroy(all);
    db_checkpoint_destroy(all);
    db_store_close(&all->store);
    free(all->amplitudes.amplitude);
    free(all->amplitudes.sites);
    clear_frames(&all->frames);
    db_asu_list_clear(&all->asu.reflections);
    free(all->asu.reference);
    free(all->image);
    free(all->state);
    free(all->summary);
    free(all->numbers);
    db_fit_course_clear(&all->course);
    db_shot_notices_clear(&all->notices);
    db_fit_settings_clear(&all->settings);
    free(all);
}

/* Checks options that only programs can set. */
static db_status check_options(const db_shots *all, const db_fit_settings *settings) {
    const db_fit_shots_options *const o = all->options;
    if (all->count > 0 && !all->source->load)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "shots: expected a function that loads them, found NULL");
    if (o->array_tasks < 0 || o->array_task < (o->array_tasks > 0) ||
        o->array_task > o->array_tasks)
        return db_fail(all->context, DB_ERROR_USAGE,
                       "an array of tasks: expected task 1 to %d, found %d", o->array_tasks,
                       o->array_task);
    if (!o->checkpoint && (o->array_tasks || o->merge_count || o->resume))
        return db_fail(all->context, DB_ERROR_USAGE,
                       "expected the file of a checkpoint, which %s needs, found none",
                       o->array_tasks   ? "a task of an array"
                       : o->merge_count ? "putting tasks together"
                                        : "going on with a run");
    if (all->source->in_full && (settings->joint.wanted || o->array_tasks || o->merge_count))
        return db_fail(all->context, DB_ERROR_USAGE,
                       "results in full need shots that are refined one by one: expected neither "
                       "joint intensities nor an array of tasks");
    return DB_OK;
}

static db_status set_up(db_shots *all, const db_fit_settings *settings) {
    DB_TRY(check_options(all, settings));
    DB_TRY(db_fit_settings_copy(all->context, settings, &all->settings));
    DB_TRY(db_fit_check_quantities(all->context, settings));
    all->parameters = all->course.width = settings->parameter_count;
    DB_TRY(db_lattices_find(all));
    if (all->settings.stage_count == 0 && all->source->in_full)
        db_fit_default_stages(&all->settings);
    else if (all->settings.stage_count == 0)
        db_stages_default(all->context, &all->settings, all->options->series, all->image != NULL);
    if (all->settings.joint.wanted)
        DB_TRY(db_fit_add_intensity_stage(all->context, &all->settings));
    db_stages_mark_shared(all);
    DB_TRY(db_stages_check(all));
    if (all->count == 0) return db_fail(all->context, DB_ERROR_INPUT, "there are no shots");
    all->chunk = chunk_size(all);
    db_status status = db_checkpoint_create(all);
    if (status == DB_OK) status = make_room(all);
    if (status == DB_OK) status = db_shares_create(all);
    if (status == DB_OK) status = db_workers_create(all);
    if (status == DB_OK && !all->source->in_full)
        status = db_store_open(all->context, all->options->scratch, &all->store);
    return status;
}

static const char *name_of_still(void *user, size_t shot) {
    const db_fit_still *const still = user;
    (void)shot;
    return still->name ? still->name : "the image";
}

/* Lends the image, without a copy. */
static db_status lend_still(void *user, db_context *context, size_t shot, db_measured_image *image,
                            db_experiment *start, db_fit_settings *settings) {
    const db_fit_still *const still = user;
    (void)shot;
    (void)settings;
    if (start) DB_TRY(db_experiment_copy(context, still->start, start));
    *image = *still->image;
    return DB_OK;
}

static void take_back(void *user, db_measured_image *image) {
    (void)user;
    memset(image, 0, sizeof *image);
}

db_fit_shot_source db_fit_still_source(const db_fit_still *still) {
    return (db_fit_shot_source){ .count = 1,
                                 .user = (void *)(uintptr_t)still,
                                 .load = lend_still,
                                 .name = name_of_still,
                                 .release = take_back,
                                 .in_full = 1 };
}

db_status db_fit_run_with(db_context *context, const db_fit_shot_source *source,
                          const db_fit_settings *settings, const db_fit_shots_options *options,
                          db_strong_memory *strong, db_fit_shots_result **result) {
    static const db_fit_shots_options usual = DB_FIT_SHOTS_OPTIONS_INIT;
    const double begin = db_seconds();
    *result = NULL;
    if (!options) options = &usual;
    const db_fit_team team = options->team ? *options->team : (db_fit_team){ .size = 1 };
    db_shots *const all = calloc(1, sizeof *all);
    if (!all) return db_team_common_status(&team, context, db_fail_memory(context, "the shots"));
    all->context = context;
    all->source = source;
    all->options = options;
    all->team = team;
    all->count = source->count;
    all->store.file = -1;
    db_shot_notices_begin(context, &all->notices);
    db_fit_shots_result *made = NULL;
    db_status status = set_up(all, settings);
    if (status == DB_OK && strong) {
        all->state[0].strong = *strong;
        *strong = (db_strong_memory){ .masked = 0 };
    }
    if (status == DB_OK) status = create_result(all, &made);
    status = db_workers_common_status(all, status);
    if (status == DB_OK && made) status = refine_shots(all, made);
    clear_shots(all);
    if (status != DB_OK || !made) {
        db_fit_shots_result_destroy(&made);
        return status;
    }
    made->seconds = db_seconds() - begin;
    if (source->in_full && made->shot_count == 1) made->shot[0].seconds = made->seconds;
    *result = made;
    return made->status == DB_OK ? DB_OK : db_fail(context, made->status, "%s", made->reason);
}

db_status db_fit_run(db_context *context, const db_fit_shot_source *source,
                     const db_fit_settings *settings, const db_fit_shots_options *options,
                     db_fit_shots_result **result) {
    return db_fit_run_with(context, source, settings, options, NULL, result);
}

void db_fit_shots_result_destroy(db_fit_shots_result **result) {
    if (!result || !*result) return;
    for (size_t s = 0; s < (*result)->shot_count && (*result)->shot; s++)
        db_fit_result_clear(&(*result)->shot[s]);
    free((*result)->shot);
    free((*result)->estimates.memory);
    free((*result)->memory);
    if (!(*result)->in_full) free((*result)->history);
    free((*result)->history_values);
    db_joint_intensities_destroy(&(*result)->intensities);
    db_joint_intensities_destroy(&(*result)->merged);
    free((*result)->passages);
    free((*result)->warnings);
    free((void *)(*result)->advice);
    free(*result);
    *result = NULL;
}
