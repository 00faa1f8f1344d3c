/* MOSFLM orientation matrices. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/io.h>

#include <math.h>
#include <stdlib.h>

static void nine_numbers_are_read_however_they_are_broken_into_lines(void **state) {
    (void)state;
    double m[9];
    const char *path =
        folder_text("a.mat", " 1 2 3 4\n5\n\n 6 -7e-1 8. .9 the rest does not matter\nnan");
    expect_ok(test_context(), db_read_mosflm_matrix(test_context(), path, m));
    const double expected[9] = { 1, 2, 3, 4, 5, 6, -0.7, 8, 0.9 };
    for (int i = 0; i < 9; i++) assert_true(m[i] == expected[i]);
}

static void incomplete_and_malformed_matrices_are_errors(void **state) {
    (void)state;
    db_context *context = test_context();
    double m[9];
    expect_failure(context, DB_ERROR_INPUT,
                   db_read_mosflm_matrix(context, folder_text("s.mat", "1 2 3\n4 5 6\n7 8\n"), m),
                   "s.mat", "nine numbers", "found 8");
    expect_failure(context, DB_ERROR_INPUT,
                   db_read_mosflm_matrix(context, folder_text("t.mat", "1 2 3\n4 oops 6\n"), m),
                   "t.mat:2:", "element 5", "'oops'");
    expect_failure(context, DB_ERROR_INPUT,
                   db_read_mosflm_matrix(context, folder_text("n.mat", "1 2 nan\n"), m),
                   "n.mat:1:", "'nan'");
    expect_failure(context, DB_ERROR_INPUT,
                   db_read_mosflm_matrix(context, folder_text("e.mat", ""), m), "found 0");
    expect_failure(context, DB_ERROR_FILE,
                   db_read_mosflm_matrix(context, folder_path("none.mat"), m), "none.mat",
                   "cannot open");
}

static void make_crystal(db_experiment *experiment) {
    const double cell[6] = { 45, 55, 70, 82, 97, 105 };
    expect_ok(test_context(), db_experiment_init(test_context(), experiment));
    memcpy(experiment->crystal.cell, cell, sizeof cell);
    experiment->crystal.misset[0] = 10;
    experiment->crystal.misset[1] = -20;
    experiment->crystal.misset[2] = 130;
    experiment->beam.wavelength = 1.3;
}

static void a_written_matrix_is_the_wavelength_times_a_star(void **state) {
    (void)state;
    db_experiment experiment;
    make_crystal(&experiment);
    const char *path = folder_path("w.mat");
    expect_ok(test_context(), db_write_mosflm_matrix(test_context(), path, &experiment));
    double m[9], a_star[9];
    expect_ok(test_context(), db_read_mosflm_matrix(test_context(), path, m));
    db_crystal_matrix(&experiment.crystal, a_star);
    for (int i = 0; i < 9; i++) assert_true(fabs(m[i] - 1.3 * a_star[i]) < 0.51e-8);
    db_experiment_clear(&experiment);
}

/* Rows 5 to 7 are the rotation U, row 8 the cell; wavelength U B(cell) must give back the first
 * three rows. */
