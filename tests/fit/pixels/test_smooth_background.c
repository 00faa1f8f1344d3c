/* The smooth background is what lies under the spots. */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/pixels/smooth_background.h"
#include "fit/pixels/observed_spots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 800 };
static db_context *context;
static db_experiment crystal;
static db_measured_image image;
static float *light, *true_background; /* of the crystal alone; of the same image without one */

static void render(const db_experiment *e, float *out) {
    db_plan *plan;
    assert_int_equal(db_plan_create(context, e, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, out), DB_OK);
    db_plan_destroy(&plan);
}

static int make(void **state) {
    (void)state;
    db_experiment dark;
    db_measured_image empty;
    if (rendered_begin(PIXELS, 1000, 3, &context, &crystal, &image) != 0) return -1;
    if (db_experiment_copy(context, &crystal, &dark) != DB_OK) return -1;
    dark.beam.scale = 1e-30;
    if (rendered_image(context, &dark, 0, &empty) != DB_OK) return -1;
    db_experiment_clear(&dark);
    true_background = empty.value;
    free(empty.mask);
    light = malloc((size_t)PIXELS * PIXELS * sizeof *light);
    if (!light) return -1;
    render(&crystal, light);
    return 0;
}

static int drop(void **state) {
    (void)state;
    free(light);
    free(true_background);
    return rendered_end(&context, &crystal, &image);
}

/* Deviation of a background from the true one in standard deviations of a pixel, over the pixels
 * that spots reach: mean, and root mean square. */
static void under_spots(db_fit_background kind, double *mean, double *deviation) {
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_strong_pixels strong;
    double sum = 0, square = 0, number = 0;
    db_fit_settings_init(&settings);
    settings.background = kind;
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    for (size_t i = 0; i < (size_t)PIXELS * PIXELS; i++) {
        const double b = (double)true_background[i];
        if (image.mask[i] != DB_MASK_TRUSTED || (double)light[i] < 0.3 * b) continue;
        const double off = ((double)strong.background[i] - b) / sqrt(b);
        sum += off;
        square += off * off;
        number++;
    }
    db_strong_pixels_clear(&strong);
    assert_true(number > 10000);
    *mean = sum / number;
    *deviation = sqrt(square / number);
}

/* The mean of the surroundings has the noise of its few pixels, at least 1/17, and a little light of tails of spots; the
 * surface is drawn where none are. */
static void a_smooth_background_has_no_spots_in_it(void **state) {
    (void)state;
    double fixed[2], smooth[2];
    under_spots(DB_FIT_BACKGROUND_FIXED, &fixed[0], &fixed[1]);
    under_spots(DB_FIT_BACKGROUND_SMOOTH, &smooth[0], &smooth[1]);
    print_message("fixed: %.3f, rms %.3f; smooth: %.3f, rms %.3f\n", fixed[0], fixed[1], smooth[0],
                  smooth[1]);
    assert_true(fabs(fixed[0]) < 0.05 && fixed[1] < 0.1);
    assert_true(fabs(smooth[0]) < 0.01 && smooth[1] < 0.05);
}

/* Quadratics, which are bicubic, come back without any noise, in gaps as well. */
static void surfaces_of_second_order_come_back(void **state) {
    (void)state;
    enum { FAST = 203, SLOW = 131 };
    static float value[FAST * SLOW], background[FAST * SLOW], want[FAST * SLOW];
    static uint8_t mask[FAST * SLOW], strong[FAST * SLOW];
    const db_measured_image plain = {
        .fast_pixels = FAST, .slow_pixels = SLOW, .value = value, .mask = mask, .gain = 1
    };
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_settings_init(&settings);
    for (int i = 0; i < FAST * SLOW; i++) {
        const double x = i % FAST / 100.0, y = i / FAST / 100.0;
        want[i] = value[i] = (float)(50 + 20 * x - 10 * y + 8 * x * y - 6 * x * x);
        background[i] = value[i] + 3; /* a guess */
        mask[i] = i % FAST > 90 && i % FAST < 110 ? DB_MASK_GAP : DB_MASK_TRUSTED;
        if (mask[i] != DB_MASK_TRUSTED) value[i] = -1;
        strong[i] = abs(i % FAST - 40) < 4 && abs(i / FAST - 60) < 4;
        if (strong[i]) value[i] += 1000;
    }
    assert_int_equal(db_smooth_background(context, &plain, &settings, strong, background, NULL),
                     DB_OK);
    for (int i = 0; i < FAST * SLOW; i++)
        if (!(fabs((double)(background[i] - want[i])) < 0.02)) /* stiffness; noise would be 7 */
            fail_msg("pixel %d, %d: %g instead of %g", i % FAST, i / FAST, (double)background[i],
                     (double)want[i]);
}

