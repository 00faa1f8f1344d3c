/* Frames of a rotation series, which share an intensity for the parts of each reflection: the same bits
 * for any number of processes, near the truth. */

#include "support/unit_test.h"
#include "fit/damaged_state.h"
#include "fit/made_up_team.h"
#include "fit/pixels/predict.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/shots/joint_stages.h"
#include "fit/shots/series.h"
#include "fit/shots/series_state.h"
#include "fit/result/estimates.h"
#include "fit/stills.h"
#include "fit/verdict/warnings.h"
#include "support/failing_allocation.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_files.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

enum { FRAMES = 5, TEAM = 3, ANGLES = 3 };

static db_fit_settings settings;

typedef struct series_run {
    double knots;
    const char *checkpoint; /* to go on from; NULL: none is kept */
    db_status (*load)(void *, db_context *, size_t, db_measured_image *, db_experiment *,
                      db_fit_settings *); /* NULL: still_load */
    db_fit_shots_result *result[TEAM];
} series_run;

static void work(void *user, const db_fit_team *team) {
    series_run *const t = user;
    const db_fit_shot_source source = { .count = FRAMES,
                                        .load = t->load ? t->load : still_load,
                                        .name = still_name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_context *own;
    options.team = team;
    options.series = 1;
    options.knots = t->knots;
    options.checkpoint = t->checkpoint;
    options.resume = t->checkpoint != NULL;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, 1);
    if (db_fit_run(own, &source, &settings, &options, &t->result[team->rank]) != DB_OK)
        print_message("%s\n", db_context_message(own));
    db_context_destroy(&own);
}

static void same_numbers(const double *a, const double *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_true((isnan(a[i]) && isnan(b[i])) || !(a[i] < b[i] || a[i] > b[i]));
}

static void same_estimates(const db_fit_estimates *a, const db_fit_estimates *b) {
    for (size_t i = 0; i < a->count; i++) {
        const double x[] = { a->list[i].value, a->list[i].error, a->list[i].error_robust };
        const double y[] = { b->list[i].value, b->list[i].error, b->list[i].error_robust };
        same_numbers(x, y, 3);
        assert_int_equal(a->list[i].at_bound, b->list[i].at_bound);
    }
}

static void same_series(const db_fit_shots_result *a, const db_fit_shots_result *b) {
    const size_t n = a->estimates.count;
    same_estimates(&a->estimates, &b->estimates);
    for (size_t i = 0; i < n; i++)
        same_numbers(a->estimates.correlation[i], b->estimates.correlation[i], n);
    same_numbers(a->chi2_reduced, b->chi2_reduced, 2);
    for (size_t s = 0; s < FRAMES; s++) {
        assert_int_equal(a->shot[s].used, b->shot[s].used);
        same_estimates(&a->shot[s].estimates, &b->shot[s].estimates);
        same_numbers(&a->shot[s].before.chi2_reduced, &b->shot[s].before.chi2_reduced, 1);
        same_numbers(&a->shot[s].after.chi2_reduced, &b->shot[s].after.chi2_reduced, 1);
    }
}

/* Of reflections, which all processes have. */
static void same_passages(const db_fit_shots_result *a, const db_fit_shots_result *b) {
    assert_int_equal(a->passage_count, b->passage_count);
    for (size_t n = 0; n < a->passage_count; n++) {
        assert_memory_equal(a->passages[n].hkl, b->passages[n].hkl, sizeof a->passages[n].hkl);
        same_numbers(&a->passages[n].square, &b->passages[n].square, 1);
        same_numbers(a->passages[n].observed, b->passages[n].observed, 3);
    }
    assert_int_equal(a->light_spots, b->light_spots);
    same_numbers(&a->light_part, &b->light_part, 1);
}

static double scale_of(size_t frame) { return exp(0.6 * (still_drawn(frame, 6) - 0.5)); }

static void is_near_the_truth(const db_fit_shots_result *r) {
    double square = 0;
    for (size_t i = 0; i < ANGLES; i++) {
        const db_fit_estimate *const all = &r->estimates.list[i];
        const db_fit_estimate *const e = all->shared ? all : &r->shot[FRAMES / 2].estimates.list[i];
        const double off = e->value - 360 * still_drawn(0, (int)i);
        print_message("angle %zu: off by %.5f +- %.5f degree\n", i, off, e->error);
        assert_true(e->error > 0 && e->error < 0.05 && fabs(off) < 4 * e->error);
    }
    for (size_t s = 1; s < FRAMES; s++) { /* relative to the first */
        const db_fit_estimate *const scale = &r->shot[s].estimates.list[r->estimates.count - 1];
        const double first = r->shot[0].estimates.list[r->estimates.count - 1].value;
        const double off = scale->value - first * scale_of(s) / scale_of(0);
        square += off * off / (scale->error * scale->error);
        assert_true(fabs(off) < 0.1);
    }
    print_message("scales: pulls %.2f (root mean square), %zu evaluations\n",
                  sqrt(square / (FRAMES - 1)), r->history_count);
    assert_true(square / (FRAMES - 1) < 4);
    /* slopes that do not follow the best intensities take nearly twice as many */
    assert_true(r->history_count < 20);
}

