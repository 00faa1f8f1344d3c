/* A refinement needs little stack. All work is done by the calling thread, since OpenMP's own have
 * stacks of their own size. */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "support/small_stack.h"

static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;
static db_fit_result *result;

static int make(void **state) {
    (void)state;
    return rendered_begin(600, 1000, 5, &context, &truth, &image) ||
           db_experiment_copy(context, &truth, &start) != DB_OK ||
           db_context_set_threads(context, 1) != DB_OK;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&start);
    return rendered_end(&context, &truth, &image);
}

static db_status fit(void *unused) {
    (void)unused;
    return fit_still(context, &start, &image, &settings, NULL, NULL, &result);
}

static void refine(db_fit_intensity intensity) {
    static const db_parameter moved[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z, DB_BEAM_FAST,
                                          DB_BEAM_SLOW };
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.intensity = intensity;
    for (int i = 0; i < 5; i++) refine_parameter(&settings, moved[i], -1);
    for (int i = 0; i < 3; i++) start.crystal.misset[i] = truth.crystal.misset[i] + 0.1;
    if (on_small_stack(fit, NULL) != DB_OK) fail_msg("%s", db_context_message(context));
    assert_true(misorientation(&truth.crystal, &result->experiment.crystal) < 0.03);
    fit_still_destroy(&result);
}

static void free_intensities_are_refined(void **state) {
    (void)state;
    if (stacks_are_inflated()) skip();
    refine(DB_FIT_FREE);
}

static void known_intensities_are_refined(void **state) {
    (void)state;
    if (stacks_are_inflated()) skip();
    refine(DB_FIT_KNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_intensities_are_refined),
        cmocka_unit_test(known_intensities_are_refined),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
