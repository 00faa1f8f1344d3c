/* The checker itself: it agrees with what is known, counts kinks, does not blame rounding, and does
 * not pass what is wrong. */
#include "support/context.h"
#include "engine/gradient_check.h"
#include "engine/node_signature.h"
#include "engine/slope_bound.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/beam_sources.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 24 };

static db_experiment small_experiment(db_crystal_shape shape) {
    db_experiment e;
    const double cell[6] = { 45, 55, 70, 82, 97, 105 };
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    memcpy(e.crystal.cell, cell, sizeof cell);
    for (int i = 0; i < 3; i++) {
        e.crystal.misset[i] = 10 * (i + 1);
        e.crystal.Ncells[i] = 3 + i;
    }
    e.crystal.shape = shape;
    e.beam.wavelength = 1.3;
    e.structure_factors.default_F = 100;
    e.detector.distance = 70;
    e.detector.centre[0] = e.detector.centre[1] = 10;
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = SIZE;
    e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 0.9;
    return e;
}

static const db_gradient_check_options usual = { .contraction_tolerance = 1e-11,
                                                 .difference_tolerance = 1e-7 };

/* Of fewer pixels, for a check of many parameters. */
enum { PART = 10 };
static const db_region part = {
    .fast_start = 8, .slow_start = 6, .fast_count = PART, .slow_count = PART
};
static const db_gradient_check_options of_part = { .regions = &part,
                                                   .region_count = 1,
                                                   .contraction_tolerance = 1e-11,
                                                   .difference_tolerance = 1e-7 };

typedef struct {
    db_parameter parameter[DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS];
    size_t count;
    db_gradient_check_row row[DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS + 1]; /* the image last */
    db_gradient_check_extent extent;
} checked;

/* All parameters of the table, and some beyond it. */
static void take_all_parameters(const db_experiment *e, checked *c) {
    size_t more;
    c->count = 0;
    for (int p = 0; p < DB_PARAMETER_COUNT; p++)
        if (db_parameter_exists(e, (db_parameter)p)) c->parameter[c->count++] = (db_parameter)p;
    assert_int_equal(
        db_gradient_check_beyond_table(context, e, &of_part, c->parameter + c->count, &more),
        DB_OK);
    c->count += more;
}

static void check(const db_experiment *e, const db_gradient_check_options *options, checked *c) {
    assert_int_equal(
        db_gradient_check(context, e, c->parameter, c->count, options, c->row, &c->extent), DB_OK);
}

/* Returns how many verdicts are not good. */
static size_t failures(const checked *c, int say) {
    size_t count = 0;
    for (size_t k = 0; k <= c->count; k++) {
        const db_gradient_check_row *row = &c->row[k];
        char name[64] = "image";
        count += row->verdict != DB_CHECK_OK;
        if (row->verdict == DB_CHECK_OK || !say) continue;
        if (k < c->count) db_parameter_name(row->parameter, name, sizeof name);
        print_error("%s: %s; kernels %g, bound %g, mixed %g, difference %g (error %g) in %zu\n",
                    name, row->failed, row->contraction, row->rounding, row->mixed, row->difference,
                    row->difference_error, row->compared);
    }
    return count;
}

static void every_parameter_of_a_small_set_up_passes(void **state) {
    (void)state;
    static const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_ROUND, DB_SHAPE_GAUSS,
                                               DB_SHAPE_TOPHAT };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        db_experiment e = small_experiment(shapes[s]);
        checked c;
        if (s == 0) e.oversample = 2;
        take_all_parameters(&e, &c);
        check(&e, &of_part, &c);
        assert_int_equal(failures(&c, 1), 0);
        assert_true(c.extent.pixels == PART * PART && c.extent.tried == PART * PART);
        for (size_t k = 0; k < c.count; k++) {
            const size_t pixels = c.row[k].compared + c.row[k].excluded;
            assert_true(c.row[k].parameter == c.parameter[k]);
            assert_true(s == 0 || pixels == PART * PART);
            assert_true(c.row[k].compared > pixels * 9 / 10);
            if (s == 0) assert_int_equal(c.row[k].excluded, 0);
            if (s < 3) assert_true(c.row[k].mixed >= 0);
        }
        db_experiment_clear(&e);
    }
}