/* Degrees of freedom: each box has a background of three numbers, each passage an intensity; scales are relative to the first. */
static void counts_what_moves(const db_fit_shots_result *r) {
    double chi2 = 0, unknowns = FRAMES - 1;
    for (size_t i = 0; i < r->estimates.count; i++) unknowns += r->estimates.list[i].shared;
    for (size_t s = 0; s < FRAMES; s++) chi2 += r->shot[s].after.chi2;
    const double degrees = chi2 / r->chi2_reduced[1],
                 expected = (double)r->pixels - 3 * (double)r->shoeboxes -
                            (double)r->passage_count - unknowns;
    print_message("%.3f degrees of freedom, expected %g\n", degrees, expected);
    assert_true(fabs(degrees - expected) < 1e-6 * expected);
}

static void compare(double knots) {
    series_run one = { .knots = knots }, several = { .knots = knots };
    made_up_team_run(1, 0, work, &one, NULL);
    made_up_team_run(TEAM, 1, work, &several, NULL);
    for (int r = 0; r < TEAM; r++) assert_non_null(several.result[r]);
    assert_non_null(one.result[0]);
    assert_int_equal(one.result[0]->used, FRAMES);
    is_near_the_truth(one.result[0]);
    if (knots <= 0) counts_what_moves(one.result[0]);
    same_series(one.result[0], several.result[0]);
    for (int r = 0; r < TEAM; r++) same_passages(one.result[0], several.result[r]);
    db_fit_shots_result_destroy(&one.result[0]);
    for (int r = 0; r < TEAM; r++) db_fit_shots_result_destroy(&several.result[r]);
}

static void processes_do_not_matter(void **state) {
    (void)state;
    compare(0);
}

static void processes_do_not_matter_between_knots(void **state) {
    (void)state;
    compare(4);
}

static void processes_do_not_matter_for_known_intensities(void **state) {
    (void)state;
    settings.intensity = DB_FIT_KNOWN;
    db_stages_default(stills.context, &settings, 1, 0);
    compare(4);
    settings.intensity = DB_FIT_FREE;
    db_stages_default(stills.context, &settings, 1, 0);
}

/* Scales that have to be earned wait for the last stage, tilts of the spindle for one by pixels. Frames that flicker earn
 * their scales, with any number of processes. */
static void earned_quantities_wait(void **state) {
    (void)state;
    const size_t scale = settings.parameter_count - 1, tilt = scale + 1;
    refine_parameter(&settings, DB_SPINDLE_TILT_BEAM, -1);
    settings.parameters[scale].earned = 1;
    settings.parameters[tilt].shared = settings.parameters[tilt].earned = 1;
    db_stages_default(stills.context, &settings, 1, 0);
    const size_t last = settings.stage_count - 1;
    assert_in_range(last, 2, DB_FIT_MAX_STAGES);
    for (size_t s = 0; s <= last; s++) {
        assert_int_equal(db_fit_parameter_in_stage(&settings.parameters[scale], s), s == last);
        assert_int_equal(db_fit_parameter_in_stage(&settings.parameters[tilt], s),
                         settings.stages[s].kind == DB_STAGE_PIXELS);
    }
    settings.parameter_count--;
    db_stages_default(stills.context, &settings, 1, 0);
    compare(0);
    settings.parameters[scale].earned = 0;
    db_stages_default(stills.context, &settings, 1, 0);
}

static db_status write_table(const db_fit_shots_result *result, const char *list) {
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("series.expt"));
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(list, file);
    fclose(file);
    const db_fit_config config = { .image_file = "" };
    return db_fit_shots_write_table(stills.context, scratch_path("series.refl"), path, &config,
                                    result);
}

