/* Errors where the model is wrong and all spots of a region miss the data in the same way: images of one
 * bent crystal, turned from image to image, are refined as if it were not bent. The beam centre is the
 * same on all of them; its scatter, over the errors, says whether these mean what they say. */
#include "support/context.h"
#include "fit/rendered_image.h"

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

static void refine_frame(const db_experiment *straight, const db_fit_settings *settings, int frame,
                         pulls *p) {
    db_experiment truth = *straight, start = *straight; /* borrow */
    db_measured_image image;
    db_fit_result *r;
    start.spread.spots = DB_SPOTS_CLOSED;
    start.spread.mosaic = 0.02;
    start.crystal.misset[1] = truth.crystal.misset[1] += 5.0 * frame;
    start.crystal.misset[2] = truth.crystal.misset[2] += 3.0 * frame;
    bend(&truth);
    assert_int_equal(rendered_image(context, &truth, 7 + (unsigned long)frame, &image), DB_OK);
    db_fit_run(context, &start, &image, settings, NULL, NULL, &r);
    if (!r) fail_msg("frame %d: %s", frame, db_context_message(context));
    for (size_t i = 0; i < r->parameter_count; i++) {
        if (r->parameter[i] != DB_BEAM_FAST && r->parameter[i] != DB_BEAM_SLOW) continue;
        const double off = r->refined[i] - db_parameter_get(&truth, r->parameter[i]);
        p->quoted += off * off / (r->error[i] * r->error[i]);
        p->by_misfit += off * off / (r->error_scaled[i] * r->error_scaled[i]);
        p->count++;
    }
    print_message("frame %d: %s, chi2/dof %.2f, %.0f %% explained, shared misfit %.2f\n", frame,
                  r->status == DB_OK ? "converged" : r->reason, r->after.chi2_reduced,
                  100 * r->after.strong_explained, r->shared_misfit);
    db_fit_result_destroy(&r);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_hold_for_a_model_that_is_wrong),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
