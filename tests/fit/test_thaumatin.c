/* Measured stills: thaumatin frames 3, 5 and 9 come back from a spoilt start, blank frame 16 is
 * refused. The data are in $SHARED_DIR/realdata/thaumatin (see examples/thaumatin.sh); without them
 * the test is skipped.
 *
 * The listed models (orientations.json) are the result of indexing spot centroids. One still
 * determines rotations out of the detector's plane weakly: there, the refined model may differ from
 * the listed one by more than 0.1 degree if it describes the same pixels better than the best model
 * with the listed orientation does. */

#include "support/context.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "base/vector.h"

#include <dualbragg/expert/fit_cell.h>
#include <dualbragg/expert/fit_steps.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, SKIPPED = 77 };
static char folder[PATH_SIZE];
typedef struct listed_model {
    double a, c, beam_fast, beam_slow; /* angstrom, pixels */
} listed_model;

static void file_name(char path[PATH_SIZE], int frame, const char *suffix) {
    snprintf(path, PATH_SIZE, "%.900s/thau_3_2_%04d.%s", folder, frame, suffix);
}

static listed_model read_listed(int frame) {
    char path[PATH_SIZE], key[8];
    snprintf(path, sizeof path, "%.900s/orientations.json", folder);
    snprintf(key, sizeof key, "%d", frame);
    json_t *const root = json_load_file(path, 0, NULL), *const entry = json_object_get(root, key);
    assert_non_null(entry);
    const listed_model listed = { json_number_value(json_object_get(entry, "a")),
                                  json_number_value(json_object_get(entry, "c")),
                                  json_number_value(json_object_get(entry, "beam_fast_px")),
                                  json_number_value(json_object_get(entry, "beam_slow_px")) };
    json_decref(root);
    return listed;
}

/* The model that a user would start from: header, matrix, and estimates of crystal size and mosaic
 * spread. */