/* A table of all frames needs the list that has them. */
static void tables_go_with_their_list(void **state) {
    (void)state;
    series_run run = { .knots = 0 };
    made_up_team_run(1, 0, work, &run, NULL);
    const db_fit_shots_result *const r = run.result[0];
    assert_non_null(r);
    assert_int_equal(
        write_table(r, "{\"experiment\":[{\"scan\":0}],\"scan\":[{\"image_range\":[3,7]}]}"),
        DB_OK);
    assert_int_equal(write_table(r, "{\"experiment\":[{},{},{},{},{}],\"scan\":[]}"), DB_OK);
    static const char *const wrong[] = {
        "{\"experiment\":[{\"scan\":0}],\"scan\":[{\"image_range\":[3,6]}]}",
        "{\"experiment\":[{\"scan\":0}],\"scan\":[{\"image_range\":[3,8]}]}",
        "{\"experiment\":[{\"scan\":1}],\"scan\":[{\"image_range\":[3,7]}]}",
        "{\"experiment\":[{\"scan\":0}],\"scan\":[{\"image_range\":\"a\"}]}",
        "{}",
        "no list",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(write_table(r, wrong[i]), DB_ERROR_INPUT);
    const db_fit_shots_result none = { .passages = NULL };
    assert_int_equal(write_table(&none, "{}"), DB_ERROR_USAGE);
    db_fit_shots_result_destroy(&run.result[0]);
}

static void processes_do_not_matter_for_poisson_slow(void **state) {
    (void)state;
    settings.target = DB_FIT_POISSON;
    compare(0);
    settings.target = DB_FIT_WEIGHTED;
}

static double ahead; /* degree, of the start */
static db_status load_turned(void *user, db_context *own, size_t shot, db_measured_image *image,
                             db_experiment *start, db_fit_settings *s) {
    const db_status status = still_load(user, own, shot, image, start, s);
    if (status == DB_OK && start) start->goniometer.phi += ahead;
    return status;
}

/* What a frame records of a reflection by its refined model. */
static double recorded_by(const db_predicted_spots *of_frame, const int hkl[3]) {
    double sum = 0;
    for (size_t i = 0; i < of_frame->count; i++)
        if (db_compare_hkl(of_frame->spot[i].hkl, hkl) == 0) sum += of_frame->spot[i].recorded;
    return sum;
}

/* A start that is off by a good part of the angle over which a reflection is recorded does not stay in its parts. */
static void parts_are_those_of_the_refined_model(void **state) {
    (void)state;
    const db_fit_settings usual = settings;
    const db_prediction_range range = { .excitation_angle = usual.excitation_angle };
    series_run run = { .load = load_turned };
    db_predicted_spots predicted[FRAMES];
    db_fit_settings own;
    double worst = 0;
    assert_int_equal(db_fit_settings_copy(stills.context, &usual, &own), DB_OK);
    copy_stage(&own, own.stage_count - 1, 0); /* boxes lie where the start predicts them */
    own.stage_count = 1;
    ahead = 0.25;
    settings = own;
    made_up_team_run(1, 0, work, &run, NULL);
    settings = usual;
    db_fit_settings_clear(&own);
    assert_non_null(run.result[0]);
    const db_fit_shots_result *const r = run.result[0];
    assert_int_equal(r->used, FRAMES);
    for (size_t s = 0; s < FRAMES; s++)
        assert_int_equal(db_predict(stills.context, &r->shot[s].experiment, &range, &predicted[s]),
                         DB_OK);
    for (size_t n = 0; n < r->passage_count; n++) {
        const db_fit_passage *const p = &r->passages[n];
        double expected = 0;
        for (size_t s = p->first; s <= p->last; s++) expected += recorded_by(&predicted[s], p->hkl);
        worst = fmax(worst, fabs(p->recorded - expected));
    }
    print_message("%zu passages: parts differ from those of the refined model by at most %.2g\n",
                  r->passage_count, worst);
    assert_true(r->passage_count > 50 && worst < 1e-6);
    for (size_t s = 0; s < FRAMES; s++) db_predicted_spots_clear(&predicted[s]);
    db_fit_shots_result_destroy(&run.result[0]);
}

static double nearer; /* mm, of the start */
static db_status load_nearer(void *user, db_context *own, size_t shot, db_measured_image *image,
                             db_experiment *start, db_fit_settings *s) {
    const db_status status = still_load(user, own, shot, image, start, s);
    if (status == DB_OK && start) start->detector.distance -= nearer;
    return status;
}

/* Runs a series with a cell; extra: number of quantities along the beam that each frame has, distance and shift of the
 * panel; shared: of the distance; wrong: the distance begins nearer by so much (mm), and stays about there. */
static db_fit_shots_result *run_along_beam(int extra, int shared, double wrong) {
    static const db_parameter along[] = { DB_DISTANCE, DB_PANEL_SHIFT_NORMAL };
    const db_fit_settings usual = settings;
    series_run run = { .load = load_nearer };
    db_fit_settings own;
    assert_int_equal(db_fit_settings_copy(stills.context, &usual, &own), DB_OK);
    refine_parameter(&own, DB_CELL_A, -1);
    refine_parameter(&own, DB_CELL_B, DB_CELL_A);
    refine_parameter(&own, DB_CELL_C, -1);
    for (size_t i = usual.parameter_count; i < own.parameter_count; i++)
        own.parameters[i].shared = 1;
    for (int k = 0; k < extra; k++) {
        refine_parameter(&own, along[k], -1);
        db_fit_parameter *const p = &own.parameters[own.parameter_count - 1];
        p->shared = k == 0 && shared;
        if (!(wrong > 0)) continue;
        p->upper = stills.truth.detector.distance - wrong;
        p->lower = p->upper - 1e-4; /* less than errors: at either end */
    }
    db_stages_default(stills.context, &own, 1, 0);
    if (wrong > 0) { /* frames by themselves would end at the bound, and be excluded */
        copy_stage(&own, own.stage_count - 1, 0);
        own.stage_count = 1;
    }
    settings = own;
    nearer = wrong;
    made_up_team_run(1, 0, work, &run, NULL);
    settings = usual;
    db_fit_settings_clear(&own);
    assert_non_null(run.result[0]);
    return run.result[0];
}

static const db_fit_estimate *of_frame(const db_fit_shots_result *r, size_t frame, db_parameter p) {
    const db_fit_estimate *e = r->shot[frame].estimates.list;
    while (e->parameter != p) e++;
    return e;
}

/* The first quantities, which both runs share, have the same errors, but for where the searches end. */
static void same_shared_errors(const db_fit_shots_result *a, const db_fit_shots_result *b) {
    for (size_t i = 0; i < a->estimates.count && i < b->estimates.count; i++) {
        const db_fit_estimate *const one = &a->estimates.list[i], *const other =
                                                                      &b->estimates.list[i];
        if (!one->shared || isnan(other->error)) continue;
        print_message("%s: %.4g +- %.4g, %.4g +- %.4g\n", one->name, one->value,
                      one->error_unscaled, other->value, other->error_unscaled);
        assert_true(fabs(one->error_unscaled / other->error_unscaled - 1) < 0.05);
        assert_true(fabs(one->error / other->error - 1) < 0.05);
    }
}

/* A shift of the panel does to the image what the distance does. The first scale is held. */
static void what_frames_do_not_determine_has_no_finite_error(void **state) {
    (void)state;
    db_fit_shots_result *both = run_along_beam(2, 0, 0), *distance = run_along_beam(1, 0, 0),
                        *mixed = run_along_beam(2, 1, 0);
    const size_t shared = mixed->estimates.count - 2;
    for (size_t k = 0; k < FRAMES; k++) {
        assert_true(isinf(of_frame(both, k, DB_DISTANCE)->error));
        assert_true(isinf(of_frame(both, k, DB_PANEL_SHIFT_NORMAL)->error));
        assert_true(isinf(of_frame(mixed, k, DB_PANEL_SHIFT_NORMAL)->error));
        assert_true(isfinite(of_frame(distance, k, DB_DISTANCE)->error));
        assert_true(k ? of_frame(both, k, DB_SCALE)->error > 0
                      : isnan(of_frame(both, k, DB_SCALE)->error));
    }
    same_shared_errors(both, distance);
    assert_string_equal(both->warnings[both->warning_count - 1],
                        "in 5 of 5 shots the data do not determine distance, panel_shift_normal");
    same_shared_errors(both, mixed);
    assert_true(isinf(mixed->estimates.list[shared].error_unscaled));
    assert_string_equal(mixed->warnings[0], "the data do not determine distance +1.00");
    db_fit_shots_result_destroy(&mixed);
    db_fit_shots_result_destroy(&both);
    db_fit_shots_result_destroy(&distance);
}

/* Longer edges do to the image what a shorter wavelength does, by other sums of single precision, whoever has either. */
static void what_frames_make_up_for_has_no_finite_error(void **state) {
    (void)state;
    const db_fit_settings usual = settings;
    const size_t first = usual.parameter_count;
    for (int shared = 0; shared < 4; shared++) {
        series_run run = { .knots = 0 };
        db_fit_settings own;
        assert_int_equal(db_fit_settings_copy(stills.context, &usual, &own), DB_OK);
        refine_parameter(&own, DB_WAVELENGTH, -1);
        refine_parameter(&own, DB_CELL_A, -1);
        refine_parameter(&own, DB_CELL_B, DB_CELL_A);
        refine_parameter(&own, DB_CELL_C, -1);
        for (size_t i = first; i < own.parameter_count; i++)
            own.parameters[i].shared = (i == first ? shared & 1 : shared & 2) != 0;
        db_stages_default(stills.context, &own, 1, 0);
        settings = own;
        made_up_team_run(1, 0, work, &run, NULL);
        settings = usual;
        const db_fit_shots_result *const r = run.result[0];
        assert_non_null(r);
        for (size_t k = 0; k < FRAMES; k++) {
            const db_fit_estimate *const e = r->shot[k].estimates.list;
            print_message("shared %d: %g +- %g, %g +- %g, %g +- %g\n", shared, e[first].value,
                          e[first].error, e[first + 1].value, e[first + 1].error,
                          e[first + 3].value, e[first + 3].error);
            assert_true(isinf(e[first].error) && isinf(e[first + 1].error) &&
                        isinf(e[first + 3].error));
            for (int i = 0; i < ANGLES; i++) assert_true(e[i].error > 0 && e[i].error < 0.05);
        }
        db_fit_shots_result_destroy(&run.result[0]);
        db_fit_settings_clear(&own);
    }
}

/* Quantities of frames at a bound are known, as far as other errors are concerned. */
static void frames_at_a_bound_widen_no_error(void **state) {
    (void)state;
    db_fit_shots_result *at_bound = run_along_beam(1, 0, 0.05), *held = run_along_beam(0, 0, 0.05);
    for (size_t k = 0; k < FRAMES; k++) {
        assert_int_equal(of_frame(at_bound, k, DB_DISTANCE)->at_bound != 0, 1);
        assert_true(isnan(of_frame(at_bound, k, DB_DISTANCE)->error));
    }
    same_shared_errors(at_bound, held);
    db_fit_shots_result_destroy(&at_bound);
    db_fit_shots_result_destroy(&held);
}

/* A run in which memory runs out in the first process, while the run begins or (joint) when the joint stage does. */
typedef struct poor_run {
    int joint;
    long position; /* allocation that fails */
    int failed;    /* 1: it has */
    db_status status[TEAM];
} poor_run;

static void begin_to_fail(void *user, const db_fit_shots_event *event) {
    const poor_run *const t = user;
    if (event->kind == DB_SHOTS_DONE && t->joint) fail_allocation(t->position);
}

/* What renders images is no part of the library. */
static db_status load_with_memory(void *user, db_context *own, size_t shot,
                                  db_measured_image *image, db_experiment *start,
                                  db_fit_settings *s) {
    int failed;
    (void)stop_failing_allocations(&failed);
    if (failed) ((poor_run *)user)->failed = 1;
    return still_load(NULL, own, shot, image, start, s);
}

static void work_poorly(void *user, const db_fit_team *team) {
    poor_run *const t = user;
    const db_fit_shot_source source = {
        .user = t, .count = FRAMES, .load = load_with_memory, .name = still_name
    };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_shots_result *result;
    db_context *own;
    int failed = 0;
    options.team = team;
    options.series = 1;
    options.progress = begin_to_fail;
    options.user = t;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, 1);
    if (team->rank == 0 && !t->joint) fail_allocation(t->position);
    t->status[team->rank] = db_fit_run(own, &source, &settings, &options, &result);
    if (team->rank == 0) (void)stop_failing_allocations(&failed);
    if (failed) t->failed = 1;
    db_fit_shots_result_destroy(&result);
    db_context_destroy(&own);
}

