/* Cell, orientation, size and mosaicity as users give them. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double IDENTITY[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

static void set_cell(db_setup *setup, double a, double b, double c, double alpha, double beta,
                     double gamma) {
    const double cell[6] = { a, b, c, alpha, beta, gamma };
    memcpy(setup->cell, cell, sizeof cell);
}

static void open_parts_of_a_cell_are_filled_in(void **state) {
    (void)state;
    db_setup setup = setup_start();
    set_cell(&setup, 55, NAN, 66, NAN, 100, NAN);
    db_experiment e = setup_resolved(&setup);
    const double expected[6] = { 55, 55, 66, 90, 100, 90 };
    assert_memory_equal(e.crystal.cell, expected, sizeof expected);
    assert_memory_equal(e.crystal.orientation, IDENTITY, sizeof IDENTITY);
    db_experiment_clear(&e);
}

static void impossible_cells_are_refused(void **state) {
    (void)state;
    db_setup setup = setup_start();
    set_cell(&setup, NAN, NAN, NAN, NAN, NAN, NAN);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "unit cell");
    set_cell(&setup, NAN, 40, NAN, NAN, NAN, NAN);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "edge a is missing");
    set_cell(&setup, 57, 57, 150, 90, 90, NAN);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected three angles or none");
    set_cell(&setup, 0, NAN, NAN, NAN, NAN, NAN);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "edge a");
    set_cell(&setup, 50, 60, -3, 90, 90, 90);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "edge c");
    set_cell(&setup, 50, 60, 70, 20, 30, 170);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "cell angles");
    set_cell(&setup, INFINITY, 60, 70, 90, 90, 90);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "cell edge a");
}

/* A matrix written for one wavelength of a known cell and orientation comes back as these. */
static void write_matrix(const char *path, const db_crystal *crystal, double wavelength) {
    double a_star[9];
    char text[512] = "";
    db_crystal_matrix(crystal, a_star);
    for (int i = 0; i < 9; i++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%.17g%s", a_star[i] * wavelength,
                 i % 3 == 2 ? "\n" : " ");
    }
    setup_write_file(path, text);
}

static db_experiment triclinic(void) {
    db_setup setup = setup_start();
    set_cell(&setup, 45, 55, 70, 82, 97, 105);
    setup.misset[0] = 10;
    setup.misset[1] = -20;
    setup.misset[2] = 30;
    return setup_resolved(&setup);
}

static void a_matrix_gives_cell_and_orientation(void **state) {
    (void)state;
    db_experiment original = triclinic();
    double expected[9], found[9];
    write_matrix("triclinic.mat", &original.crystal, 1.3);
    db_crystal_matrix(&original.crystal, expected);

    db_setup setup;
    db_setup_init(&setup);
    setup.matrix_file = "triclinic.mat";
    setup.wavelength = 1.3;
    db_experiment e = setup_resolved(&setup);
    for (int i = 0; i < 6; i++)
        setup_assert_close(e.crystal.cell[i], original.crystal.cell[i], 1e-10);
    db_crystal_matrix(&e.crystal, found);
    for (int i = 0; i < 9; i++) setup_assert_close(found[i], expected[i], 1e-14);
    db_experiment_clear(&e);

    /* used at another wavelength, the cell scales with it */
    setup.wavelength = 2.6;
    e = setup_resolved(&setup);
    for (int i = 0; i < 3; i++) {
        setup_assert_close(e.crystal.cell[i], 2 * original.crystal.cell[i], 1e-9);
        setup_assert_close(e.crystal.cell[3 + i], original.crystal.cell[3 + i], 1e-9);
    }
    db_experiment_clear(&e);
    db_experiment_clear(&original);
}

static void a_cell_with_a_matrix_sets_the_edge_lengths_only(void **state) {
    (void)state;
    db_experiment original = triclinic();
    write_matrix("edges.mat", &original.crystal, 1);
    db_setup setup = setup_start();
    setup.matrix_file = "edges.mat";
    set_cell(&setup, 47, 54, 72, 90, 90, 90);
    db_experiment e = setup_resolved(&setup);
    const double expected[6] = { 47, 54, 72, 82, 97, 105 };
    for (int i = 0; i < 6; i++) setup_assert_close(e.crystal.cell[i], expected[i], 1e-10);
    assert_non_null(strstr(setup_notices(), "of the matrix file are used"));
    assert_non_null(strstr(setup_notices(), "cell edge a: 47 angstrom as given"));
    db_experiment_clear(&e);
    db_experiment_clear(&original);
}

static void unusable_matrices_are_refused(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.matrix_file = "no_such_file.mat";
    setup_assert_refused(&setup, DB_ERROR_FILE, "no_such_file.mat");
    setup.matrix_file = "left.mat";
    setup_write_file("left.mat", "0.01 0 0\n0 0.01 0\n0 0 -0.01\n");
    setup_assert_refused(&setup, DB_ERROR_INPUT, "left-handed");
    setup_write_file("left.mat", "0.01 0 0\n0 0.01 0\n0.01 0.01 0\n");
    setup_assert_refused(&setup, DB_ERROR_INPUT, "dependent");
}