/* A list, three sources of different weights, and what jobs have that are not plain. */
static void weights_and_structure_factors_are_among_what_is_checked(void **state) {
    (void)state;
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_structure_factors *const f = &e.structure_factors;
    const db_beam_spread spread = { 0.012, 0, 0.006, 1, 3, 1, 0, 0, 1, 1 };
    const size_t count = 21 * 21 * 21;
    checked c;
    int weights = 0, factors = 0;
    assert_int_equal(db_beam_set_spread(context, &e.beam, &spread), DB_OK);
    f->amplitude = malloc(count * sizeof *f->amplitude);
    assert_non_null(f->amplitude);
    for (size_t i = 0; i < count; i++) f->amplitude[i] = 60 + (double)(i * 7919 % 11);
    f->listed = count;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -10;
        f->extent[j] = 21;
    }
    take_all_parameters(&e, &c);
    for (size_t k = 0; k < c.count; k++) {
        weights += db_parameter_describe(c.parameter[k]) ==
                   db_parameter_describe(db_parameter_source_weight(0));
        factors += db_parameter_describe(c.parameter[k]) ==
                   db_parameter_describe(db_parameter_amplitude(0, 0, 0));
    }
    assert_true(weights >= 2 && factors >= 2);
    check(&e, &of_part, &c);
    assert_int_equal(failures(&c, 1), 0);
    for (size_t k = 0; k < c.count; k++)
        if (c.parameter[k] >= DB_PARAMETER_COUNT) assert_true(c.row[k].largest > 0);
    db_experiment_clear(&e);
}

/* Rounding grows with the crystal; it is no fault. */
static db_experiment large_crystal(int cells, int beam_on) {
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    for (int j = 0; j < 3; j++) e.crystal.Ncells[j] = cells;
    e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 0.1;
    for (int j = 0; j < 2; j++) e.detector.centre[j] = beam_on ? 1.22 + 0.05 * j : -30;
    return e;
}

static void large_crystals_pass(void **state) {
    (void)state;
    for (int cells = 10; cells <= 1000; cells *= 10)
        for (int on = 0; on < 2; on++) {
            db_experiment e = large_crystal(cells, on);
            checked c;
            take_all_parameters(&e, &c);
            check(&e, &of_part, &c);
            assert_int_equal(failures(&c, 1), 0);
            db_experiment_clear(&e);
        }
}

typedef struct {
    int oracle;
    db_parameter parameter;
    double part;
} falsehood;

static void falsify(void *user, int oracle, db_parameter parameter, double *image, size_t pixels) {
    const falsehood *f = user;
    for (size_t i = 0; i < pixels && oracle == f->oracle && parameter == f->parameter; i++)
        image[i] *= 1 + f->part;
}

/* The kernels' derivative, or the oracle's. */
static void a_millionth_too_much_is_seen_whatever_the_size(void **state) {
    (void)state;
    static const db_parameter parameters[] = { DB_CELL_A, DB_MISSET_Z,     DB_CELLS_B,
                                               DB_PHI,    DB_WAVELENGTH,   DB_DISTANCE,
                                               DB_SCALE,  DB_DETECTOR_ROTX };
    enum { COUNT = sizeof parameters / sizeof parameters[0] };
    for (int cells = 10; cells <= 1000; cells *= 10)
        for (int oracle = 0; oracle < 2; oracle++)
            for (int k = 0; k < COUNT; k++) {
                db_experiment e = large_crystal(cells, k % 2);
                falsehood wrong = { oracle, parameters[k], 1e-6 };
                db_gradient_check_options options = of_part;
                checked c = { .count = COUNT };
                options.falsify = falsify;
                options.falsify_user = &wrong;
                memcpy(c.parameter, parameters, sizeof parameters);
                check(&e, &options, &c);
                assert_int_equal(c.row[k].verdict, DB_CHECK_DIFFERS);
                assert_int_equal(failures(&c, 0), 1);
                db_experiment_clear(&e);
            }
}