/* Nobody waits for it, and all know. */
static void processes_know_that_one_has_no_memory(void **state) {
    (void)state;
    const long most = 12;
    if (!can_fail_allocations()) skip();
    for (int joint = 0; joint < 2; joint++) {
        for (long position = 0; position < most; position++) {
            poor_run t = { .joint = joint, .position = position };
            made_up_team_run(2, 1, work_poorly, &t, NULL);
            assert_true(t.failed);
            assert_true(t.status[0] == DB_ERROR_MEMORY || t.status[0] == DB_ERROR_FILE);
            assert_int_equal(t.status[1], t.status[0]);
        }
    }
}

/* A run that is cancelled after some evaluations. */
typedef struct patience {
    atomic_int evaluations; /* all threads ask for it */
    int most;
} patience;

static void count_evaluation(void *user, const db_fit_shots_event *event) {
    patience *const p = user;
    p->evaluations += event->kind == DB_SHOTS_EVALUATED;
}

static int is_over(void *user) {
    const patience *const p = user;
    return p->evaluations >= p->most;
}

/* In both joint stages; goes on by another number of processes. */
static void interrupt(int stride, size_t damages, size_t forged) {
    series_run whole = { .knots = 0 };
    char path[256];
    db_fit_shots_result *r;
    snprintf(path, sizeof path, "%s", scratch_path("series.checkpoint"));
    made_up_team_run(1, 0, work, &whole, NULL);
    assert_non_null(whole.result[0]);
    for (int most = 2; most < (int)whole.result[0]->history_count; most += stride) {
        const db_fit_shot_source source = { .count = FRAMES,
                                            .load = still_load,
                                            .name = still_name };
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        patience p = { 0, most };
        series_run rest = { .checkpoint = path };
        options.series = 1;
        options.checkpoint = path;
        options.progress = count_evaluation;
        options.cancelled = is_over;
        options.user = &p;
        assert_int_equal(db_fit_run(stills.context, &source, &settings, &options, &r),
                         DB_ERROR_CANCELLED);
        assert_int_equal(p.evaluations, most);
        db_fit_shots_result_destroy(&r);
        if (most == 2)
            go_on_from_damaged_states(stills.context, &source, &settings, &options, damages,
                                      forged);
        made_up_team_run(most % 2 ? TEAM : 1, 1, work, &rest, NULL);
        assert_non_null(rest.result[0]);
        same_series(whole.result[0], rest.result[0]);
        assert_int_equal(whole.result[0]->history_count, rest.result[0]->history_count);
        for (int k = 0; k < TEAM; k++) db_fit_shots_result_destroy(&rest.result[k]);
        (void)db_fit_checkpoint_remove(NULL, path);
    }
    db_fit_shots_result_destroy(&whole.result[0]);
}

