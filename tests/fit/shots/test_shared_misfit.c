/* Errors where the model is wrong and all spots of a region miss the data in the same way: images of one
 * bent crystal, turned from image to image, are refined as if it were not bent. The beam centre is the
 * same on all of them; its scatter, over the errors, says whether these mean what they say. */
#include "support/context.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <dualbragg/fit_shots.h>

#include <math.h>
#include <string.h>

enum { PIXELS = 700, FRAMES = 8 };

static void bend(db_experiment *e) {
    static const double mode[9] = { 1, -6, 2.5, 5, -1.2, -4, -5, 2.5, 1.5 };
    e->spread.spots = DB_SPOTS_CLOSED;
    e->spread.mosaic = 0.01;
    e->spread.footprint[0] = 0.03;
    e->spread.footprint[1] = 0.01;
    memcpy(e->spread.mode[0], mode, sizeof mode);
}

static void set_up(db_fit_settings *settings) {
    static const db_parameter list[] = { DB_MISSET_X,       DB_MISSET_Y,     DB_MISSET_Z,
                                         DB_CELL_A,         DB_CELL_C,       DB_BEAM_FAST,
                                         DB_BEAM_SLOW,      DB_FOOTPRINT_HH, DB_FOOTPRINT_VV,
                                         DB_MOSAIC_VARIANCE };
    db_fit_settings_init(settings);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(settings, list[i], -1);
    refine_parameter(settings, DB_CELL_B, DB_CELL_A);
}

/* Sums of squares of what the beam centre is off by, in units of errors. */
typedef struct pulls {
    double quoted, by_misfit;
    int count;
} pulls;

/* The crystal of a frame, and where its refinement begins; both borrow. */
static void turn_frame(const db_experiment *straight, int frame, db_experiment *truth,
                       db_experiment *start) {
    *truth = *start = *straight;
    start->spread.spots = DB_SPOTS_CLOSED;
    start->spread.mosaic = 0.02;
    start->crystal.misset[1] = truth->crystal.misset[1] += 5.0 * frame;
    start->crystal.misset[2] = truth->crystal.misset[2] += 3.0 * frame;
    bend(truth);
}

static void refine_frame(const db_experiment *straight, const db_fit_settings *settings, int frame,
                         pulls *p) {
    db_experiment truth, start;
    db_measured_image image;
    db_fit_result *r;
    turn_frame(straight, frame, &truth, &start);
    assert_int_equal(rendered_image(context, &truth, 7 + (unsigned long)frame, &image), DB_OK);
    fit_still(context, &start, &image, settings, NULL, NULL, &r);
    if (!r) fail_msg("frame %d: %s", frame, db_context_message(context));
    for (size_t i = 0; i < r->estimates.count; i++) {
        if (r->estimates.list[i].parameter != DB_BEAM_FAST &&
            r->estimates.list[i].parameter != DB_BEAM_SLOW)
            continue;
        const double off =
            r->estimates.list[i].value - db_parameter_get(&truth, r->estimates.list[i].parameter);
        p->quoted += off * off / (r->estimates.list[i].error * r->estimates.list[i].error);
        p->by_misfit +=
            off * off / (r->estimates.list[i].error_scaled * r->estimates.list[i].error_scaled);
        p->count++;
    }
    print_message("frame %d: %s, chi2/dof %.2f, %.0f %% explained, shared misfit %.2f\n", frame,
                  r->status == DB_OK ? "converged" : r->reason, r->after.chi2_reduced,
                  100 * r->after.strong_explained, r->estimates.shared_misfit);
    fit_still_destroy(&r);
    db_measured_image_clear(&image);
}

static void errors_hold_for_a_model_that_is_wrong(void **state) {
    (void)state;
    db_experiment straight;
    db_fit_settings settings;
    pulls p = { 0 };
    set_up(&settings);
    assert_int_equal(rendered_experiment(context, PIXELS, 10000, &straight), DB_OK);
    for (int frame = 0; frame < FRAMES; frame++) refine_frame(&straight, &settings, frame, &p);
    const double quoted = sqrt(p.quoted / p.count), by_misfit = sqrt(p.by_misfit / p.count);
    print_message("beam centre off by %.2f errors rms as quoted, by %.1f of those by misfit\n",
                  quoted, by_misfit);
    assert_int_equal(p.count, 2 * FRAMES);
    assert_true(quoted > 0.7 && quoted < 1.5);
    assert_true(by_misfit > 2.5); /* why regions are asked */
    db_experiment_clear(&straight);
    db_fit_settings_clear(&settings);
}

static db_status load_frame(void *user, db_context *own, size_t shot, db_measured_image *image,
                            db_experiment *start, db_fit_settings *settings) {
    db_experiment truth, begin;
    (void)settings;
    turn_frame(user, 4 + (int)shot, &truth, &begin);
    const db_status status = rendered_image(own, &truth, 11 + (unsigned long)shot, image);
    return status == DB_OK && start ? db_experiment_copy(own, &begin, start) : status;
}

static const char *name_of(void *user, size_t shot) {
    static const char *const names[] = { "one", "two", "three", "four" };
    (void)user;
    return names[shot];
}

/* The same for what shots share. */
static void errors_of_a_shared_beam_allow_for_it_slow(void **state) {
    (void)state;
    db_experiment straight;
    db_fit_settings settings;
    db_fit_shots_result *r;
    set_up(&settings);
    assert_int_equal(rendered_experiment(context, PIXELS, 10000, &straight), DB_OK);
    for (size_t i = 0; i < settings.parameter_count; i++) {
        const db_parameter p = settings.parameters[i].parameter;
        settings.parameters[i].shared = p == DB_BEAM_FAST || p == DB_BEAM_SLOW;
    }
    const db_fit_shot_source source = {
        .count = 4, .user = &straight, .load = load_frame, .name = name_of
    };
    db_fit_run(context, &source, &settings, NULL, &r);
    if (!r) fail_msg("%s", db_context_message(context));
    print_message("%s\n", r->reason);
    print_message("together: chi2/dof %.2f, shared misfit %.2f\n", r->chi2_reduced[1],
                  r->estimates.shared_misfit);
    assert_int_equal(r->used, 4);
    for (size_t i = 0; i < r->estimates.count; i++) {
        if (!r->estimates.list[i].shared) continue;
        const double off = r->estimates.list[i].value -
                           db_parameter_get(&straight, r->estimates.list[i].parameter);
        print_message("beam centre off by %.4f mm, error %.4f, by misfit %.4f\n", off,
                      r->estimates.list[i].error, r->estimates.list[i].error_scaled);
        assert_true(fabs(off) < 3 * r->estimates.list[i].error &&
                    r->estimates.list[i].error > 1.3 * r->estimates.list[i].error_scaled);
    }
    db_fit_shots_result_destroy(&r);
    db_experiment_clear(&straight);
    db_fit_settings_clear(&settings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_hold_for_a_model_that_is_wrong),
        cmocka_unit_test(errors_of_a_shared_beam_allow_for_it_slow),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