static void dark_images_and_single_pixels_pass(void **state) {
    (void)state;
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    checked c;
    take_all_parameters(&e, &c);
    for (int i = 0; i < 6; i++) {
        const db_region pixel = {
            .fast_start = 3 * i + 1, .slow_start = 23 - 4 * i, .fast_count = 1, .slow_count = 1
        };
        db_gradient_check_options options = of_part;
        options.regions = &pixel;
        options.region_count = 1;
        check(&e, &options, &c);
        assert_int_equal(failures(&c, 1), 0);
        assert_true(c.extent.pixels == 1 && c.row[0].compared == 1);
    }
    e.structure_factors.default_F = 0;
    check(&e, &of_part, &c);
    assert_int_equal(failures(&c, 1), 0);
    assert_true(c.row[0].largest == 0);
    db_experiment_clear(&e);
}

/* Differences on one side, and those of all other parameters as ever. */
static void a_parameter_at_its_limit_is_checked_from_one_side(void **state) {
    (void)state;
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    const db_beam_spread spread = { 0.012, 0, 0.006, 1, 3, 1, 0, 0, 1, 1 };
    checked c = { .parameter = { DB_CELL_A, db_parameter_source_weight(0),
                                 db_parameter_source_weight(1) },
                  .count = 3 };
    assert_int_equal(db_beam_set_spread(context, &e.beam, &spread), DB_OK);
    e.beam.sources[0].weight = 0;
    check(&e, &of_part, &c);
    assert_int_equal(failures(&c, 1), 0);
    assert_true(c.row[1].largest > 0 && c.row[1].compared > 0);
    db_experiment_clear(&e);
}

/* A sample of a large image, with spots in it, and always the same. */
static void large_images_are_sampled(void **state) {
    (void)state;
    db_experiment e = large_crystal(12, 1);
    checked c[2];
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = 1000;
    e.detector.centre[0] = 33;
    for (int i = 0; i < 2; i++) {
        memset(&c[i], 0, sizeof c[i]);
        c[i].parameter[c[i].count++] = DB_CELL_A;
        c[i].parameter[c[i].count++] = DB_CELLS_B;
        c[i].parameter[c[i].count++] = DB_BEAM_SLOW;
        check(&e, &usual, &c[i]);
        assert_int_equal(failures(&c[i], 1), 0);
    }
    assert_memory_equal(&c[0], &c[1], sizeof c[0]);
    assert_true(c[0].extent.pixels == 1e6);
    assert_true(c[0].extent.tried > 1000 && c[0].extent.tried < 2e5);
    assert_true(c[0].extent.differenced > 100);
    assert_true(c[0].extent.without_samples);
    db_experiment_clear(&e);
}

static int stop(void *user, double fraction) {
    (void)user;
    return fraction > 0.3;
}

static void a_check_can_be_cancelled(void **state) {
    (void)state;
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    checked c;
    take_all_parameters(&e, &c);
    db_context_set_progress(context, stop, NULL);
    assert_int_equal(db_gradient_check(context, &e, c.parameter, c.count, &usual, c.row, &c.extent),
                     DB_ERROR_CANCELLED);
    db_context_set_progress(context, NULL, NULL);
    db_experiment_clear(&e);
}