static void interrupted_series_go_on(void **state) {
    (void)state;
    interrupt(5, 6, 1);
}

static void damaged_series_are_told_slow(void **state) {
    (void)state;
    interrupt(3, 20, 12);
}

static int set_up(void **state) {
    if (stills_set_up(state) != 0) return -1;
    stills.width = 0.5;
    db_fit_settings_init(&settings);
    settings.min_strong_reflections = 10;
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_MOSAIC_VARIANCE, -1);
    refine_parameter(&settings, DB_SCALE, -1);
    for (size_t i = 0; i + 1 < settings.parameter_count; i++) settings.parameters[i].shared = 1;
    db_stages_default(stills.context, &settings, 1, 0);
    return 0;
}

static int tear_down(void **state) {
    db_fit_settings_clear(&settings);
    stills.width = 0;
    return stills_tear_down(state);
}

/* Light of frames in a row that share reflections, each of which has a width, in photons. */
enum { LIT = 6, REFLECTIONS = 40 };
typedef struct lit_series {
    double truth[REFLECTIONS][LIT], seen[REFLECTIONS][LIT], model[REFLECTIONS][LIT];
} lit_series;

static double random_part(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return ((double)(*seed >> 8) + 0.5) / 16777216;
}

/* Photons, by Knuth's product for few and a Gaussian's rounding for many. */
static double random_photons(uint32_t *seed, double mean) {
    double product = 1, sum = 0, count = -1;
    for (int i = 0; i < 12; i++) sum += random_part(seed);
    if (mean > 60) return floor(fmax(0, mean + sqrt(mean) * (sum - 6)) + 0.5);
    for (; product > exp(-mean); count++) product *= random_part(seed);
    return count;
}

