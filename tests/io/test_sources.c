/* Source files. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/beam_files.h>

#include <math.h>
#include <stdlib.h>

static db_beam beam_along_x(void) {
    return (db_beam){ .direction = { 1, 0, 0 }, .wavelength = 1.5 };
}

static void assert_source(const db_source *source, double x, double y, double z, double weight,
                          double ratio) {
    const double length = sqrt(x * x + y * y + z * z);
    const double expected[3] = { x / length, y / length, z / length };
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(source->direction[i] - expected[i]) < 1e-15);
        assert_true(source->spread[i] == 0);
    }
    assert_true(source->weight == weight);
    assert_true(fabs(source->wavelength_ratio - ratio) < 1e-15);
}

static void photons_travel_from_the_source_to_the_sample(void **state) {
    (void)state;
    db_beam beam = beam_along_x();
    const char *path = folder_text("a.src", "# x y z weight wavelength\n"
                                            "-10 0 0 4.0 1.50e-10\n"
                                            "-10, 0.5;0.25:2!3e-10\n"
                                            "-2 0.1\t# missing columns\n");
    expect_ok(test_context(), db_read_sources(test_context(), path, &beam));
    assert_int_equal(beam.source_count, 3);
    assert_source(&beam.sources[0], 10, 0, 0, 4, 1);
    assert_source(&beam.sources[1], 10, -0.5, -0.25, 2, 2);
    assert_source(&beam.sources[2], 2, -0.1, 0, 1, 1);
    free(beam.sources);
}

static void missing_positions_are_those_upstream_along_the_beam(void **state) {
    (void)state;
    db_beam beam = { .direction = { 0, 0, 1 }, .wavelength = 1 };
    expect_ok(test_context(), db_read_sources(test_context(), folder_text("b.src", "1\n"), &beam));
    assert_int_equal(beam.source_count, 1);
    assert_source(&beam.sources[0], -1, 0, 10, 1, 1);
    free(beam.sources);
}

static void the_reference_files_are_read(void **state) {
    (void)state;
    db_beam beam = beam_along_x();
    expect_ok(test_context(),
              db_read_sources(test_context(), golden_path("inputs/short.src"), &beam));
    assert_int_equal(beam.source_count, 2);
    assert_source(&beam.sources[0], 5, -0.1, -0.05, 1, 1);
    assert_source(&beam.sources[1], 8, 0, 0.1, 1, 1);
    expect_ok(test_context(),
              db_read_sources(test_context(), golden_path("inputs/weights.src"), &beam));
    assert_int_equal(beam.source_count, 3);
    assert_source(&beam.sources[2], 10, 0.05, 0.06, 0.5, 1.4 / 1.5);
    free(beam.sources);
}

static void bad_sources_are_errors_that_name_the_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *line, *expected;
    } cases[] = {
        { "-10 0 0 1 1e-10\n-10 0 0 -1 1e-10\n", ":2:", "weight >= 0" },
        { "-10 0 0 1 0\n", ":1:", "wavelength > 0" },
        { "-10 0 0 1 1.5\n", ":1:", "in metre" },
        { "0 0 0\n", ":1:", "away from the sample" },
        { "-10 zero 0\n", ":1:", "number for y" },
        { "-10 0 0 nan\n", ":1:", "weight" },
        { "-10 0 0 0\n", "bad.src", "sum > 0" },
        { "# none\n", "bad.src", "found none" },
        { "", "bad.src", "found none" },
    };
    db_source old = { .weight = 9 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_beam beam = beam_along_x();
        beam.sources = &old;
        beam.source_count = 1;
        expect_failure(
            test_context(), DB_ERROR_INPUT,
            db_read_sources(test_context(), folder_text("bad.src", cases[i].text), &beam),
            "bad.src", cases[i].line, cases[i].expected);
        assert_ptr_equal(beam.sources, &old);
        assert_int_equal(beam.source_count, 1);
    }
}

static void a_missing_file_or_wavelength_is_an_error(void **state) {
    (void)state;
    db_beam beam = beam_along_x();
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_read_sources(test_context(), folder_path("none.src"), &beam), "none.src");
    beam.wavelength = 0;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_sources(test_context(), folder_text("c.src", "-1 0 0\n"), &beam),
                   "wavelength");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photons_travel_from_the_source_to_the_sample),
        cmocka_unit_test(missing_positions_are_those_upstream_along_the_beam),
        cmocka_unit_test(the_reference_files_are_read),
        cmocka_unit_test(bad_sources_are_errors_that_name_the_line),
        cmocka_unit_test(a_missing_file_or_wavelength_is_an_error),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