static void make_start(int frame, const db_measured_image *image, db_experiment *start) {
    char path[PATH_SIZE];
    db_setup setup;
    file_name(path, frame, "mat");
    db_setup_init(&setup);
    setup.wavelength = setup.pixel_size = setup.polarization = setup.sensor_thickness = NAN;
    setup.matrix_file = path;
    setup.shape = DB_SHAPE_GAUSS;
    setup.Ncells[0] = setup.Ncells[1] = 15;
    setup.Ncells[2] = 6;
    setup.spread.spots = DB_SPOTS_CLOSED;
    setup.spread.mosaic_rms = 0.05;
    setup.oversample = 1;
    setup.sensor_layers = 1;
    assert_int_equal(db_setup_from_image(context, image, &setup), DB_OK);
    if (db_setup_resolve(context, &setup, start, NULL, NULL) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_true(fabs(start->detector.centre[0] / 0.172 - 1261.61) < 1e-6);
    assert_true(fabs(start->detector.centre[1] / 0.172 - 1306.96) < 1e-6);
}

/* 0.2 degree about an axis, edges 0.3 % off. */
static void spoil(db_experiment *start, int way) {
    static const double axis[2][3] = { { 0.6, -0.55, 0.58 }, { -0.5, -0.3, 0.81 } };
    const double length = db_length(axis[way]);
    for (int i = 0; i < 3; i++) start->crystal.misset[i] += 0.2 * axis[way][i] / length;
    start->crystal.cell[0] *= way ? 0.997 : 1.003;
    start->crystal.cell[1] = start->crystal.cell[0];
    start->crystal.cell[2] *= way ? 1.003 : 0.997;
}

static void choose_parameters(db_fit_settings *settings, int with_orientation) {
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y,       DB_MISSET_Z,  DB_CELL_A,
                                         DB_CELL_C,   DB_BEAM_FAST,      DB_BEAM_SLOW, DB_CELLS_A,
                                         DB_CELLS_C,  DB_MOSAIC_VARIANCE };
    db_fit_settings_init(settings);
    settings->dmin = 2.2;
    for (size_t i = with_orientation ? 0 : 3; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(settings, list[i], -1);
    refine_parameter(settings, DB_CELL_B, DB_CELL_A);
    refine_parameter(settings, DB_CELLS_B, DB_CELLS_A);
    db_fit_settings_default_stages(settings); /* by pixels */
}

/* The header's distance, which is held, is 1.5 % too long, as listed edges are: a model may be refused for that, and for
 * nothing else. */
static int asks_for_another_distance(const db_fit_result *r) {
    const double step = r->distance_step;
    return !r->verdict.test[DB_FIT_TEST_DISTANCE].passed && step < -1 && step > -8 &&
           strstr(r->verdict.reason, "the distance was held at 351 mm") == r->verdict.reason;
}

static db_fit_result *refine(const db_experiment *start, const db_measured_image *image,
                             int with_orientation) {
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_result *result;
    choose_parameters(&settings, with_orientation);
    const db_status status = fit_still(context, start, image, &settings, NULL, NULL, &result);
    if (status != DB_OK && !(result && asks_for_another_distance(result)))
        fail_msg("%s", db_context_message(context));
    return result;
}

static db_fit_statistics evaluate(const db_experiment *model, const db_experiment *placed_by,
                                  const db_measured_image *image) {
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_statistics statistics;
    choose_parameters(&settings, 1);
    assert_int_equal(evaluate_still(context, model, placed_by, image, &settings, &statistics),
                     DB_OK);
    return statistics;
}

static void report(const char *name, const db_fit_statistics *s) {
    print_message(
        "  %-28s chi2/dof %.3f, rms residual %.1f counts, correlation %.3f, centroids %.2f pixels, "
        "%.1f %% of %.0f strong pixels explained\n",
        name, s->chi2_reduced, s->rms_residual, s->correlation, s->centroid_rms,
        100 * s->strong_explained, s->strong_pixels);
}

static void report_parameters(const db_fit_result *r) {
    for (size_t i = 0; i < r->estimates.count; i++)
        print_message("  %-14s %10.4f -> %10.4f +- %.4f (by misfit %.4f) %s\n",
                      db_parameter_describe(r->estimates.list[i].parameter)->name,
                      r->estimates.list[i].start, r->estimates.list[i].value,
                      r->estimates.list[i].error, r->estimates.list[i].error_scaled,
                      db_parameter_describe(r->estimates.list[i].parameter)->unit);
}

static void within(const char *what, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s is %.5g, expected %.5g to within %.3g", what, value, expected, tolerance);
}

static void geometry_comes_back(const db_fit_result *r, const listed_model *listed) {
    const db_experiment *const e = &r->experiment;
    within("cell edge a", e->crystal.cell[0], listed->a, 0.0015 * listed->a);
    within("cell edge b", e->crystal.cell[1], listed->a, 0.0015 * listed->a);
    within("cell edge c", e->crystal.cell[2], listed->c, 0.0015 * listed->c);
    within("beam centre along fast", e->detector.centre[0] / 0.172, listed->beam_fast, 0.5);
    within("beam centre along slow", e->detector.centre[1] / 0.172, listed->beam_slow, 0.5);
    within("distance", e->detector.distance, 351, 1e-9); /* was fixed */
}

static void residuals_fall(const db_fit_result *r) {
    assert_true(r->after.chi2_reduced < 0.9 * r->before.chi2_reduced);
    assert_true(r->after.correlation > r->before.correlation + 0.1);
    assert_true(r->after.centroid_rms < 0.75 * r->before.centroid_rms);
    assert_true(r->after.strong_explained > 1.5 * r->before.strong_explained);
}

/* Within 0.1 degree; or lower residuals than with the listed orientation and all else refined, on
 * the shoeboxes that either model chooses. */
static void orientation_comes_back(const db_fit_result *r, const db_experiment *listed,
                                   const db_measured_image *image) {
    const double angle = misorientation(&listed->crystal, &r->experiment.crystal);
    db_fit_result *held = refine(listed, image, 0);
    const db_fit_statistics held_here = evaluate(&held->experiment, &r->experiment, image);
    const db_fit_statistics free_there = evaluate(&r->experiment, &held->experiment, image);
    assert_true(misorientation(&listed->crystal, &held->experiment.crystal) < 1e-4);
    print_message("  %.3f degree from the listed orientation; chi2/dof on the same pixels %.3f, "
                  "with the listed "
                  "orientation %.3f; on its pixels %.3f, %.3f\n",
                  angle, r->after.chi2_reduced, held_here.chi2_reduced, free_there.chi2_reduced,
                  held->after.chi2_reduced);
    const int lower = r->after.chi2_reduced < 0.995 * held_here.chi2_reduced &&
                      free_there.chi2_reduced < 0.995 * held->after.chi2_reduced;
    if (angle > 0.1 && !lower) fail_msg("%.3f degree off without lower residuals", angle);
    if (angle > 0.2) fail_msg("%.3f degree off", angle);
    fit_still_destroy(&held);
}

/* Listed matrix and beam centre, crystal size and mosaic spread as at the start. */
static void make_listed(int frame, const db_measured_image *image, const listed_model *values,
                        db_experiment *listed) {
    make_start(frame, image, listed);
    listed->detector.centre[0] = values->beam_fast * 0.172;
    listed->detector.centre[1] = values->beam_slow * 0.172;
}

static void more_strong_pixels_are_explained(const db_fit_result *r, const db_experiment *listed,
                                             const db_measured_image *image) {
    const db_fit_statistics s = evaluate(listed, listed, image);
    report("listed matrix, not refined", &s);
    assert_true(r->after.strong_explained > 1.2 * s.strong_explained);
}

/* Two spoilt starts lead to the same model. */
static void frame_comes_back(int frame) {
    char path[PATH_SIZE];
    db_measured_image image;
    db_experiment start, listed;
    db_fit_result *results[2];
    const listed_model values = read_listed(frame);
    file_name(path, frame, "cbf");
    if (db_read_image(context, path, &image) != DB_OK) fail_msg("%s", db_context_message(context));
    make_listed(frame, &image, &values, &listed);
    for (int way = 0; way < 2; way++) {
        make_start(frame, &image, &start);
        spoil(&start, way);
        assert_true(misorientation(&start.crystal, &listed.crystal) > 0.19);
        results[way] = refine(&start, &image, 1);
        print_message("frame %d, start %d: %d evaluations, %.1f s; %s\n", frame, way + 1,
                      results[way]->evaluations, results[way]->seconds, results[way]->reason);
        report("before", &results[way]->before);
        report("after", &results[way]->after);
        geometry_comes_back(results[way], &values);
        residuals_fall(results[way]);
        db_experiment_clear(&start);
    }
    report_parameters(results[0]);
    within("angle between the two results",
           misorientation(&results[0]->experiment.crystal, &results[1]->experiment.crystal), 0,
           0.03);
    orientation_comes_back(results[0], &listed, &image);
    more_strong_pixels_are_explained(results[0], &listed, &image);
    for (int way = 0; way < 2; way++) fit_still_destroy(&results[way]);
    db_experiment_clear(&listed);
    db_measured_image_clear(&image);
}

/* Without a matrix, from the cell alone and the header's beam centre. */
static void orientations_are_found(void **state) {
    (void)state;
    static const int frames[] = { 3, 5, 9 };
    for (int i = 0; i < 3; i++) {
        char path[PATH_SIZE];
        db_measured_image image;
        db_experiment start, listed;
        OWN(db_fit_settings_clear) db_fit_settings settings;
        db_fit_orientation found;
        file_name(path, frames[i], "cbf");
        if (db_read_image(context, path, &image) != DB_OK)
            fail_msg("%s", db_context_message(context));
        make_start(frames[i], &image, &listed);
        make_start(frames[i], &image, &start);
        for (int k = 0; k < 9; k++) start.crystal.orientation[k] = k % 4 == 0;
        start.crystal.cell[0] = start.crystal.cell[1] = 58.4;
        start.crystal.cell[2] = 152.2;
        choose_parameters(&settings, 1);
        if (db_fit_find_orientation(context, &image, &settings, &start, &found) != DB_OK)
            fail_msg("%s", db_context_message(context));
        const double off = tetragonal_misorientation(&listed.crystal, &start.crystal);
        print_message("frame %d: %zu of %zu spots indexed, %.3f degree from the listed "
                      "orientation\n",
                      frames[i], found.indexed, found.spots, off);
        within("orientation", off, 0, 0.3);
        assert_true(2 * found.indexed > found.spots);
        db_experiment_clear(&start);
        db_experiment_clear(&listed);
        db_measured_image_clear(&image);
    }
}

static void frame_3_comes_back(void **state) {
    (void)state;
    frame_comes_back(3);
}

static void frame_5_comes_back_slow(void **state) {
    (void)state;
    frame_comes_back(5);
}

static void frame_9_comes_back_slow(void **state) {
    (void)state;
    frame_comes_back(9);
}

static void blank_frame_16_is_refused(void **state) {
    (void)state;
    char path[PATH_SIZE];
    db_measured_image image;
    db_experiment start;
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_result *result;
    file_name(path, 16, "cbf");
    if (db_read_image(context, path, &image) != DB_OK) fail_msg("%s", db_context_message(context));
    make_start(5, &image, &start);
    choose_parameters(&settings, 1);
    assert_int_equal(fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                     DB_ERROR_INPUT);
    assert_null(result);
    print_message("frame 16: %s\n", db_context_message(context));
    assert_non_null(strstr(db_context_message(context), "blank image"));
    assert_non_null(strstr(db_context_message(context), "only 0 predicted reflections"));
    assert_non_null(strstr(db_context_message(context), "at least 20 are needed"));
    db_experiment_clear(&start);
    db_measured_image_clear(&image);
}

/* Lattices of the frames without a cell: places of spots that go together do not make two equal edges differ. */
static void cells_are_tetragonal(void **state) {
    char path[PATH_SIZE];
    (void)state;
    for (int frame = 3; frame <= 9; frame += frame == 3 ? 2 : 4) {
        OWN(db_fit_settings_clear) db_fit_settings settings;
        db_measured_image image;
        db_experiment start;
        db_fit_cell_spots *spots = NULL;
        db_fit_found_cell cell;
        file_name(path, frame, "cbf");
        if (db_read_image(context, path, &image) != DB_OK)
            fail_msg("%s", db_context_message(context));
        make_start(frame, &image, &start);
        db_fit_settings_init(&settings);
        assert_int_equal(db_fit_cell_spots_add(context, &image, &settings, &start, &spots), DB_OK);
        assert_int_equal(db_fit_find_cell_of_spots(context, &settings, spots, "", 0, &cell), DB_OK);
        const char *const symbol = cell.lattice[cell.chosen].symbol;
        print_message("frame %d: %s\n", frame, symbol);
        assert_string_equal(symbol, cell.count > 1 ? "tP" : "aP");
        db_fit_cell_spots_destroy(&spots);
        db_experiment_clear(&start);
        db_measured_image_clear(&image);
    }
}

static int data_are_there(void) {
    char path[PATH_SIZE];
    const char *const shared = getenv("SHARED_DIR");
    snprintf(folder, sizeof folder, "%.900s/realdata/thaumatin", shared ? shared : "../shared");
    file_name(path, 5, "cbf");
    FILE *const file = fopen(path, "rb");
    if (!file) {
        print_message("skipped: %s is absent; SHARED_DIR says where the measured images are\n",
                      path);
        return 0;
    }
    fclose(file);
    return 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientations_are_found),    cmocka_unit_test(frame_3_comes_back),
        cmocka_unit_test(frame_5_comes_back_slow),   cmocka_unit_test(frame_9_comes_back_slow),
        cmocka_unit_test(blank_frame_16_is_refused), cmocka_unit_test(cells_are_tetragonal),
    };
    if (!data_are_there()) return SKIPPED;
    return cmocka_run_group_tests(tests, open_context, close_context);
}