static void make_lit(uint32_t seed, double brightest, double wider, lit_series *lit) {
    for (int r = 0; r < REFLECTIONS; r++) {
        const double centre = LIT * random_part(&seed), bright = brightest * random_part(&seed);
        for (int k = 0; k < LIT; k++) {
            const double off = k + 0.5 - centre, dark = 3;
            lit->truth[r][k] = bright * exp(-0.5 * off * off);
            lit->model[r][k] = bright * exp(-0.5 * off * off / (wider * wider)) / wider;
            lit->seen[r][k] = random_photons(&seed, dark + lit->truth[r][k]) - dark;
        }
    }
}

/* Compares it as a series does; the summaries receive what is found. alone: each box is a reflection of its own. */
static void compare_lit(const lit_series *lit, int alone, db_shot_summary summary[LIT],
                        db_fit_shots_result *result) {
    db_part_light part[LIT][REFLECTIONS] = { { { .shape = 0 } } };
    db_series_part parts[REFLECTIONS * LIT];
    size_t first[REFLECTIONS * LIT + 1];
    const db_fit_shots_options options = { .series = 1 };
    db_series_crystal crystal = { .count = LIT };
    void *light[LIT];
    db_series series = { .count = alone ? REFLECTIONS * LIT : REFLECTIONS,
                         .first = first,
                         .part = parts,
                         .light = light };
    db_shots all = { .context = stills.context,
                     .team = { .size = 1 },
                     .options = &options,
                     .series = &series,
                     .count = LIT,
                     .frames = { .crystals = 1, .crystal = &crystal },
                     .summary = summary };
    for (size_t r = 0; r <= series.count; r++) first[r] = alone ? r : r * LIT;
    for (int r = 0; r < REFLECTIONS; r++) {
        for (int k = 0; k < LIT; k++) {
            parts[r * LIT + k] = (db_series_part){ { r, 0, 0 }, (uint32_t)k, (uint32_t)r };
            part[k][r] = (db_part_light){ .intensity = 2,
                                          .listed = r > 0,
                                          .shape = lit->model[r][k] / 2,
                                          .light = lit->seen[r][k],
                                          .gain = 1,
                                          .dark_variance = 3,
                                          .pixels = 9,
                                          .strong = lit->seen[r][k] > 15 };
        }
    }
    for (int k = 0; k < LIT; k++) {
        light[k] = part[k];
        summary[k] = (db_shot_summary){ .used = 1 };
    }
    assert_int_equal(db_series_compare_light(&all), DB_OK);
    assert_int_equal(db_intensities_judge(&all, result), DB_OK);
    db_series_judge_light(&all);
}

/* What a frame's model explains, from its definition: 1 less squares off the model over squares. */
static double explained_part(const lit_series *lit, int k) {
    long double missed = 0, whole = 0;
    for (int r = 1; r < REFLECTIONS; r++) { /* the first one has no say */
        const double seen = lit->seen[r][k], model = lit->model[r][k];
        const double brighter = seen > model ? seen : model;
        const long double noise = 3 + seen, error = 3 + (brighter > 1 ? brighter : 1);
        missed += ((seen - model) * (seen - model) - noise) / error;
        whole += (seen * seen - noise) / error;
    }
    return (double)(1 - missed / whole);
}

