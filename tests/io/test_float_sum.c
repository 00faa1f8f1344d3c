/* Sums of float images. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/image_sum.h>

#include <math.h>
#include <stdlib.h>

static const char *floats(const char *name, const float *values, size_t count) {
    return folder_file(name, values, count * sizeof *values);
}

static void assert_floats(const char *path, const float *expected, size_t count) {
    size_t size;
    char *bytes = load_file(path, &size);
    assert_int_equal(size, count * sizeof *expected);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

static void images_add_up_with_factor_and_offset(void **state) {
    (void)state;
    const float a[3] = { 1, 2, -3 }, b[3] = { 10, 20, 40 };
    const db_summand summands[] = { { floats("a", a, 3), 1, 0 }, { floats("b", b, 3), 0.5, 100 } };
    const float sum[3] = { 106, 112, 117 };
    const char *path = folder_path("sum");
    expect_ok(test_context(), db_add_float_images(test_context(), summands, 2, NULL, path, NULL));
    assert_floats(path, sum, 3);
    db_sum_options options = DB_SUM_OPTIONS_INIT;
    options.scale = 2;
    options.offset = -1;
    const float scaled[3] = { 211, 223, 233 };
    expect_ok(test_context(),
              db_add_float_images(test_context(), summands, 2, &options, path, NULL));
    assert_floats(path, scaled, 3);
}

/* 2^24 + 1 is no float. */
static void sums_are_taken_in_double_precision(void **state) {
    (void)state;
    const float large = 16777216, one = 1, none = 0;
    const db_summand summands[] = { { floats("large", &large, 1), 1, 0 },
                                    { floats("one", &one, 1), 1, 0 },
                                    { folder_path("one"), 1, 0 },
                                    { folder_path("large"), -1, 0 },
                                    { floats("none", &none, 1), 1, 0 } };
    const float sum = 2;
    expect_ok(test_context(),
              db_add_float_images(test_context(), summands, 5, NULL, folder_path("exact"), NULL));
    assert_floats(folder_path("exact"), &sum, 1);
}

static void headers_stay_those_of_the_first_image(void **state) {
    (void)state;
    char first[6 + 4] = "HEADER", second[6 + 4] = "header";
    const float x = 1.5F, y = 2;
    memcpy(first + 6, &x, 4);
    memcpy(second + 6, &y, 4);
    const db_summand summands[] = { { folder_file("h1", first, sizeof first), 1, 0 },
                                    { folder_file("h2", second, sizeof second), 1, 0 } };
    db_sum_options options = DB_SUM_OPTIONS_INIT;
    options.header = 6;
    expect_ok(test_context(),
              db_add_float_images(test_context(), summands, 2, &options, folder_path("h"), NULL));
    size_t size;
    char *bytes = load_file(folder_path("h"), &size);
    float sum;
    assert_int_equal(size, 10);
    assert_memory_equal(bytes, "HEADER", 6);
    memcpy(&sum, bytes + 6, 4);
    assert_true(sum == 3.5F);
    free(bytes);
}

static void statistics_leave_out_marked_pixels(void **state) {
    (void)state;
    const float a[6] = { 1, 2, -1, 4, 65535, INFINITY }, b[6] = { 2, 4, 7, -1, 3, 1 };
    const db_summand summands[] = { { floats("sa", a, 6), 1, 0 }, { floats("sb", b, 6), 1, 0 } };
    const float marks[2] = { -1, 65535 };
    const float expected[6] = { 3, 6, -1, -1, 65535, INFINITY };
    db_sum_options options = DB_SUM_OPTIONS_INIT;
    options.ignore = marks;
    options.ignore_count = 2;
    db_sum_statistics s;
    expect_ok(test_context(), db_add_float_images(test_context(), summands, 2, &options,
                                                  folder_path("marked"), &s));
    assert_floats(folder_path("marked"), expected, 6);
    assert_int_equal(s.pixels, 6);
    assert_int_equal(s.ignored, 3);
    assert_int_equal(s.not_finite, 1);
    assert_true(s.smallest == 3 && s.largest == 6 && s.mean == 4.5);
    assert_true(fabs(s.rmsd - 1.5) < 1e-15);
    assert_true(fabs(s.rms - sqrt(22.5)) < 1e-14);
    assert_true(fabs(s.correlation - 1) < 1e-15); /* of (1, 2) and (2, 4) */
}

