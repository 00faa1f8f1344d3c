/* The checker itself: it agrees with what is known, counts kinks, and does not pass what is wrong.
 */
#include "engine/gradient_check.h"
#include "engine/node_signature.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 24 };

static db_context *context;

static int open_context(void **state) {
    (void)state;
    return db_context_create(&context) != DB_OK;
}

static int close_context(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

static db_experiment small_experiment(db_crystal_shape shape) {
    db_experiment e;
    const double cell[6] = { 45, 55, 70, 82, 97, 105 };
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    memcpy(e.crystal.cell, cell, sizeof cell);
    for (int i = 0; i < 3; i++) {
        e.crystal.misset[i] = 10 * (i + 1);
        e.crystal.cells[i] = 3 + i;
    }
    e.crystal.shape = shape;
    e.beam.wavelength = 1.3;
    e.structure_factors.default_F = 100;
    e.detector.distance = 70;
    e.detector.centre[0] = e.detector.centre[1] = 10;
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = SIZE;
    e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 0.9;
    e.oversample = 2;
    return e;
}

static const db_gradient_check_options usual = { NULL, 0, 1e-11, 1e-7 };

static void every_parameter_of_a_small_set_up_passes(void **state) {
    (void)state;
    static const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_ROUND, DB_SHAPE_GAUSS,
                                               DB_SHAPE_TOPHAT };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        db_experiment e = small_experiment(shapes[s]);
        db_parameter parameters[DB_PARAMETER_COUNT];
        db_gradient_check_row rows[DB_PARAMETER_COUNT];
        size_t count = 0;
        for (int p = 0; p < DB_PARAMETER_COUNT; p++)
            if (db_parameter_exists(&e, (db_parameter)p)) parameters[count++] = (db_parameter)p;
        assert_int_equal(db_gradient_check(context, &e, parameters, count, &usual, rows), DB_OK);
        for (size_t p = 0; p < count; p++) {
            if (!rows[p].passed)
                fail_msg("shape %d, %s: contraction %g, difference %g (error %g), compared %zu",
                         (int)shapes[s], db_parameter_describe(parameters[p])->name,
                         rows[p].contraction, rows[p].difference, rows[p].difference_error,
                         rows[p].compared);
            assert_true(rows[p].parameter == parameters[p]);
            assert_int_equal(rows[p].compared + rows[p].excluded, SIZE * SIZE);
            assert_true(rows[p].compared > SIZE * SIZE * 9 / 10);
            if (shapes[s] == DB_SHAPE_SQUARE) assert_int_equal(rows[p].excluded, 0);
        }
        db_experiment_clear(&e);
    }
}

static void the_largest_derivative_by_the_scale_is_the_brightest_pixel(void **state) {
    (void)state;
    static const db_parameter scale = DB_SCALE;
    static float image[SIZE * SIZE];
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_plan *plan = NULL;
    db_gradient_check_row row;
    assert_int_equal(db_plan_create(context, &e, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    double brightest = 0;
    for (int i = 0; i < SIZE * SIZE; i++) brightest = fmax(brightest, (double)image[i]);
    assert_int_equal(db_gradient_check(context, &e, &scale, 1, &usual, &row), DB_OK);
    assert_true(fabs(row.largest - brightest) < 1e-6 * brightest);
    db_experiment_clear(&e);
}

static void pixels_at_a_kink_are_left_out_and_counted(void **state) {
    (void)state;
    /* all along the beam: an oriented cubic crystal whose axis planes h = 1/2 the pixel centres of
     * a column hit */
    db_experiment e = small_experiment(DB_SHAPE_ROUND);
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = 50;
        e.crystal.cell[3 + i] = 90;
        e.crystal.misset[i] = 0;
        e.crystal.cells[i] = 2;
    }
    e.oversample = 1;
    static const db_parameter parameter = DB_CELL_C;
    db_gradient_check_row row;
    /* one pixel whose centre is exactly where l = 1/2: z/R = lambda/(2 c), the beam being along x
     */
    const double sine = 1.3 / 100, z = 70 * sine / sqrt(1 - sine * sine);
    e.detector.centre[0] = 0.45 + 0.9 * 4 - z;
    e.detector.centre[1] = 0.45 + 0.9 * 4;
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &usual, &row), DB_OK);
    assert_true(row.passed);
    assert_true(row.excluded >= 1);
    assert_true(row.compared >= SIZE * SIZE - SIZE);
    db_experiment_clear(&e);
}

/* A step in N away from a whole number is no kink, whatever else has some. */
static void steps_in_cell_counts_stay_smooth_beside_other_kinks(void **state) {
    (void)state;
    static const db_parameter parameters[] = { DB_CELLS_A, DB_CELLS_B, DB_CELLS_C };
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_gradient_check_row rows[3];
    e.d_min = 5;
    assert_int_equal(db_gradient_check(context, &e, parameters, 3, &usual, rows), DB_OK);
    for (int p = 0; p < 3; p++) {
        assert_true(rows[p].passed);
        assert_int_equal(rows[p].excluded, 0);
    }
    db_experiment_clear(&e);
}

