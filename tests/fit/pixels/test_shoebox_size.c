/* Shoeboxes follow the spacing of spots, and images on which spots leave no room for them are not
 * taken for blank. */

#include "support/context.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/pixels/predict.h"
#include "fit/pixels/rendering.h"
#include "fit/pixels/shoeboxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What comes of a refinement of the misset from 0.1 degree off; NULL: refused. The images of
 * rendered_experiment have the same spots, the nearer the fewer pixels there are. */
static db_fit_result *refine(int pixels, db_fit_intensity intensity, int half_width) {
    db_experiment truth, start;
    db_measured_image image;
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_result *result = NULL;
    assert_int_equal(rendered_experiment(context, pixels, 1000, &truth), DB_OK);
    if (intensity == DB_FIT_KNOWN) truth.spread.spots = DB_SPOTS_SAMPLED;
    assert_int_equal(rendered_image(context, &truth, 1, &image), DB_OK);
    assert_int_equal(db_experiment_copy(context, &truth, &start), DB_OK);
    start.crystal.misset[0] += 0.1;
    db_fit_settings_init(&settings);
    settings.intensity = intensity;
    settings.shoebox_half_width = half_width;
    settings.target = DB_FIT_POISSON;
    settings.model_error = 0;
    for (db_parameter p = DB_MISSET_X; p <= DB_MISSET_Z; p++) refine_parameter(&settings, p, -1);
    fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    db_experiment_clear(&truth);
    db_experiment_clear(&start);
    db_measured_image_clear(&image);
    return result;
}

