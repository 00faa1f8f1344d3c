/* Zingers in a rendered image are the pixels that a robust target distrusts. */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <string.h>

enum { PIXELS = 600, ZINGERS = 40 };
static db_context *context;
static db_experiment crystal;
static db_measured_image image;
static db_fit_settings settings;
static db_fit_result *result;
static size_t zinger[ZINGERS]; /* index into the image */

static int make(void **state) {
    (void)state;
    return rendered_begin(PIXELS, 1000, 11, &context, &crystal, &image);
}

static int drop(void **state) {
    (void)state;
    return rendered_end(&context, &crystal, &image);
}

static int begin(void **state) {
    (void)state;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    refine_parameter(&settings, DB_MISSET_X, -1);
    refine_parameter(&settings, DB_MISSET_Y, -1);
    refine_parameter(&settings, DB_MISSET_Z, -1);
    settings.max_shoeboxes = 150; /* among the pixels of more, chance alone makes some */
    return 0;
}

static int forget(void **state) {
    (void)state;
    fit_still_destroy(&result);
    return 0;
}

static void run(db_fit_target target) {
    settings.target = target;
    if (fit_still(context, &crystal, &image, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
}

/* One in each of some shoeboxes of a clean refinement, off the middle of its spot. */
static void inject(void) {
    run(DB_FIT_WEIGHTED);
    assert_true(result->shoebox_count > ZINGERS);
    assert_int_equal(result->distrusted_count, 0); /* weighted trusts all alike */
    for (int n = 0; n < ZINGERS; n++) {
        const db_fit_shoebox *const box =
            &result->shoeboxes[(size_t)n * result->shoebox_count / ZINGERS];
        const int fast = (int)box->predicted[0] + (n % 2 ? 3 : -3),
                  slow = (int)box->predicted[1] + (n % 3 - 1);
        zinger[n] = (size_t)slow * PIXELS + (size_t)fast;
        image.value[zinger[n]] += 400.0F + 50 * (float)n;
    }
    fit_still_destroy(&result);
}

static int is_zinger(const db_fit_pixel *pixel) {
    for (int n = 0; n < ZINGERS; n++)
        if (zinger[n] == (size_t)pixel->slow * PIXELS + (size_t)pixel->fast) return 1;
    return 0;
}

/* All that are in use come first, with the counts they have; next to nothing else is listed. */
static void zingers_are_listed(db_fit_target target) {
    run(target);
    size_t found = 0, in_use = 0;
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        for (int n = 0; n < ZINGERS; n++) {
            const int fast = (int)(zinger[n] % PIXELS) - box->region.fast_start,
                      slow = (int)(zinger[n] / PIXELS) - box->region.slow_start;
            if (fast < 0 || slow < 0 || fast >= box->region.fast_count ||
                slow >= box->region.slow_count)
                continue;
            in_use += box->sigma[(size_t)slow * box->region.stride + (size_t)fast] > 0;
        }
    }
    for (size_t i = 0; i < result->distrusted_listed; i++) {
        const db_fit_pixel *const p = &result->distrusted[i];
        found += (size_t)is_zinger(p);
        assert_int_equal(p->panel, 0);
        assert_true(p->counts == (double)image.value[(size_t)p->slow * PIXELS + (size_t)p->fast]);
        assert_true(fabs(p->z) > 5 && (p->counts - p->model) * p->z > 0);
        assert_true(p->trust > 0 && p->trust < (target == DB_FIT_HUBER ? 0.6 : 0.2));
        assert_true(i == 0 || p->trust >= result->distrusted[i - 1].trust);
    }
    assert_true((double)in_use > 0.7 * ZINGERS);
    if (found != in_use || result->distrusted_listed > found + 5)
        fail_msg("%zu of %zu zingers in use are among %zu pixels", found, in_use,
                 result->distrusted_listed);
    assert_int_equal(result->distrusted_count, result->distrusted_listed);
}

static void student_lists_zingers(void **state) {
    (void)state;
    inject();
    zingers_are_listed(DB_FIT_STUDENT);
}

/* The image still has them. */
static void huber_lists_zingers(void **state) {
    (void)state;
    zingers_are_listed(DB_FIT_HUBER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(student_lists_zingers, begin, forget),
        cmocka_unit_test_setup_teardown(huber_lists_zingers, begin, forget),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