/* More than one piece; values exact in single precision. */
static void large_images_are_added_piece_by_piece(void **state) {
    (void)state;
    enum { COUNT = (1 << 21) + 12345 };
    float *const values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < COUNT; i++) values[i] = (float)i;
    const char *path = floats("large_image", values, COUNT);
    const db_summand summands[] = { { path, 1, 0 }, { path, 1, 1 }, { path, -1, 0 } };
    db_sum_statistics s;
    expect_ok(test_context(),
              db_add_float_images(test_context(), summands, 3, NULL, folder_path("large_sum"), &s));
    for (int i = 0; i < COUNT; i++) values[i] += 1;
    assert_floats(folder_path("large_sum"), values, COUNT);
    assert_true(s.smallest == 1 && s.largest == COUNT);
    assert_true(fabs(s.mean - (COUNT + 1) / 2.0) < 1e-6);
    free(values);
}

static void the_sum_may_replace_an_image(void **state) {
    (void)state;
    const float a = 3, b = 4, sum = 10;
    const db_summand summands[] = { { floats("in", &a, 1), 2, 0 },
                                    { floats("other", &b, 1), 1, 0 } };
    expect_ok(test_context(),
              db_add_float_images(test_context(), summands, 2, NULL, folder_path("in"), NULL));
    assert_floats(folder_path("in"), &sum, 1);
}

/* Adds two files of the test's folder, or one. */
static db_status add_files(const char *first, const char *second, const db_sum_options *options,
                           const char *sum) {
    const db_summand summands[] = { { first, 1, 0 }, { second, 1, 0 } };
    return db_add_float_images(test_context(), summands, first ? second ? 2 : 1 : 0, options, sum,
                               NULL);
}

static void images_that_do_not_fit_are_refused_before_anything_is_written(void **state) {
    (void)state;
    const float a[2] = { 1, 2 };
    char two[256], one[256], sum[256];
    snprintf(two, sizeof two, "%s", floats("two", a, 2));
    snprintf(one, sizeof one, "%s", floats("just_one", a, 1));
    snprintf(sum, sizeof sum, "%s", folder_path("never"));
    folder_text("ragged", "12345");
    folder_text("empty", "");
    const int before = folder_count();
    expect_failure(test_context(), DB_ERROR_INPUT, add_files(two, one, NULL, sum), "just_one",
                   "expected 2 pixels", "found 1");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   add_files(folder_path("ragged"), NULL, NULL, sum), "ragged", "found 5 bytes");
    expect_failure(test_context(), DB_ERROR_INPUT, add_files(folder_path("empty"), NULL, NULL, sum),
                   "empty");
    expect_failure(test_context(), DB_ERROR_FILE, add_files(two, "no/such/file", NULL, sum),
                   "no/such/file");
    expect_failure(test_context(), DB_ERROR_FILE, add_files("/dev/zero", NULL, NULL, sum),
                   "expected a regular file");
    expect_failure(test_context(), DB_ERROR_USAGE, add_files(NULL, NULL, NULL, sum),
                   "at least one image");
    expect_failure(test_context(), DB_ERROR_FILE, add_files(two, NULL, NULL, "no/such/folder"),
                   "no/such/folder");
    db_sum_options options = DB_SUM_OPTIONS_INIT;
    options.ignore_count = 256;
    expect_failure(test_context(), DB_ERROR_USAGE, add_files(two, NULL, &options, sum), "255");
    assert_int_equal(folder_count(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_add_up_with_factor_and_offset),
        cmocka_unit_test(sums_are_taken_in_double_precision),
        cmocka_unit_test(headers_stay_those_of_the_first_image),
        cmocka_unit_test(statistics_leave_out_marked_pixels),
        cmocka_unit_test(large_images_are_added_piece_by_piece),
        cmocka_unit_test(the_sum_may_replace_an_image),
        cmocka_unit_test(images_that_do_not_fit_are_refused_before_anything_is_written),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
