/* Orientations as users give them: rotation matrices, misset angles, random turns within a cap. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
static const double triclinic[6] = { 45, 55, 70, 82, 97, 105 };

/* Rotation matrix of misset angles: what they make of a cube's reciprocal vectors. */
static void rotation(const double misset[3], double r[9]) {
    db_crystal cube = { .cell = { 1, 1, 1, 90, 90, 90 } };
    memcpy(cube.orientation, identity, sizeof identity);
    memcpy(cube.misset, misset, sizeof cube.misset);
    db_crystal_matrix(&cube, r);
}

static double rotation_angle(const double misset[3]) {
    double r[9];
    rotation(misset, r);
    return 57.295779513082320877 * acos((r[0] + r[4] + r[8] - 1) / 2);
}

static void assert_same_matrix(const db_crystal *a, const db_crystal *b) {
    double x[9], y[9];
    db_crystal_matrix(a, x);
    db_crystal_matrix(b, y);
    for (int i = 0; i < 9; i++) setup_assert_close(x[i], y[i], 1e-15);
}

static void a_rotation_matrix_orients_the_crystal_before_misset(void **state) {
    (void)state;
    const double first[3] = { 12, -34, 56 };
    db_setup setup = setup_start();
    memcpy(setup.cell, triclinic, sizeof triclinic);
    rotation(first, setup.orientation);
    db_experiment by_matrix = setup_resolved(&setup);
    setup.orientation[0] = NAN;
    memcpy(setup.misset, first, sizeof first);
    db_experiment by_angles = setup_resolved(&setup);
    assert_same_matrix(&by_matrix.crystal, &by_angles.crystal);

    /* about z after the matrix: the z components stay */
    double before[9], after[9];
    db_crystal_matrix(&by_matrix.crystal, before);
    by_matrix.crystal.misset[2] = 77;
    db_crystal_matrix(&by_matrix.crystal, after);
    for (int i = 6; i < 9; i++) setup_assert_close(after[i], before[i], 1e-15);
    db_experiment_clear(&by_matrix);
    db_experiment_clear(&by_angles);
}

static void rounded_rotation_matrices_are_put_right(void **state) {
    (void)state;
    static const double rounded[9] = { -0.84965, 0.00295893, 0.527339, 0.479689, -0.411082,
                                       0.775184, 0.219073,   0.911594, 0.347857 };
    db_setup setup = setup_start();
    memcpy(setup.orientation, rounded, sizeof rounded);
    db_experiment e = setup_resolved(&setup);
    const double *const u = e.crystal.orientation;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += u[3 * i + k] * u[3 * j + k];
            setup_assert_close(sum, i == j, 1e-15);
            setup_assert_close(u[3 * i + j], rounded[3 * i + j], 2e-6);
        }
    db_experiment_clear(&e);
}

static void what_is_no_rotation_is_refused(void **state) {
    (void)state;
    db_setup setup = setup_start();
    memcpy(setup.orientation, identity, sizeof identity);
    setup.orientation[8] = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "determinant -1");
    setup.orientation[8] = 1.1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "off by 0.21");
    setup.orientation[8] = NAN;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected a rotation matrix");
    memset(setup.orientation, 0, sizeof setup.orientation);
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected a rotation matrix");
    memcpy(setup.orientation, identity, sizeof identity);
    setup_write_file("orientation.mat", "0.02 0 0 0 0.02 0 0 0 0.02");
    setup.matrix_file = "orientation.mat";
    setup_assert_refused(&setup, DB_ERROR_INPUT, "given twice");
    assert_int_equal(remove("orientation.mat"), 0);
}

/* P(angle < half of the cap) = 0.064 for angles cap (1 - r^2)^(1/3), r uniform in -1..1. */
static void random_turns_stay_within_their_spread(void **state) {
    (void)state;
    enum { TURNS = 1000 };
    const double spread = 5;
    int below_half = 0;
    double largest = 0;
    for (int seed = 1; seed <= TURNS; seed++) {
        db_setup setup = setup_start();
        setup.misset_random = 1;
        setup.misset_seed = 7919L * seed;
        setup.misset_spread = spread;
        db_experiment e = setup_resolved(&setup);
        const double angle = rotation_angle(e.crystal.misset);
        if (angle < spread / 2) below_half++;
        if (angle > largest) largest = angle;
        db_experiment_clear(&e);
    }
    assert_true(largest <= spread * (1 + 1e-6) && largest > 0.99 * spread);
    const double sigma = sqrt(TURNS * 0.064 * 0.936);
    assert_true(fabs(below_half - 0.064 * TURNS) < 4 * sigma);
}

static void impossible_spreads_are_refused(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.misset_spread = 0;
    db_experiment e = setup_resolved(&setup); /* not looked at, but not silently */
    assert_non_null(strstr(setup_notices(), "misset spread"));
    db_experiment_clear(&e);
    setup.misset_random = 1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "misset spread");
    setup.misset_spread = 181;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "misset spread");
}

static void misset_angles_replace_orientation_and_misset(void **state) {
    (void)state;
    static const double angles[][3] = {
        { 0, 0, 0 },    { 10, 20, 30 },  { -170, 80, 5 },
        { 30, 90, 40 }, { 30, -90, 40 }, { 0, 180, 0 },
    };
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        db_crystal turned = { .misset = { 0, 0, 0 } }, plain;
        memcpy(turned.cell, triclinic, sizeof triclinic);
        rotation(angles[i], turned.orientation);
        plain = turned;
        memcpy(plain.orientation, identity, sizeof identity);
        db_crystal_misset(&turned, plain.misset);
        assert_same_matrix(&turned, &plain);
        memcpy(turned.misset, angles[1], sizeof turned.misset);
        db_crystal_misset(&turned, plain.misset);
        assert_same_matrix(&turned, &plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rotation_matrix_orients_the_crystal_before_misset),
        cmocka_unit_test(rounded_rotation_matrices_are_put_right),
        cmocka_unit_test(what_is_no_rotation_is_refused),
        cmocka_unit_test(random_turns_stay_within_their_spread),
        cmocka_unit_test(impossible_spreads_are_refused),
        cmocka_unit_test(misset_angles_replace_orientation_and_misset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
