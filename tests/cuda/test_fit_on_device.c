/* A refinement whose images, coefficients and sums are made on a device ends where the processor's does. */
#include "support/unit_test.h"
#include "support/notices.h"
#include "machine.h"
#include "takes_all.h"

#if defined(DB_HAVE_FIT)
#include "fit/still_fit.h"
#include "bench/fit/scene.c"

#include <dualbragg/fit.h>

#include <math.h>
#include <string.h>

static db_fit_result *result_of(const char *device, db_context **context) {
    static const db_bench_error error = { 0.2, 0.003, 1.5, 0.5, 1.1, 0.1 };
    db_bench_scene scene;
    db_experiment start;
    db_fit_result *result;
    assert_int_equal(db_context_create(context), DB_OK);
    assert_int_equal(db_bench_still(*context, 1, &scene), DB_OK);
    assert_int_equal(db_bench_spoil(*context, &scene.truth, &error, 1, &start), DB_OK);
    assert_int_equal(db_context_set_device(*context, device), DB_OK);
    assert_int_equal(
        fit_still(*context, &start, &scene.image, &scene.settings, NULL, NULL, &result), DB_OK);
    db_experiment_clear(&start);
    db_bench_scene_clear(&scene);
    return result;
}

/* Images are rounded to float: values agree to a thousandth of their errors. A GPU rounds otherwise in mixed
 * precision, and its search may end at another evaluation. */
#if defined(DB_ON_GPU)
static const double ERRORS = 1e-2;
#else
static const double ERRORS = 1e-3;
#endif
static void a_still_is_refined_to_the_same_slow(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    db_context *here, *there;
    db_fit_result *expected = result_of("cpu", &here), *found = result_of("cuda", &there);
    COUNTED(assert_true(stand_in.launches > 20);)
    COUNTED(assert_int_equal(found->evaluations, expected->evaluations);)
    assert_int_equal(found->estimates.count, expected->estimates.count);
    for (size_t i = 0; i < expected->estimates.count; i++)
        if (isfinite(expected->estimates.list[i].error_unscaled))
            assert_true(fabs(found->estimates.list[i].value - expected->estimates.list[i].value) <=
                        ERRORS * expected->estimates.list[i].error_unscaled);
    assert_true(fabs(found->after.chi2_reduced - expected->after.chi2_reduced) < 1e-3 * ERRORS);
    fit_still_destroy(&expected);
    fit_still_destroy(&found);
    db_context_destroy(&here);
    db_context_destroy(&there);
}

/* Intensities of all predicted reflections, of one model here and there. */
static void all_reflections_are_measured_alike(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    db_context *here, *there;
    db_bench_scene scene;
    db_fit_result *result[2];
    const char *const devices[2] = { "cpu", "cuda" };
    assert_int_equal(db_context_create(&here), DB_OK);
    assert_int_equal(db_bench_crowded_still(here, 1, 800, 60, &scene), DB_OK);
    scene.settings.parameter_count = 1; /* hardly anything moves */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(db_context_create(&there), DB_OK);
        assert_int_equal(db_context_set_device(there, devices[i]), DB_OK);
        db_context_set_notices(there, keep_notice, NULL);
        notices[0] = '\0';
        const db_status status =
            fit_still(there, &scene.truth, &scene.image, &scene.settings, NULL, NULL, &result[i]);
        if (!result[i]) fail_msg("%s: %d, %s", devices[i], status, db_context_message(there));
        assert_string_equal(notices, "");
        db_context_destroy(&there);
    }
    assert_true(result[0]->reflection_count > 100);
    assert_int_equal(result[1]->reflection_count, result[0]->reflection_count);
    for (size_t i = 0; i < result[0]->reflection_count; i++) {
        const db_fit_reflection *const x = &result[0]->reflections[i];
        const db_fit_reflection *const y = &result[1]->reflections[i];
        assert_memory_equal(x->hkl, y->hkl, sizeof x->hkl);
        assert_int_equal(x->pixels, y->pixels);
        assert_int_equal(x->strong, y->strong);
        assert_true(fabs(x->square - y->square) <= 0.01 * x->square_sigma);
        assert_true(fabs(x->sum - y->sum) <= 0.01 * x->sum_sigma);
    }
    fit_still_destroy(&result[0]);
    fit_still_destroy(&result[1]);
    db_bench_scene_clear(&scene);
    db_context_destroy(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_still_is_refined_to_the_same_slow),
                                        cmocka_unit_test(all_reflections_are_measured_alike) };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    printf("skipped: no refinement\n");
    return SKIPPED;
}
#endif
