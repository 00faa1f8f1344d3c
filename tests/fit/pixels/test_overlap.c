/* Crowded spots: an image without noise must bring back the very crystal, and errors by noise must
 * agree with the disagreement of shoeboxes. Both fail where neighbours' light counts as a spot's.
 */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <math.h>

enum { PIXELS = 560 }; /* spots of two pixels, rows of them less than six pixels apart */
static db_context *context;
static db_experiment truth;

static int make(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK &&
                   rendered_experiment(context, PIXELS, 1000, &truth) == DB_OK
               ? 0
               : -1;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

static db_fit_result *refine(unsigned long seed, const db_fit_settings *settings) {
    db_measured_image image;
    db_experiment start;
    db_fit_result *result = NULL;
    assert_int_equal(rendered_image(context, &truth, seed, &image), DB_OK);
    assert_int_equal(db_experiment_copy(context, &truth, &start), DB_OK);
    start.crystal.misset[0] += 0.1;
    start.crystal.misset[1] -= 0.1;
    if (fit_still(context, &start, &image, settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    db_experiment_clear(&start);
    db_measured_image_clear(&image);
    return result;
}

static void bring_back_from_expected_counts(db_fit_intensity intensity) {
    static const db_parameter list[] = { DB_MISSET_X,  DB_MISSET_Y, DB_MISSET_Z,
                                         DB_CELL_A,    DB_CELL_C,   DB_BEAM_FAST,
                                         DB_BEAM_SLOW, DB_CELLS_A,  DB_CELLS_C };
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_settings_init(&settings);
    settings.target = DB_FIT_POISSON;
    settings.model_error = 0;
    settings.intensity = intensity;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings, list[i], -1);
    const int known = intensity == DB_FIT_KNOWN;
    truth.spread.spots = known ? DB_SPOTS_SAMPLED : DB_SPOTS_CLOSED;
    refine_parameter(&settings, known ? DB_MOSAIC_SPREAD : DB_MOSAIC_VARIANCE, -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    refine_parameter(&settings, DB_CELLS_B, DB_CELLS_A);
    db_fit_settings_default_stages(&settings); /* by pixels, down to a hundredth of an error */
    db_fit_result *result = refine(0, &settings);
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_fit_estimate *const found = &result->estimates.list[i];
        const double off = found->value - db_parameter_get(&truth, found->parameter);
        if (db_fit_parameter_is_tied(&settings.parameters[i])) continue;
        if (!(fabs(off) < 0.1 * found->error_unscaled))
            fail_msg("%s is off by %g, %.2f errors", found->name, off, off / found->error_unscaled);
    }
    assert_true(result->shoebox_count > 150);
    fit_still_destroy(&result);
}

static void expected_counts_bring_back_the_crystal(void **state) {
    (void)state;
    bring_back_from_expected_counts(DB_FIT_FREE);
}

/* The background has a ring: planes must be small enough to follow it. */
static void so_they_do_with_known_amplitudes(void **state) {
    (void)state;
    bring_back_from_expected_counts(DB_FIT_KNOWN);
}

static void shoeboxes_disagree_no_more_than_noise_lets_them(void **state) {
    (void)state;
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z };
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_settings_init(&settings);
    truth.spread.spots = DB_SPOTS_CLOSED;
    for (size_t i = 0; i < 3; i++) refine_parameter(&settings, list[i], -1);
    db_fit_result *result = refine(3, &settings);
    for (size_t i = 0; i < 3; i++) {
        const double ratio =
            result->estimates.list[i].error_robust / result->estimates.list[i].error_unscaled;
        const double off = result->estimates.list[i].value - db_parameter_get(&truth, list[i]);
        if (!(ratio < 1.3 && fabs(off) < 3 * result->estimates.list[i].error))
            fail_msg("%s: errors by spots are %.2f of those by noise, it is %g off",
                     db_parameter_describe(list[i])->name, ratio, off);
    }
    fit_still_destroy(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_counts_bring_back_the_crystal),
        cmocka_unit_test(so_they_do_with_known_amplitudes),
        cmocka_unit_test(shoeboxes_disagree_no_more_than_noise_lets_them),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