static void light_of_frames_is_compared(void **state) {
    (void)state;
    db_shot_summary *const summary = calloc(LIT, sizeof *summary);
    db_fit_shots_result result = { .light_spots = 0 };
    lit_series lit;
    size_t spots = 0, alike = 0;
    assert_non_null(summary);
    make_lit(7, 200, 1.3, &lit);
    compare_lit(&lit, 0, summary, &result);
    for (int k = 0; k < LIT; k++) {
        assert_true(fabs(db_light_explained(&summary[k].light) - explained_part(&lit, k)) < 1e-12);
        for (int r = 1; r < REFLECTIONS; r++) {
            const double seen = lit.seen[r][k], model = lit.model[r][k];
            if (!(seen > 15)) continue;
            spots++;
            alike += model > seen / 1.5 && model < seen * 1.5;
        }
    }
    assert_int_equal(result.light_spots, spots);
    assert_true(fabs(result.light_part - (double)alike / (double)spots) < 1e-12);
    assert_true(result.intensities_usable == (3 * alike >= 2 * spots));
    free(summary);
}

/* As of a still: what is hardly told apart, and intensities that may not be used. */
static void a_series_warns(void **state) {
    (void)state;
    db_fit_settings two;
    db_fit_settings_init(&two);
    refine_parameter(&two, DB_CELL_A, -1);
    refine_parameter(&two, DB_DISTANCE, -1);
    db_fit_shots_result result = { .intensities_usable = 1, .light_part = NAN };
    assert_int_equal(db_estimates_make(stills.context, &two, &result.estimates), DB_OK);
    for (int warned = 0; warned < 2; warned++) {
        for (size_t i = 0; i < 2; i++)
            for (size_t k = 0; k < 2; k++)
                result.estimates.correlation[i][k] = i == k ? 1 : warned ? 0.98 : 0.5;
        result.intensities_usable = !warned;
        result.light_part = 0.4;
        result.light_spots = 50;
        assert_int_equal(db_fit_series_warnings_make(stills.context, 100, &result), DB_OK);
        assert_int_equal(result.warning_count, warned ? 2 : 0);
        if (!warned) continue;
        assert_string_equal(result.warnings[0],
                            "cell_a and distance are strongly correlated (+0.980)");
        assert_non_null(strstr(result.warnings[1], "of 50 spots"));
        assert_non_null(result.advice[1]);
        free(result.warnings);
        free((void *)result.advice);
    }
    free(result.estimates.memory);
    db_fit_settings_clear(&two);

    db_fit_settings edge; /* alone: the distance is held */
    db_fit_settings_init(&edge);
    refine_parameter(&edge, DB_CELL_A, -1);
    db_fit_shots_result held = { .intensities_usable = 1, .light_part = NAN };
    assert_int_equal(db_estimates_make(stills.context, &edge, &held.estimates), DB_OK);
    held.estimates.correlation[0][0] = 1;
    assert_int_equal(db_fit_series_warnings_make(stills.context, 100, &held), DB_OK);
    assert_int_equal(held.warning_count, 1);
    assert_non_null(strstr(held.warnings[0], "the distance was held at 100 mm"));
    free(held.warnings);
    free((void *)held.advice);
    free(held.estimates.memory);
    db_fit_settings_clear(&edge);
}

static void shots_that_noise_does_not_explain_are_named(void **state) {
    (void)state;
    for (int in_full = 0; in_full < 2; in_full++) {
        db_fit_shots_result result = { .chi2_reduced = { 2000, 543.42 }, .in_full = in_full };
        assert_int_equal(db_fit_undetermined_warnings_add(stills.context, &result), DB_OK);
        assert_int_equal(result.warning_count, !in_full);
        if (in_full) continue; /* each shot has this warning */
        assert_non_null(strstr(result.warnings[0], "chi2 per degree of freedom is 543.42"));
        assert_non_null(strstr(result.warnings[0], "from shot to shot"));
        free(result.warnings);
        free((void *)result.advice);
    }
    db_fit_shots_result alike = { .chi2_reduced = { 2000, 1.9 } };
    assert_int_equal(db_fit_undetermined_warnings_add(stills.context, &alike), DB_OK);
    assert_int_equal(alike.warning_count, 0);
}

