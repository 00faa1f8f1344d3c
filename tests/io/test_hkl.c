/* Structure factor lists. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>

#include <stdlib.h>
#include <time.h>

static double amplitude(const db_structure_factors *f, int h, int k, int l) {
    return f->amplitude[((h - f->min[0]) * f->extent[1] + (k - f->min[1])) * f->extent[2] + l -
                        f->min[2]];
}

static void a_list_fills_the_box_around_it(void **state) {
    (void)state;
    const char *path = folder_text("a.hkl", "# h k l F\n"
                                            "\n"
                                            " 1 2 3 10.5\n"
                                            "+1.0 2 -3.0 20 extra columns 7 # and a comment\r\n"
                                            "-2\t2 0 1e2\n"
                                            "-2 2 1 -4 0.3");
    db_structure_factors f = { .default_F = 7 };
    expect_ok(test_context(), db_read_hkl(test_context(), path, &f));
    assert_int_equal(f.min[0], -2);
    assert_int_equal(f.min[1], 2);
    assert_int_equal(f.min[2], -3);
    assert_int_equal(f.extent[0], 4);
    assert_int_equal(f.extent[1], 1);
    assert_int_equal(f.extent[2], 7);
    assert_true(amplitude(&f, 1, 2, 3) == 10.5);
    assert_true(amplitude(&f, 1, 2, -3) == 20);
    assert_true(amplitude(&f, -2, 2, 0) == 100);
    assert_true(amplitude(&f, -2, 2, 1) == -4);
    assert_true(amplitude(&f, 0, 2, 0) == 7); /* not listed */
    assert_true(f.default_F == 7);
    free(f.amplitude);
}

static void the_last_of_repeated_entries_wins_and_a_list_is_replaced(void **state) {
    (void)state;
    db_structure_factors f = { 0 };
    expect_ok(test_context(),
              db_read_hkl(test_context(), folder_text("b.hkl", "1 1 1 5\n0 0 0 1\n1 1 1 6\n"), &f));
    assert_true(amplitude(&f, 1, 1, 1) == 6);
    assert_true(amplitude(&f, 0, 1, 0) == 0);
    expect_ok(test_context(), db_read_hkl(test_context(), folder_text("c.hkl", "4 4 4 2\n"), &f));
    assert_int_equal(f.extent[0] * f.extent[1] * f.extent[2], 1);
    assert_true(amplitude(&f, 4, 4, 4) == 2);
    free(f.amplitude);
}

static void malformed_lines_are_errors_that_name_the_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *line, *expected, *found;
    } cases[] = {
        { "1 2 3 4\n1 2 3\n", ":2:", "four columns", "found 3" },
        { "TITLE lysozyme\n", ":1:", "whole number", "'TITLE'" },
        { "# c\n\n1 2.5 3 4\n", ":3:", "for k", "'2.5'" },
        { "1 2 3 x\n", ":1:", "finite number for F", "'x'" },
        { "1 2 3 nan\n", ":1:", "finite number for F", "'nan'" },
        { "1 2 3 inf\n", ":1:", "finite number for F", "'inf'" },
        { "1 2 3 1e999\n", ":1:", "finite number for F", "'1e999'" },
        { "nan 2 3 4\n", ":1:", "whole number", "'nan'" },
        { "1 2 3000000 4\n", ":1:", "for l", "'3000000'" },
        { "1 2 3 4\r1 2 3 4\r1 2\r", ":3:", "four columns", "found 2" },
        { "1,2,3,4\n", ":1:", "whole number", "'1,2,3,4'" },
        { "1 2 # 3 4\n", ":1:", "four columns", "found 2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double before = 3;
        db_structure_factors f = { .extent = { 1, 1, 1 }, .amplitude = &before };
        const char *path = folder_text("bad.hkl", cases[i].text);
        expect_failure(test_context(), DB_ERROR_INPUT, db_read_hkl(test_context(), path, &f),
                       "bad.hkl", cases[i].line, cases[i].expected, cases[i].found);
        assert_ptr_equal(f.amplitude, &before); /* a failure leaves the old list */
    }
}

static void empty_lists_and_absurd_boxes_are_errors(void **state) {
    (void)state;
    db_context *context = test_context();
    db_structure_factors f = { 0 };
    expect_failure(context, DB_ERROR_INPUT, db_read_hkl(context, folder_text("e.hkl", ""), &f),
                   "found none");
    expect_failure(context, DB_ERROR_INPUT,
                   db_read_hkl(context, folder_text("e.hkl", "# nothing\n"), &f), "found none");
    expect_failure(
        context, DB_ERROR_INPUT,
        db_read_hkl(context, folder_text("huge.hkl", "-999999 0 0 1\n999999 9999 0 1\n0 0 99 1\n"),
                    &f),
        "h -999999..999999", "box of 1999999000000 entries", "list of 3");
    expect_failure(context, DB_ERROR_INPUT,
                   db_read_hkl(context, folder_text("sparse.hkl", "0 0 0 1\n9999 99 99 1\n"), &f),
                   "sparse.hkl", "box of 100000000 entries", "list of 2");
    expect_failure(context, DB_ERROR_FILE, db_read_hkl(context, folder_path("none.hkl"), &f),
                   "none.hkl");
    assert_null(f.amplitude);
}

static void reference_lists_are_read(void **state) {
    (void)state;
    db_structure_factors f = { 0 };
    expect_ok(test_context(), db_read_hkl(test_context(), golden_path("inputs/grid.hkl"), &f));
    for (int axis = 0; axis < 3; axis++) {
        assert_int_equal(f.min[axis], -6);
        assert_int_equal(f.extent[axis], 13);
    }
    assert_true(amplitude(&f, -6, -6, -6) == 44.352);
    free(f.amplitude);
}

static void half_a_million_lines_are_read_quickly(void **state) {
    (void)state;
    enum { EDGE = 80 };
    char *text = malloc((size_t)EDGE * EDGE * EDGE * 32), *end = text;
    assert_non_null(text);
    for (int h = 0; h < EDGE; h++)
        for (int k = 0; k < EDGE; k++)
            for (int l = 0; l < EDGE; l++)
                end += sprintf(end, "%d %d %d %d.%04d\n", h - 40, k - 40, l - 40, h + k, l);
    const char *path = folder_file("large.hkl", text, (size_t)(end - text));
    free(text);
    db_structure_factors f = { 0 };
    const clock_t start = clock();
    expect_ok(test_context(), db_read_hkl(test_context(), path, &f));
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%d lines in %.3f s\n", EDGE * EDGE * EDGE, seconds);
    assert_true(seconds < 5); /* instrumented builds included */
    assert_true(amplitude(&f, 39, 39, 39) == 158.0079);
    free(f.amplitude);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_fills_the_box_around_it),
        cmocka_unit_test(the_last_of_repeated_entries_wins_and_a_list_is_replaced),
        cmocka_unit_test(malformed_lines_are_errors_that_name_the_line),
        cmocka_unit_test(empty_lists_and_absurd_boxes_are_errors),
        cmocka_unit_test(reference_lists_are_read),
        cmocka_unit_test(half_a_million_lines_are_read_quickly),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