static void a_written_rotation_and_cell_give_the_matrix(void **state) {
    (void)state;
    db_experiment experiment;
    make_crystal(&experiment);
    const char *path = folder_path("u.mat");
    expect_ok(test_context(), db_write_mosflm_matrix(test_context(), path, &experiment));
    size_t size;
    char *text = load_file(path, &size);
    double n[9 + 3 + 9 + 6 + 3];
    char *end = text;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) n[i] = strtod(end, &end);
    assert_string_equal(end, "\n");
    const double *a = n, *u = n + 12, *cell = n + 21;
    for (int i = 0; i < 3; i++) {
        assert_true(n[9 + i] == 0);
        assert_true(n[27 + i] == 0);
    }
    for (int i = 0; i < 6; i++) assert_true(fabs(cell[i] - experiment.crystal.cell[i]) < 1e-4);
    const double r = acos(-1) / 180, al = cell[3] * r, be = cell[4] * r, ga = cell[5] * r;
    const double v = cell[0] * cell[1] * cell[2] *
                     sqrt(1 - cos(al) * cos(al) - cos(be) * cos(be) - cos(ga) * cos(ga) +
                          2 * cos(al) * cos(be) * cos(ga));
    const double as = cell[1] * cell[2] * sin(al) / v, bs = cell[0] * cell[2] * sin(be) / v,
                 cs = cell[0] * cell[1] * sin(ga) / v;
    const double cbs = (cos(al) * cos(ga) - cos(be)) / (sin(al) * sin(ga)),
                 cgs = (cos(al) * cos(be) - cos(ga)) / (sin(al) * sin(be));
    const double b[9] = {
        as, bs * cgs, cs * cbs,   0, bs * sqrt(1 - cgs * cgs), -cs * sqrt(1 - cbs * cbs) * cos(al),
        0,  0,        1 / cell[2]
    };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += u[3 * i + k] * b[3 * k + j];
            assert_true(fabs(1.3 * sum - a[3 * i + j]) < 3e-8);
        }
    free(text);
    db_experiment_clear(&experiment);
}

/* The files of MOSFLM's format that came with measured images, down to the columns. */
static void a_file_of_mosflm_is_written_back_as_it_was(void **state) {
    (void)state;
    const char *reference = shared_path("realdata/thaumatin/thau_3_2_0005.mat");
    db_experiment experiment;
    expect_ok(test_context(), db_experiment_init(test_context(), &experiment));
    experiment.beam.wavelength = 0.96859;
    double m[9];
    expect_ok(test_context(), db_read_mosflm_matrix(test_context(), reference, m));
    for (int i = 0; i < 9; i++) m[i] /= experiment.beam.wavelength;
    expect_ok(test_context(), db_crystal_set_matrix(test_context(), &experiment.crystal, m));
    const char *path = folder_path("again.mat");
    expect_ok(test_context(), db_write_mosflm_matrix(test_context(), path, &experiment));
    size_t size, reference_size;
    char *text = load_file(path, &size), *expected = load_file(reference, &reference_size);
    /* Nine numbers and the first misset are equal to the last character; U and the cell were
     * computed from more digits than the file has, so that only the layout must agree: the same
     * length up to the symmetry. */
    assert_memory_equal(text, expected, 4 * 37);
    assert_int_equal(size, strstr(expected, "SYMM") - expected);
    for (size_t i = 0; i < size; i++) {
        const int blank = text[i] == ' ', reference_blank = expected[i] == ' ';
        if (i > 4 * 37 && i < size - 37 && text[i] != '\n')
            assert_int_equal(blank, reference_blank);
        assert_int_equal(text[i] == '\n', expected[i] == '\n');
    }
    free(text);
    free(expected);
    db_experiment_clear(&experiment);
}

static void crystals_without_volume_are_not_written(void **state) {
    (void)state;
    db_experiment experiment;
    make_crystal(&experiment);
    const int before = folder_count();
    experiment.crystal.cell[3] = 1;
    experiment.crystal.cell[4] = 90;
    experiment.crystal.cell[5] = 170;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_write_mosflm_matrix(test_context(), folder_path("x.mat"), &experiment),
                   "x.mat", "cell");
    db_experiment_clear(&experiment);
    make_crystal(&experiment);
    experiment.beam.wavelength = 0;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_write_mosflm_matrix(test_context(), folder_path("x.mat"), &experiment),
                   "wavelength");
    assert_int_equal(folder_count(), before);
    db_experiment_clear(&experiment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nine_numbers_are_read_however_they_are_broken_into_lines),
        cmocka_unit_test(incomplete_and_malformed_matrices_are_errors),
        cmocka_unit_test(a_written_matrix_is_the_wavelength_times_a_star),
        cmocka_unit_test(a_written_rotation_and_cell_give_the_matrix),
        cmocka_unit_test(a_file_of_mosflm_is_written_back_as_it_was),
        cmocka_unit_test(crystals_without_volume_are_not_written),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