/* Light in a shadow that is not masked, below the surface drawn through it, is no spot. */
static void what_is_below_the_surface_is_no_spot(void **state) {
    (void)state;
    enum { WIDE = 400, SHADOW = 60 };
    static float value[WIDE * WIDE];
    static uint8_t mask[WIDE * WIDE];
    const db_measured_image shaded = {
        .fast_pixels = WIDE, .slow_pixels = WIDE, .value = value, .mask = mask, .gain = 1
    };
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_strong_pixels strong;
    db_observed_spots spots;
    db_fit_settings_init(&settings);
    settings.background = DB_FIT_BACKGROUND_SMOOTH;
    for (int i = 0; i < WIDE * WIDE; i++) {
        const int fast = i % WIDE, slow = i / WIDE, spot = fast % 23 < 3 && slow % 23 < 3;
        const int dark = abs(fast - 200) < SHADOW / 2 && abs(slow - 200) < SHADOW / 2;
        value[i] = (float)((dark ? 0 : 100) + spot * (dark ? 10 + 20 * (fast % 23) : 200));
    }
    assert_int_equal(db_strong_pixels_find(context, &shaded, &settings, &strong), DB_OK);
    size_t count = 0;
    for (int i = 0; i < WIDE * WIDE; i++) {
        count += strong.strong[i];
        if (strong.strong[i] && !(value[i] > strong.background[i]))
            fail_msg("pixel %d, %d: %g counts, %g below the surface", i % WIDE, i / WIDE,
                     (double)value[i], (double)(strong.background[i] - value[i]));
    }
    assert_true(count > 2000);
    assert_int_equal(count, strong.count);
    assert_int_equal(db_observed_spots_find(context, &shaded, &strong, &settings, &spots), DB_OK);
    assert_true(spots.count >= strong.spots);
    for (size_t i = 0; i < spots.count; i++) {
        const double *const at = spots.spot[i].position;
        assert_true(spots.spot[i].counts > 0);
        assert_true(at[0] > 0 && at[0] < WIDE && at[1] > 0 && at[1] < WIDE);
    }
    db_observed_spots_clear(&spots);

    /* what is remembered makes the same again, from another mask it does not */
    db_strong_memory memory = { 0 };
    for (int pass = 0; pass < 3; pass++) {
        db_strong_pixels again;
        db_measured_image next = shaded;
        next.masked = pass == 2;
        assert_int_equal(db_strong_pixels_recall(context, &next, &settings, &memory, &again),
                         DB_OK);
        assert_int_equal(again.count, strong.count);
        assert_int_equal(again.spots, strong.spots);
        assert_memory_equal(again.strong, strong.strong, WIDE * WIDE);
        assert_memory_equal(again.bits, strong.bits, strong.words * WIDE * sizeof *strong.bits);
        assert_memory_equal(again.background, strong.background, sizeof value);
        db_strong_pixels_clear(&again);
        assert_int_equal(memory.masked, pass == 2);
        for (size_t k = 0; k < memory.count && pass == 1; k++)
            memory.pixel[k] = 0; /* is looked at */
    }
    db_strong_memory_clear(&memory);
    db_strong_pixels_clear(&strong);
}

/* A panel without a single usable pixel keeps the guess. */
static void nothing_to_fit_is_no_failure(void **state) {
    (void)state;
    static float value[40 * 30], background[40 * 30];
    static uint8_t mask[40 * 30], strong[40 * 30];
    const db_measured_image blind = {
        .fast_pixels = 40, .slow_pixels = 30, .value = value, .mask = mask, .gain = 1
    };
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_settings_init(&settings);
    memset(mask, DB_MASK_GAP, sizeof mask);
    background[7] = 5;
    double coefficient[64];
    assert_true(db_smooth_coefficients(&blind) <= 64);
    assert_int_equal(
        db_smooth_background(context, &blind, &settings, strong, background, coefficient), DB_OK);
    assert_true(isnan(coefficient[0]));
    assert_true(background[7] == 5 && background[8] == 0);
}

/* A refinement with it finds the crystal, and noise as it is. */
static void a_refinement_takes_it(void **state) {
    (void)state;
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_result *result;
    db_experiment start;
    assert_int_equal(db_experiment_copy(context, &crystal, &start), DB_OK);
    start.crystal.misset[0] += 0.05;
    start.crystal.misset[2] -= 0.05;
    db_fit_settings_init(&settings);
    settings.background = DB_FIT_BACKGROUND_SMOOTH;
    refine_parameter(&settings, DB_MISSET_X, -1);
    refine_parameter(&settings, DB_MISSET_Y, -1);
    refine_parameter(&settings, DB_MISSET_Z, -1);
    if (fit_still(context, &start, &image, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_true(misorientation(&crystal.crystal, &result->experiment.crystal) < 0.01);
    assert_true(result->after.chi2_reduced > 0.7 && result->after.chi2_reduced < 1.2);
    fit_still_destroy(&result);
    db_experiment_clear(&start);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_smooth_background_has_no_spots_in_it),
        cmocka_unit_test(surfaces_of_second_order_come_back),
        cmocka_unit_test(what_is_below_the_surface_is_no_spot),
        cmocka_unit_test(nothing_to_fit_is_no_failure),
        cmocka_unit_test(a_refinement_takes_it),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
