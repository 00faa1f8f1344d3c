/* Amplitudes of amorphous matter. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>

#include <math.h>
#include <stdlib.h>

static void two_columns_become_a_curve(void **state) {
    (void)state;
    const char *path = folder_text("water.stol", "# sin(theta)/lambda  F\n"
                                                 "\n"
                                                 "0 2.57\r\n"
                                                 "0.125,2.5 0.01 # a third column, and a comment\n"
                                                 "\t2.5e-1 ;\t-1.5");
    db_background b = { 0 };
    expect_ok(test_context(), db_read_stol(test_context(), path, DB_STOL, &b, NULL));
    assert_int_equal(b.count, 3);
    assert_true(b.stol[0] == 0 && b.stol[1] == 0.125 && b.stol[2] == 0.25);
    assert_true(b.amplitude[0] == 2.57 && b.amplitude[1] == 2.5 && b.amplitude[2] == -1.5);
    free(b.stol);
    free(b.amplitude);
}

static void the_first_column_may_be_a_multiple(void **state) {
    (void)state;
    static const struct {
        db_stol_abscissa abscissa;
        double multiple;
    } kinds[] = { { DB_STOL, 1 }, { DB_4STOL, 4 }, { DB_Q, 12.566370614359172954 } };
    const char *path = folder_text("q.stol", "0.5 1\n3 2\n");
    db_background b = { 0 };
    for (size_t i = 0; i < 3; i++) { /* each replaces the curve before it */
        expect_ok(test_context(), db_read_stol(test_context(), path, kinds[i].abscissa, &b, NULL));
        assert_int_equal(b.count, 2);
        assert_true(fabs(b.stol[0] * kinds[i].multiple - 0.5) < 1e-15);
        assert_true(fabs(b.stol[1] * kinds[i].multiple - 3) < 1e-15);
    }
    free(b.stol);
    free(b.amplitude);
}

static void lines_are_sorted_and_that_is_said(void **state) {
    (void)state;
    db_background b = { 0 };
    size_t out_of_order = 99;
    expect_ok(test_context(),
              db_read_stol(test_context(),
                           folder_text("mixed.stol", "0 1\n0.2 3\n0.1 2\n0.4 5\n0.3 4\n"), DB_STOL,
                           &b, &out_of_order));
    assert_int_equal(out_of_order, 2);
    assert_int_equal(b.count, 5);
    for (size_t i = 0; i < 5; i++) assert_true(b.amplitude[i] == (double)(i + 1));
    expect_ok(test_context(), db_read_stol(test_context(), folder_text("order.stol", "0 1\n1 2\n"),
                                           DB_STOL, &b, &out_of_order));
    assert_int_equal(out_of_order, 0);
    free(b.stol);
    free(b.amplitude);
}

static void long_files_are_read_in_full(void **state) {
    (void)state;
    enum { LINES = 5000 };
    char *const text = malloc(32 * LINES), *end = text;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++) end += sprintf(end, "%.4f %d\n", 1e-4 * i, LINES - i);
    db_background b = { 0 };
    const char *path = folder_text("long.stol", text);
    free(text);
    expect_ok(test_context(), db_read_stol(test_context(), path, DB_STOL, &b, NULL));
    assert_int_equal(b.count, LINES);
    assert_true(b.stol[LINES - 1] == 0.4999 && b.amplitude[LINES - 1] == 1);
    free(b.stol);
    free(b.amplitude);
}

static void malformed_files_are_refused_and_leave_the_old_curve(void **state) {
    (void)state;
    static const struct {
        const char *text, *line, *expected, *found;
    } cases[] = {
        { "0 1\n0.1\n", ":2:", "two columns", "found 1" },
        { "stol F\n0 1\n", ":1:", "for sin(theta)/lambda", "'stol'" },
        { "# c\n\n0 one\n", ":3:", "finite number for F", "'one'" },
        { "0 nan\n1 2\n", ":1:", "finite number for F", "'nan'" },
        { "0 1\n0.2 2\n0.2 2\n", ":3:", "once", "line 2 again" },
        { "0.2 2\n# c\n0 1\n\n0.2 3\n", ":5:", "once", "line 1 again" },
        { "-0.1 1\n0.2 2\n", ":1:", "sin(theta)/lambda >= 0", "found -0.1" },
        { "0.3 1\n", "bad.stol", "at least two lines", "found 1" },
        { "# nothing\n", "bad.stol", "at least two lines", "found 0" },
        { "", "bad.stol", "at least two lines", "found 0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double stol[2] = { 0, 1 }, amplitude[2] = { 5, 6 };
        db_background b = { .count = 2, .stol = stol, .amplitude = amplitude };
        const char *path = folder_text("bad.stol", cases[i].text);
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_stol(test_context(), path, DB_STOL, &b, NULL), "bad.stol",
                       cases[i].line, cases[i].expected, cases[i].found);
        assert_ptr_equal(b.stol, stol);
        assert_int_equal(b.count, 2);
    }
}

static void unusable_files_and_kinds_are_refused(void **state) {
    (void)state;
    db_background b = { 0 };
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_read_stol(test_context(), folder_path("none.stol"), DB_STOL, &b, NULL),
                   "none.stol");
    expect_failure(
        test_context(), DB_ERROR_INPUT,
        db_read_stol(test_context(), folder_file("zero.stol", "0 1\0\n", 5), DB_STOL, &b, NULL),
        "zero.stol", "binary");
    expect_failure(test_context(), DB_ERROR_USAGE,
                   db_read_stol(test_context(), folder_text("ok.stol", "0 1\n1 2\n"),
                                (db_stol_abscissa)7, &b, NULL),
                   "ok.stol", "number 7");
    assert_null(b.stol);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_columns_become_a_curve),
        cmocka_unit_test(the_first_column_may_be_a_multiple),
        cmocka_unit_test(lines_are_sorted_and_that_is_said),
        cmocka_unit_test(long_files_are_read_in_full),
        cmocka_unit_test(malformed_files_are_refused_and_leave_the_old_curve),
        cmocka_unit_test(unusable_files_and_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