static void the_largest_derivative_by_the_scale_is_the_brightest_pixel(void **state) {
    (void)state;
    static const db_parameter scale = DB_SCALE;
    static float image[SIZE * SIZE];
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_plan *plan = NULL;
    db_gradient_check_row row[2];
    db_gradient_check_extent extent;
    assert_int_equal(db_plan_create(context, &e, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    double brightest = 0;
    for (int i = 0; i < SIZE * SIZE; i++) brightest = fmax(brightest, (double)image[i]);
    assert_int_equal(db_gradient_check(context, &e, &scale, 1, &usual, row, &extent), DB_OK);
    assert_true(fabs(row[0].largest - brightest) < 1e-6 * brightest);
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
        e.crystal.Ncells[i] = 2;
    }
    e.oversample = 1;
    static const db_parameter parameter = DB_CELL_C;
    db_gradient_check_row row[2];
    db_gradient_check_extent extent;
    /* one pixel whose centre is exactly where l = 1/2: z/R = lambda/(2 c), the beam being along x
     */
    const double sine = 1.3 / 100, z = 70 * sine / sqrt(1 - sine * sine);
    e.detector.centre[0] = 0.45 + 0.9 * 4 - z;
    e.detector.centre[1] = 0.45 + 0.9 * 4;
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &usual, row, &extent), DB_OK);
    assert_int_equal(row[0].verdict, DB_CHECK_OK);
    assert_true(row[0].excluded >= 1);
    assert_true(row[0].compared >= SIZE * SIZE - SIZE);
    db_experiment_clear(&e);
}

/* A step in N away from a whole number is no kink, even if other parameters have some. */
static void steps_in_cell_counts_stay_smooth_beside_other_kinks(void **state) {
    (void)state;
    static const db_parameter parameters[] = { DB_CELLS_A, DB_CELLS_B, DB_CELLS_C };
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_gradient_check_row rows[4];
    db_gradient_check_extent extent;
    e.dmin = 5;
    assert_int_equal(db_gradient_check(context, &e, parameters, 3, &usual, rows, &extent), DB_OK);
    for (int p = 0; p < 3; p++) {
        assert_int_equal(rows[p].verdict, DB_CHECK_OK);
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
    db_gradient_check_row rows[4];
    db_gradient_check_extent extent;
    e.oversample = 1;
    e.detector.centre[0] = e.detector.centre[1] = 0.9 * 10.5; /* a pixel's centre */
    e.background = (db_background){ .stol = stol,
                                    .amplitude = amplitude,
                                    .count = 3,
                                    .thickness = 0.1,
                                    .area = 0.01,
                                    .density = 1,
                                    .molecular_weight = 18 };
    assert_int_equal(db_gradient_check(context, &e, parameters, 3, &usual, rows, &extent), DB_OK);
    for (int p = 0; p < 3; p++)
        if (rows[p].verdict != DB_CHECK_OK)
            fail_msg("%s: contraction %g, difference %g (error %g)",
                     db_parameter_describe(parameters[p])->name, rows[p].contraction,
                     rows[p].difference, rows[p].difference_error);
    assert_true(rows[0].excluded >= 1 && rows[0].excluded <= SIZE);
    e.background = (db_background){ 0 }; /* not its own */
    db_experiment_clear(&e);
}

static void nothing_passes_an_impossible_tolerance(void **state) {
    (void)state;
    static const db_parameter parameter = DB_DISTANCE;
    const db_gradient_check_options strict = { .contraction_tolerance = 1e-11,
                                               .difference_tolerance = -1 };
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_gradient_check_row row[2];
    db_gradient_check_extent extent;
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &strict, row, &extent), DB_OK);
    assert_true(row[0].verdict != DB_CHECK_OK);
    assert_true(row[0].difference > 0);
    db_experiment_clear(&e);
}

static void bad_experiments_are_refused(void **state) {
    (void)state;
    static const db_parameter parameter = DB_DISTANCE;
    db_experiment e = small_experiment(DB_SHAPE_SQUARE);
    db_gradient_check_row row[2];
    db_gradient_check_extent extent;
    e.detector.distance = -1;
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &usual, row, &extent),
                     DB_ERROR_INPUT);
    e.detector.distance = 70;
    const db_region outside = { .fast_start = SIZE, .fast_count = 3, .slow_count = 3, .stride = 3 };
    const db_gradient_check_options wrong = { .regions = &outside, .region_count = 1 };
    assert_int_equal(db_gradient_check(context, &e, &parameter, 1, &wrong, row, &extent),
                     DB_ERROR_USAGE);
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
    e.crystal.Ncells[0] = 9;
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
    e.crystal.Ncells[1] = 2.5;
    assert_true(db_node_signature_matters(&e));
    db_experiment_clear(&e);
}