static void boxes_are_smaller_where_spots_are_crowded(void **state) {
    (void)state;
    static const struct {
        int pixels, half_width;
    } cases[] = { { 250, 2 }, { 500, 7 }, { 1000, 8 }, { 1500, 8 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        db_experiment e;
        OWN(db_fit_settings_clear) db_fit_settings settings;
        assert_int_equal(rendered_experiment(context, cases[i].pixels, 1000, &e), DB_OK);
        db_fit_settings_init(&settings);
        assert_int_equal(db_shoebox_size_choose(context, &e, &settings), DB_OK);
        assert_int_equal(settings.shoebox_half_width, cases[i].half_width);
        settings.shoebox_half_width = 5; /* a wish is kept */
        assert_int_equal(db_shoebox_size_choose(context, &e, &settings), DB_OK);
        assert_int_equal(settings.shoebox_half_width, 5);
        db_experiment_clear(&e);
    }
}

/* The usual size is too small for these, and the largest is not exceeded. */
static void boxes_hold_wide_spots_in_closed_form(void **state) {
    (void)state;
    static const struct {
        double footprint; /* mm */
        int half_width;
    } cases[] = { { 0, 8 }, { 0.3, 8 }, { 0.6, 13 }, { 3, 20 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        db_experiment e;
        OWN(db_fit_settings_clear) db_fit_settings settings;
        assert_int_equal(rendered_experiment(context, 3000, 1000, &e), DB_OK);
        e.spread.mosaic = 0;
        e.spread.footprint[0] = e.spread.footprint[1] = cases[i].footprint * cases[i].footprint;
        db_fit_settings_init(&settings);
        assert_int_equal(db_shoebox_size_choose(context, &e, &settings), DB_OK);
        assert_int_equal(settings.shoebox_half_width, cases[i].half_width);
        db_experiment_clear(&e);
    }
}

static void errors_are_smaller_than_with_boxes_of_the_usual_size(void **state) {
    (void)state;
    db_fit_result *usual = refine(500, DB_FIT_FREE, DB_SHOEBOX_USUAL);
    db_fit_result *chosen = refine(500, DB_FIT_FREE, 0);
    assert_non_null(usual);
    assert_non_null(chosen);
    assert_int_equal(chosen->status, DB_OK);
    assert_int_equal(chosen->shoebox_half_width, 7);
    assert_int_equal(usual->shoebox_half_width, DB_SHOEBOX_USUAL);
    for (size_t i = 0; i < 3; i++)
        if (!(1.5 * chosen->estimates.list[i].error_unscaled <
              usual->estimates.list[i].error_unscaled))
            fail_msg("errors %g and %g", chosen->estimates.list[i].error_unscaled,
                     usual->estimates.list[i].error_unscaled);
    fit_still_destroy(&usual);
    fit_still_destroy(&chosen);
}

/* Boxes of all predicted reflections that are wholly on their panel. */
static void box_predicted(const db_experiment *e, int half_width, db_predicted_spots *all,
                          db_shoeboxes *boxes) {
    static const db_prediction_range any = { 0, 0, 0.7, 0 };
    assert_int_equal(db_predict(context, e, &any, all), DB_OK);
    *boxes = (db_shoeboxes){ .width = 2 * half_width + 1, .reflection = all->spot };
    boxes->pixels = (size_t)boxes->width * (size_t)boxes->width;
    boxes->region = malloc(all->count * sizeof *boxes->region);
    assert_non_null(boxes->region);
    for (size_t i = 0; i < all->count; i++) {
        const db_region square = db_shoebox_square(&all->spot[i], half_width);
        const db_panel *const panel = &e->detector.panels[square.panel];
        if (!db_is_on_panel(&square, panel->fast_pixels, panel->slow_pixels)) continue;
        boxes->reflection[boxes->count] = all->spot[i];
        boxes->region[boxes->count] = square;
        boxes->region[boxes->count].offset = boxes->count * boxes->pixels;
        boxes->count++;
    }
}

/* Rendered with what pixels may lack, they do lack something, but no more. */
static void pixels_lack_little_of_well_excited_spots(void **state) {
    (void)state;
    db_experiment e, unit;
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_predicted_spots all;
    db_shoeboxes boxes;
    double tolerance, most = 0, highest = 0;
    size_t lacking = 0;
    db_fit_settings_init(&settings);
    settings.precision = DB_PRECISION_DOUBLE;
    assert_int_equal(rendered_experiment(context, 1000, 1000, &e), DB_OK);
    assert_int_equal(db_experiment_unit_amplitudes(context, &e, &unit), DB_OK);
    box_predicted(&unit, 8, &all, &boxes);
    assert_true(boxes.count > 100);
    assert_int_equal(db_shoeboxes_tolerance(context, &unit, &boxes, &tolerance), DB_OK);
    float *image[2];
    for (int i = 0; i < 2; i++) {
        image[i] = calloc(boxes.count * boxes.pixels, sizeof *image[i]);
        assert_non_null(image[i]);
        assert_int_equal(db_render_regions(context, &unit, &settings, boxes.region, boxes.count,
                                           NULL, i ? tolerance : 0, image[i]),
                         DB_OK);
    }
    for (size_t i = 0; i < boxes.count * boxes.pixels; i++) {
        const double lacks = (double)image[0][i] - (double)image[1][i];
        highest = fmax(highest, (double)image[0][i]);
        most = fmax(most, fabs(lacks));
        lacking += lacks > 0;
    }
    print_message("%zu boxes: tolerance %.2g, lacking %.2g at most, highest pixel %.2g\n",
                  boxes.count, tolerance, most, highest);
    assert_true(tolerance > 0 && tolerance < 1e-5 * highest && tolerance > 1e-8 * highest);
    assert_true(lacking > 0 && most <= tolerance);
    unit.spread.spots = DB_SPOTS_SAMPLED;
    assert_int_equal(db_shoeboxes_tolerance(context, &unit, &boxes, &tolerance), DB_OK);
    assert_true(tolerance == 0);
    for (int i = 0; i < 2; i++) free(image[i]);
    free(boxes.region);
    db_predicted_spots_clear(&all);
    db_experiment_clear(&unit);
    db_experiment_clear(&e);
}

/* Known amplitudes are compared with all pixels, of whichever reflection. */
static void a_crowded_image_is_not_blank(void **state) {
    (void)state;
    db_fit_result *result = refine(250, DB_FIT_KNOWN, DB_SHOEBOX_USUAL);
    if (!result) fail_msg("%s", db_context_message(context));
    assert_int_equal(result->status, DB_OK);
    for (size_t i = 0; i < 3; i++) assert_true(result->estimates.list[i].error < 0.02);
    fit_still_destroy(&result);
    result = refine(250, DB_FIT_FREE, DB_SHOEBOX_USUAL);
    assert_null(result);
    assert_non_null(strstr(db_context_message(context), "expected a smaller shoebox_half_width"));
}

/* Sum of a Gaussian of 1 photon over the middles of n sub-pixels a pixel, along an edge; it has the square of a sub-pixel. */
static double sum_along(double variance, double at, int n) {
    const double two_pi = 6.283185307179586, v = variance + 1.0 / 12 / (n * n);
    double sum = 0;
    for (int i = -30 * n; i < 30 * n; i++)
        sum += exp(-pow((i + 0.5) / n - at, 2) / (2 * v)) / sqrt(two_pi * v) / n;
    return sum;
}

/* Intensities are compared with the sums of spots, so these are right wherever a spot lies; wide spots need no sub-pixels. */
static void sums_over_boxes_are_right(void **state) {
    (void)state;
    enum { COUNT = 20 };
    db_spot spot[COUNT] = { { .panel = 0 } };
    const db_shoeboxes boxes = { .count = COUNT, .reflection = spot };
    for (double deviation = 0.05; deviation < 1.5; deviation += 0.05) { /* pixels */
        const double variance = deviation * deviation;
        int n = 0;
        for (int i = 0; i < COUNT; i++)
            spot[i].covariance[0] = spot[i].covariance[1] = variance + 1.0 / 12;
        assert_int_equal(db_shoeboxes_oversample(context, &boxes, 0.01, &n), DB_OK);
        for (double at = 0; at < 0.5; at += 0.05)
            assert_true(fabs(sum_along(variance, at, n) * sum_along(variance, at, n) - 1) < 1e-3);
        assert_true(n * deviation < 2 && (n == 1 || deviation < 0.6));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_smaller_where_spots_are_crowded),
        cmocka_unit_test(boxes_hold_wide_spots_in_closed_form),
        cmocka_unit_test(errors_are_smaller_than_with_boxes_of_the_usual_size),
        cmocka_unit_test(a_crowded_image_is_not_blank),
        cmocka_unit_test(pixels_lack_little_of_well_excited_spots),
        cmocka_unit_test(sums_over_boxes_are_right),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