/* Frames that a series marks, of as many series of this brightness and width of the model. */
static size_t marked(int series, double brightest, double wider, int alone, double *missed) {
    db_shot_summary *const summary = calloc(LIT, sizeof *summary);
    size_t count = 0;
    lit_series lit;
    assert_non_null(summary);
    for (int s = 0; s < series; s++) {
        db_fit_shots_result result = { .light_spots = 0 };
        make_lit((uint32_t)s + 1, brightest, wider, &lit);
        compare_lit(&lit, alone, summary, &result);
        for (int k = 0; k < LIT; k++) {
            count += (size_t)summary[k].wrong;
            assert_true(!summary[k].wrong == !*summary[k].reason);
            *missed += summary[k].light.missed;
        }
    }
    free(summary);
    return count;
}

/* At any brightness right models pass with frames of hardly a photon, too; a model that is so wide that spots are
 * as bright on all frames, and one with half of the light beside its spots, do not. */
static void frames_without_their_light_are_wrong(void **state) {
    (void)state;
    double missed = 0, other = 0;
    assert_int_equal(marked(200, 1, 1, 0, &missed), 0);
    assert_int_equal(marked(200, 20, 1, 0, &missed), 0);
    assert_int_equal(marked(200, 2000, 1, 0, &missed), 0);
    assert_true(fabs(missed) < 0.1 * 600 * LIT * REFLECTIONS); /* noise is no misfit */
    assert_int_equal(marked(20, 2000, 1.4, 0, &other), 0);
    assert_int_equal(marked(20, 2000, 1.4, 1, &other), 0); /* nothing tells how light is divided */
    assert_int_equal(marked(20, 2000, 20, 0, &other), 20 * LIT);
    assert_int_equal(marked(20, 2000, 0.2, 0, &other), 20 * LIT);
}

/* A frame may be excluded after passages were listed: its model is not kept, and files have no place for its spots. */
/* From any size of blocks, which may take an intensity to many times what is best, its Newton steps come back. */
static void intensities_fall_and_rise_again(void **state) {
    (void)state;
    static const double shape[] = { 0.05, 0.2, 0.5, 0.2, 0.05 };
    const double truth = 400, background = 1e-3;
    for (double start = 0.3; start < 30; start *= 2) {
        double value = start * truth;
        for (int step = 0; step < 12; step++) {
            double gradient = 0, curvature = 0;
            for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
                const double counts = truth * shape[i] + background,
                             rate = value * shape[i] + background;
                gradient += shape[i] * (1 - counts / rate);
                curvature += shape[i] * shape[i] * counts / (rate * rate);
            }
            value = db_series_step(value, gradient / curvature, 1);
        }
        assert_true(fabs(value / truth - 1) < 1e-6);
    }
    assert_true(db_series_step(400, 500, 0) == 0);
    assert_true(db_series_step(400, -500, 0) == 900);
}

static void passages_of_excluded_frames_are_left_out(void **state) {
    static const size_t range[][2] = { { 0, 1 }, { 1, 2 }, { 2, 2 }, { 1, 4 }, { 2, 4 }, { 3, 4 } };
    enum { PASSAGES = sizeof range / sizeof *range, LEFT_OUT = 2 };
    db_shot_summary summary[FRAMES] = { { .stage = 0 } };
    db_fit_passage passage[PASSAGES] = { { .first = 0 } };
    const db_shots all = { .count = FRAMES, .summary = summary };
    db_fit_shots_result result = { .passages = passage, .passage_count = PASSAGES };
    (void)state;
    for (size_t k = 0; k < FRAMES; k++) summary[k].used = k != LEFT_OUT;
    for (size_t n = 0; n < PASSAGES; n++) {
        passage[n].first = range[n][0];
        passage[n].last = range[n][1];
    }
    db_series_drop_passages(&all, &result);
    assert_int_equal(result.passage_count, 2);
    assert_true(passage[0].first == 0 && passage[0].last == 1);
    assert_true(passage[1].first == 3 && passage[1].last == 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intensities_fall_and_rise_again),
        cmocka_unit_test(passages_of_excluded_frames_are_left_out),
        cmocka_unit_test(light_of_frames_is_compared),
        cmocka_unit_test(tables_go_with_their_list),
        cmocka_unit_test(a_series_warns),
        cmocka_unit_test(shots_that_noise_does_not_explain_are_named),
        cmocka_unit_test(frames_without_their_light_are_wrong),
        cmocka_unit_test(processes_do_not_matter),
        cmocka_unit_test(processes_do_not_matter_between_knots),
        cmocka_unit_test(processes_do_not_matter_for_known_intensities),
        cmocka_unit_test(earned_quantities_wait),
        cmocka_unit_test(parts_are_those_of_the_refined_model),
        cmocka_unit_test(what_frames_do_not_determine_has_no_finite_error),
        cmocka_unit_test(what_frames_make_up_for_has_no_finite_error),
        cmocka_unit_test(frames_at_a_bound_widen_no_error),
        cmocka_unit_test(processes_do_not_matter_for_poisson_slow),
        cmocka_unit_test(processes_know_that_one_has_no_memory),
        cmocka_unit_test(interrupted_series_go_on),
        cmocka_unit_test(damaged_series_are_told_slow),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