enum { FINE = 3, WIDE = 8 * FINE };

/* bound[parameter][pixel] of parameters that move all that a bound has: directions, solid angles,
 * spots. Pixels of `size` mm with `oversample` samples along each axis, WIDE / oversample pixels. */
static void bound_slopes(int closed, int oversample, double bound[4][WIDE * WIDE]) {
    static const db_parameter moved[4] = { DB_DISTANCE, DB_BEAM_FAST, DB_CELL_A, DB_MISSET_Y };
    db_experiment e = small_experiment(DB_SHAPE_GAUSS);
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    double *image[4] = { bound[0], bound[1], bound[2], bound[3] };
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = WIDE / oversample;
    for (int i = 0; i < 2; i++) e.detector.panels[0].pixel_size[i] = 0.9 * oversample;
    e.oversample = oversample;
    if (closed) {
        e.spread.spots = DB_SPOTS_CLOSED;
        e.spread.mosaic = 0.5;
    }
    options.precision = DB_PRECISION_DOUBLE;
    options.parameters = moved;
    options.parameter_count = 4;
    assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_OK);
    assert_int_equal(plan->tiles.count, 1); /* spots of a tile share a bound */
    assert_int_equal(db_plan_slope_bounds(plan, image), DB_OK);
    db_plan_destroy(&plan);
    db_experiment_clear(&e);
}

static void a_pixel_is_bounded_by_the_worst_of_its_samples(void **state) {
    (void)state;
    static double whole[4][WIDE * WIDE], fine[4][WIDE * WIDE];
    for (int closed = 0; closed < 2; closed++) {
        bound_slopes(closed, FINE, whole);
        bound_slopes(closed, 1, fine);
        for (int p = 0; p < 4; p++)
            for (int pixel = 0; pixel < WIDE / FINE * (WIDE / FINE); pixel++) {
                const int first =
                    pixel / (WIDE / FINE) * FINE * WIDE + pixel % (WIDE / FINE) * FINE;
                double worst = 0;
                for (int i = 0; i < FINE * FINE; i++)
                    worst = fmax(worst, fine[p][first + i / FINE * WIDE + i % FINE]);
                assert_true(worst > 0);
                assert_true(fabs(whole[p][pixel] / worst - 1) < 1e-12);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_of_a_small_set_up_passes),
        cmocka_unit_test(weights_and_structure_factors_are_among_what_is_checked),
        cmocka_unit_test(large_crystals_pass),
        cmocka_unit_test(a_millionth_too_much_is_seen_whatever_the_size),
        cmocka_unit_test(dark_images_and_single_pixels_pass),
        cmocka_unit_test(a_parameter_at_its_limit_is_checked_from_one_side),
        cmocka_unit_test(large_images_are_sampled),
        cmocka_unit_test(a_check_can_be_cancelled),
        cmocka_unit_test(the_largest_derivative_by_the_scale_is_the_brightest_pixel),
        cmocka_unit_test(pixels_at_a_kink_are_left_out_and_counted),
        cmocka_unit_test(steps_in_cell_counts_stay_smooth_beside_other_kinks),
        cmocka_unit_test(amorphous_matter_has_a_tip_in_the_direct_beam),
        cmocka_unit_test(nothing_passes_an_impossible_tolerance),
        cmocka_unit_test(bad_experiments_are_refused),
        cmocka_unit_test(signatures_change_where_a_node_changes),
        cmocka_unit_test(a_pixel_is_bounded_by_the_worst_of_its_samples),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