/* The amplitude of amorphous matter as a function of |q| comes to a tip in the direct beam. */
static void amorphous_matter_has_a_tip_in_the_direct_beam(void **state) {
    (void)state;
    static const db_parameter parameters[] = { DB_BEAM_FAST, DB_BEAM_VERTICAL, DB_DETECTOR_ROTZ };
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    double stol[] = { 0, 0.05, 0.2 }, amplitude[] = { 5, 3, 4 };
    db_gradient_check_row rows[3];
    e.oversample = 1;
    e.detector.centre[0] = e.detector.centre[1] = 0.9 * 10.5; /* a pixel's centre */
    e.background = (db_background){ .stol = stol,
                                    .amplitude = amplitude,
                                    .count = 3,
                                    .thickness = 0.1,
                                    .area = 0.01,
                                    .density = 1,
                                    .molecular_weight = 18 };
    assert_int_equal(db_gradient_check(context, &e, parameters, 3, &usual, rows), DB_OK);
    for (int p = 0; p < 3; p++)
        if (!rows[p].passed)
            fail_msg("%s: contraction %g, difference %g (error %g)",
                     db_parameter_describe(parameters[p])->name, rows[p].contraction,
                     rows[p].difference, rows[p].difference_error);
    assert_true(rows[0].excluded >= 1 && rows[0].excluded <= SIZE);
    e.background = (db_background){ 0 }; /* not its own */
    db_experiment_clear(&e);
}

static void nothing_passes_a_tolerance_below_rounding(void **state) {
    (void)state;
    static const db_parameter parameter = DB_DISTANCE;
    const db_gradient_check_options strict = { NULL, 0, 1e-11, 1e-18 };
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_gradient_check_row row;
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &strict, &row), DB_OK);
    assert_false(row.passed);
    assert_true(row.difference > 0);
    db_experiment_clear(&e);
}

static void bad_experiments_are_refused(void **state) {
    (void)state;
    static const db_parameter parameter = DB_DISTANCE;
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_gradient_check_row row;
    e.detector.distance = -1;
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &usual, &row), DB_ERROR_INPUT);
    e.detector.distance = 70;
    const db_region outside = { .fast_start = SIZE, .fast_count = 3, .slow_count = 3, .stride = 3 };
    const db_gradient_check_options wrong = { &outside, 1, 1e-11, 1e-7 };
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &wrong, &row), DB_ERROR_USAGE);
    db_experiment_clear(&e);
}

static void signatures_change_where_a_node_changes(void **state) {
    (void)state;
    db_experiment e = small_experiment(DB_SHAPE_GAUSS);
    const db_region all = { .fast_count = SIZE, .slow_count = SIZE, .stride = SIZE };
    static uint64_t before[SIZE * SIZE], after[SIZE * SIZE];
    db_node_signer *signer = NULL;
    assert_true(db_node_signature_matters(&e));
    assert_int_equal(db_node_signer_create(context, &e, &signer), DB_OK);
    db_node_signature(signer, &e, &all, 1, before);
    db_node_signature(signer, &e, &all, 1, after);
    assert_memory_equal(before, after, sizeof before);
    e.beam.scale = 2;
    e.crystal.cells[0] = 9;
    db_node_signature(signer, &e, &all, 1, after);
    assert_memory_equal(before, after, sizeof before); /* neither moves a node */
    e.crystal.misset[0] += 2;
    db_node_signature(signer, &e, &all, 1, after);
    size_t changed = 0;
    for (int i = 0; i < SIZE * SIZE; i++) changed += before[i] != after[i];
    assert_true(changed > 10 &&
                changed < SIZE * SIZE); /* those close to the axis of rotation stay */
    db_node_signer_destroy(&signer);
    assert_null(signer);
    e.crystal.shape = DB_SHAPE_SQUARE;
    assert_false(db_node_signature_matters(&e));
    e.crystal.cells[1] = 2.5;
    assert_true(db_node_signature_matters(&e));
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_of_a_small_set_up_passes),
        cmocka_unit_test(the_largest_derivative_by_the_scale_is_the_brightest_pixel),
        cmocka_unit_test(pixels_at_a_kink_are_left_out_and_counted),
        cmocka_unit_test(steps_in_cell_counts_stay_smooth_beside_other_kinks),
        cmocka_unit_test(amorphous_matter_has_a_tip_in_the_direct_beam),
        cmocka_unit_test(nothing_passes_a_tolerance_below_rounding),
        cmocka_unit_test(bad_experiments_are_refused),
        cmocka_unit_test(signatures_change_where_a_node_changes),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