static void sizes_become_whole_cells(void **state) {
    (void)state;
    db_setup setup = setup_start();
    set_cell(&setup, 50, 65, 80, 90, 90, 90);
    for (int i = 0; i < 3; i++)
        setup.sample_size[i] = 2.4e-5; /* 240 A: 4.8, 3.69 and exactly 3 cells */
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.crystal.Ncells, 5, 4, 3, 0);
    db_experiment_clear(&e);

    for (int i = 0; i < 3; i++) setup.sample_size[i] = 0.001;
    setup.beamsize = 0.0005;
    setup.oversample = 1;
    e = setup_resolved(&setup);
    setup_assert_vector(e.crystal.Ncells, 200, 77, 63, 0); /* along b and c only the beam counts */
    assert_non_null(strstr(setup_notices(), "clipped to the beam size"));
    db_experiment_clear(&e);

    setup.sample_size[1] = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "sample size along b");
}

static void cell_counts_follow_the_shape(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.Ncells[0] = 0; /* an isolated cell */
    setup.Ncells[1] = 7;
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.crystal.Ncells, 1, 7, 1, 0);
    db_experiment_clear(&e);

    setup.Ncells[2] = 4.5;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "Nc");
    static const db_crystal_shape soft[] = { DB_SHAPE_ROUND, DB_SHAPE_GAUSS, DB_SHAPE_TOPHAT };
    for (size_t i = 0; i < 3; i++) {
        setup.shape = soft[i];
        e = setup_resolved(&setup);
        setup_assert_vector(e.crystal.Ncells, 1, 7, 4.5, 0);
        db_experiment_clear(&e);
    }
    setup.Ncells[1] = -2;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "Nb");
}

static void mosaic_domains_have_sensible_defaults(void **state) {
    (void)state;
    static const struct {
        double spread;
        int given, expected;
    } rows[] = { { 0, 0, 1 }, { 0, 25, 1 }, { 1, 0, 10 }, { 1, 25, 25 }, { 1, 1, 1 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        db_setup setup = setup_start();
        setup.mosaic_spread = rows[i].spread;
        setup.mosaic_domains = rows[i].given;
        db_experiment e = setup_resolved(&setup);
        assert_int_equal(e.crystal.mosaic_domains, rows[i].expected);
        assert_int_equal(e.crystal.mosaic_seed, 12345678);
        db_experiment_clear(&e);
    }
    db_setup setup = setup_start();
    setup.mosaic_spread = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "mosaic spread");
    setup.mosaic_spread = 1;
    setup.mosaic_domains = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "mosaic domains");
    setup.mosaic_domains = 5;
    setup.mosaic_seed = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "mosaic seed");
    setup.mosaic_seed = 2147483647;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "mosaic seed");
}

/* Angles worked out from the first three uniforms of the streams, by rotating the axes with the
 * quaternion. */
static void a_random_misset_is_the_rotation_of_its_seed(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.misset_random = 1;
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.crystal.misset, -101.81121295342517, 34.83813397813209,
                        142.38819379389517, 1e-4);
    db_experiment_clear(&e);
    setup.misset_seed = 4242;
    e = setup_resolved(&setup);
    setup_assert_vector(e.crystal.misset, -9.402134021640613, 8.216026789975865,
                        -151.98778673078547, 1e-4);
    assert_non_null(strstr(setup_notices(), "random orientation misset angles"));
    db_experiment_clear(&e);
    setup.misset_seed = -4242;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "misset seed");
}

static double rotation_angle(const double misset[3]) {
    const double d = 57.29577951308232, x = misset[0] / d, y = misset[1] / d, z = misset[2] / d;
    const double trace =
        cos(z) * cos(y) + (cos(z) * cos(x) + sin(z) * sin(y) * sin(x)) + cos(y) * cos(x);
    return acos(fmax(-1, fmin(1, (trace - 1) / 2)));
}

/* Uniform rotations have the angle density (1 - cos t)/pi: mean pi/2 + 2/pi. */
static void random_missets_are_uniform_over_rotations(void **state) {
    (void)state;
    enum { DRAWS = 2000 };
    double sum = 0;
    int below_60 = 0;
    for (long seed = 1; seed <= DRAWS; seed++) {
        db_setup setup = setup_start();
        setup.misset_random = 1;
        setup.misset_seed = 1000003 * seed;
        db_experiment e = setup_resolved(&setup);
        const double angle = rotation_angle(e.crystal.misset);
        sum += angle;
        below_60 += angle < 1.0471975511965976;
        db_experiment_clear(&e);
    }
    /* standard deviation of one angle is 0.646: five standard errors */
    setup_assert_close(sum / DRAWS, 1.5707963267948966 + 0.63661977236758134,
                       5 * 0.646 / sqrt(DRAWS));
    setup_assert_close((double)below_60 / DRAWS, 0.0577, 5 * sqrt(0.0577 * 0.9423 / DRAWS));
}

