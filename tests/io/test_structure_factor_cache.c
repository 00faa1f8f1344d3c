/* Binary files of structure factors in the layout of the reference's Fdump.bin. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>

#include <math.h>
#include <stdlib.h>

/* h -1..0, k 2..2, l 3..5 */
static double six[6] = { 1, 2.5, -3, 1e300, 0, 7 };
static const db_structure_factors small = {
    .min = { -1, 2, 3 }, .extent = { 2, 1, 3 }, .amplitude = six, .default_F = 4, .listed = 6
};
static const char header[] = "-1 0 2 2 3 5\n\f";
enum { HEADER = sizeof header - 1, PADDED = 3 * 2 * 4 };

static void the_layout_is_the_reference_s(void **state) {
    (void)state;
    size_t size;
    const char *path = folder_path("small.bin");
    expect_ok(test_context(), db_write_structure_factor_cache(test_context(), path, &small));
    char *bytes = load_file(path, &size);
    assert_int_equal(size, HEADER + PADDED * 8);
    assert_memory_equal(bytes, header, HEADER);
    double padded[PADDED];
    memcpy(padded, bytes + HEADER, sizeof padded);
    for (int h = 0; h < 3; h++)
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 4; l++) {
                const double expected = h < 2 && k < 1 && l < 3 ? six[3 * h + l] : 0;
                assert_true(padded[(h * 2 + k) * 4 + l] == expected);
            }
    free(bytes);
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    const char *path = folder_path("again.bin");
    expect_ok(test_context(), db_write_structure_factor_cache(test_context(), path, &small));
    db_structure_factors f = { .default_F = 9, .amplitude = malloc(8) };
    expect_ok(test_context(), db_read_structure_factor_cache(test_context(), path, &f));
    assert_memory_equal(f.min, small.min, sizeof f.min);
    assert_memory_equal(f.extent, small.extent, sizeof f.extent);
    assert_memory_equal(f.amplitude, six, sizeof six);
    assert_true(f.default_F == 9);
    assert_int_equal(f.listed, 6);
    free(f.amplitude);
}

/* A double whose first byte looks like white space must not be eaten with the form feed. */
static void bytes_like_white_space_are_data(void **state) {
    (void)state;
    static const unsigned char spaces[] = { 0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d };
    for (size_t i = 0; i < sizeof spaces; i++) {
        double value = 10;
        memcpy(&value, &spaces[i], 1);
        db_structure_factors one = { .extent = { 1, 1, 1 }, .amplitude = &value }, f = { 0 };
        const char *path = folder_path("space.bin");
        expect_ok(test_context(), db_write_structure_factor_cache(test_context(), path, &one));
        expect_ok(test_context(), db_read_structure_factor_cache(test_context(), path, &f));
        assert_true(f.amplitude[0] == value);
        free(f.amplitude);
    }
}

static void sizes_are_checked_against_the_file(void **state) {
    (void)state;
    size_t size;
    expect_ok(test_context(),
              db_write_structure_factor_cache(test_context(), folder_path("whole.bin"), &small));
    char *bytes = load_file(folder_path("whole.bin"), &size);
    db_structure_factors f = { 0 };
    for (size_t length = 0; length < size; length += length < HEADER ? 1 : 13) {
        const char *path = folder_file("short.bin", bytes, length);
        const db_status status = db_read_structure_factor_cache(test_context(), path, &f);
        assert_int_equal(status, DB_ERROR_INPUT);
        assert_non_null(strstr(db_context_message(test_context()), path));
    }
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_structure_factor_cache(test_context(),
                                                  folder_file("long.bin", bytes, size + 1), &f),
                   "expected 206 bytes for 2 x 1 x 3", "found 207");
    assert_null(f.amplitude);
    free(bytes);
}

static void malformed_headers_are_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "1 0 0 10\n2 0 0 4\n", "limit 4" },
        { "0 0 0 0 0 0\n", "form feed" },
        { "0 0 0 0 0 0\r\n\f", "limit 6" },
        { "0 0 0 0 0 0\n \f", "form feed" },
        { "3 2 0 0 0 0\n\f", "smaller limit of h first, found 3 2" },
        { "0 0 0 0 0 9999999\n\f", "limit 6" },
        { "0 99999999999999999999 0 0 0 0\n\f", "limit 2" },
        { "-1000000 1000000 -1000000 1000000 0 0\n\f", "2000001 values of h" },
    };
    db_structure_factors f = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_structure_factor_cache(test_context(),
                                                      folder_text("bad.bin", cases[i].text), &f),
                       "bad.bin", cases[i].message);
}

static void amplitudes_must_be_finite(void **state) {
    (void)state;
    double values[6];
    memcpy(values, six, sizeof six);
    values[4] = NAN;
    db_structure_factors bad = small, f = { 0 };
    bad.amplitude = values;
    const char *path = folder_path("nan.bin");
    expect_ok(test_context(), db_write_structure_factor_cache(test_context(), path, &bad));
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_structure_factor_cache(test_context(), path, &f),
                   "finite structure factor for 0 2 4", "nan");
    assert_null(f.amplitude);
}

static void without_a_list_or_a_file_nothing_happens(void **state) {
    (void)state;
    db_structure_factors f = { 0 };
    const int before = folder_count();
    expect_failure(test_context(), DB_ERROR_USAGE,
                   db_write_structure_factor_cache(test_context(), folder_path("no.bin"), &f),
                   "expected a list");
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_read_structure_factor_cache(test_context(), folder_path("no.bin"), &f),
                   "no.bin", "cannot open");
    assert_int_equal(folder_count(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_the_reference_s),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(bytes_like_white_space_are_data),
        cmocka_unit_test(sizes_are_checked_against_the_file),
        cmocka_unit_test(malformed_headers_are_errors),
        cmocka_unit_test(amplitudes_must_be_finite),
        cmocka_unit_test(without_a_list_or_a_file_nothing_happens),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