static void assert_interpolation(const db_setup *setup, int expected) {
    db_experiment e = setup_resolved(setup);
    assert_int_equal(e.structure_factors.interpolate, expected);
    db_experiment_clear(&e);
}

static void small_crystals_interpolate_between_reflections(void **state) {
    (void)state;
    setup_write_file("two.hkl", "1 0 0 10\n0 1 0 20\n");
    db_setup setup = setup_start();
    setup.hkl_file = "two.hkl";
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) setup.Ncells[k] = 5;
        setup.Ncells[i] = 2;
        assert_interpolation(&setup, 1);
        setup.Ncells[i] = 3;
        assert_interpolation(&setup, 0);
    }
    setup.Ncells[2] = 2;
    setup.interpolate = 0;
    assert_interpolation(&setup, 0);
    setup.interpolate = 1;
    setup.Ncells[2] = 5;
    assert_interpolation(&setup, 1);
    setup.interpolate = -1;
    assert_interpolation(&setup, 0);
    setup.hkl_file = NULL; /* there is nothing to interpolate */
    setup.interpolate = 1;
    assert_interpolation(&setup, 0);
}

/* The reference decides before a sample size replaces the number of cells, 1 if none is given. */
static void the_size_of_the_crystal_decides_on_interpolation(void **state) {
    (void)state;
    setup_write_file("two.hkl", "1 0 0 10\n0 1 0 20\n");
    db_setup setup = setup_start();
    setup.hkl_file = "two.hkl";
    for (int i = 0; i < 3; i++) setup.sample_size[i] = 40e-6; /* 8 cells */
    assert_interpolation(&setup, 0);
    setup.compat = 1;
    assert_interpolation(&setup, 1);
    setup.Ncells[0] = setup.Ncells[1] = setup.Ncells[2] = 3;
    assert_interpolation(&setup, 0);
    for (int i = 0; i < 3; i++) setup.sample_size[i] = 10e-6; /* 2 cells */
    assert_interpolation(&setup, 0);
    setup.compat = 0;
    assert_interpolation(&setup, 1);
}

static void missing_lists_are_refused(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.hkl_file = "no_such_list.hkl";
    setup_assert_refused(&setup, DB_ERROR_FILE, "no_such_list.hkl");
}

/* The matrix is A* times the wavelength, which a spectrum brings with it: a cubic cell of 65 A. */
static void a_matrix_is_divided_by_the_mean_of_a_spectrum(void **state) {
    (void)state;
    setup_write_file("mean.spectrum", "1.2 1\n1.4 1\n");
    setup_write_file("mean.mat", "0.02 0 0\n0 0.02 0\n0 0 0.02\n");
    db_setup setup;
    db_setup_init(&setup);
    setup.matrix_file = "mean.mat";
    setup.spectrum_file = "mean.spectrum";
    db_experiment e = setup_resolved(&setup);
    for (int i = 0; i < 3; i++) setup_assert_close(e.crystal.cell[i], 65, 1e-9);
    db_experiment_clear(&e);
    /* of an image's header, say */
    setup.wavelength = 0.7;
    e = setup_resolved(&setup);
    for (int i = 0; i < 3; i++) setup_assert_close(e.crystal.cell[i], 65, 1e-9);
    db_experiment_clear(&e);
    setup.wavelength = 1;
    setup.wavelength_given = 1;
    e = setup_resolved(&setup);
    for (int i = 0; i < 3; i++) setup_assert_close(e.crystal.cell[i], 50, 1e-9);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_is_divided_by_the_mean_of_a_spectrum),
        cmocka_unit_test(open_parts_of_a_cell_are_filled_in),
        cmocka_unit_test(impossible_cells_are_refused),
        cmocka_unit_test(a_matrix_gives_cell_and_orientation),
        cmocka_unit_test(a_cell_with_a_matrix_sets_the_edge_lengths_only),
        cmocka_unit_test(unusable_matrices_are_refused),
        cmocka_unit_test(sizes_become_whole_cells),
        cmocka_unit_test(cell_counts_follow_the_shape),
        cmocka_unit_test(mosaic_domains_have_sensible_defaults),
        cmocka_unit_test(a_random_misset_is_the_rotation_of_its_seed),
        cmocka_unit_test(random_missets_are_uniform_over_rotations),
        cmocka_unit_test(small_crystals_interpolate_between_reflections),
        cmocka_unit_test(the_size_of_the_crystal_decides_on_interpolation),
        cmocka_unit_test(missing_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
