/* Lines, words and numbers of text files. */
#include "support/expect.h"
#include "files_for_tests.h"

#include "base/text_reader.h"

#include <dualbragg/version.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static int parse(const char *text, double *value) {
    return db_word_number((db_word){ text, strlen(text) }, value);
}

static void numbers_are_read_as_the_c_library_reads_them(void **state) {
    (void)state;
    static const char *const texts[] = { "0",
                                         "-0",
                                         "1",
                                         "+3",
                                         "-2.5",
                                         ".5",
                                         "5.",
                                         "1e3",
                                         "1E-3",
                                         "-1.5e+2",
                                         "0.1",
                                         "123456789012345678901234567890",
                                         "1e-320",
                                         "4.9e-324",
                                         "1.7976931348623157e308",
                                         "0.30000000000000004",
                                         "9007199254740993",
                                         "00000000000000000000000000012.5",
                                         "1e22",
                                         "1e23",
                                         "3.14159265358979323846",
                                         "0.000000000000000000000000000000123e10" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = NAN;
        assert_true(parse(texts[i], &value));
        if (value != strtod(texts[i], NULL)) fail_msg("%s read as %.17g", texts[i], value);
    }
    srand(1);
    for (int i = 0; i < 100000; i++) {
        char text[64];
        const double number = ((double)rand() - RAND_MAX / 2) * pow(10, rand() % 60 - 30);
        snprintf(text, sizeof text, "%.*g", 1 + rand() % 17, number);
        double value = NAN;
        assert_true(parse(text, &value));
        if (value != strtod(text, NULL)) fail_msg("%s read as %.17g", text, value);
    }
}

static void what_is_no_finite_decimal_number_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = { "",      "x",   "1x",    "1e",  "1e+", "--1",  "+-1",
                                         ".",     "e5",  "nan",   "inf", "NAN", "-inf", "0x10",
                                         "1e999", "1,5", "1.2.3", "1d3", "1 2", "1e5.0" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value;
        if (parse(texts[i], &value)) fail_msg("'%s' read as %g", texts[i], value);
    }
    char digits[2000];
    memset(digits, '1', sizeof digits);
    double value;
    assert_false(db_word_number((db_word){ digits, sizeof digits }, &value));
}

static void numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "de_AT.UTF-8" };
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    double value = 0;
    const int read = parse("1.25e-300", &value);
    setlocale(LC_NUMERIC, "C");
    assert_true(read);
    assert_true(value == 1.25e-300);
}

static void lines_end_in_any_way_and_keep_their_numbers(void **state) {
    (void)state;
    db_text text;
    const char *path = folder_text(
        "lines", "\xef\xbb\xbfone # comment\r\n\r\n  # only comment\n\ttwo\rthree\n\n last");
    expect_ok(test_context(), db_text_open(test_context(), path, &text));
    static const struct {
        const char *word;
        size_t number;
    } expected[] = { { "one", 1 }, { "two", 4 }, { "three", 5 }, { "last", 7 } };
    for (int i = 0; i < 4; i++) {
        assert_true(db_text_next_line(&text));
        assert_int_equal(text.line_number, expected[i].number);
        const char *cursor = text.line;
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE);
        assert_int_equal(word.length, strlen(expected[i].word));
        assert_memory_equal(word.start, expected[i].word, word.length);
    }
    assert_false(db_text_next_line(&text));
    db_text_close(&text);
}

static void binary_compressed_missing_files_and_folders_are_refused(void **state) {
    (void)state;
    db_context *context = test_context();
    db_text text;
    expect_failure(context, DB_ERROR_INPUT,
                   db_text_open(context, folder_file("b", "1 2\0 3", 6), &text), "binary",
                   "byte 3");
    expect_failure(context, DB_ERROR_INPUT,
                   db_text_open(context, folder_file("z", "\x1f\x8b\x01", 3), &text), "gzip",
                   "gunzip");
    expect_failure(context, DB_ERROR_INPUT,
                   db_text_open(context,
                                folder_file("x",
                                            "\xfd"
                                            "7zXZ\0",
                                            6),
                                &text),
                   "xz");
    expect_failure(context, DB_ERROR_FILE, db_text_open(context, folder_path("missing"), &text),
                   "missing", "cannot open", "No such file");
    expect_failure(context, DB_ERROR_FILE, db_text_open(context, folder_path("."), &text),
                   "directory");
    expect_failure(context, DB_ERROR_USAGE, db_text_open(context, "", &text), "file name");
    expect_failure(context, DB_ERROR_FILE, db_text_open(context, "/dev/zero", &text), "/dev/zero",
                   "longer than");
}

/* "1 2\n" and "3 4\n" by gzip. */
#define PACKED_ONE                                                                                 \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x33\x54\x30\xe2\x02\x00\x57\xbb\x3b\x5c\x04\x00\x00" \
    "\x00"
#define PACKED_TWO                                                                                 \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x33\x56\x30\xe1\x02\x00\x5a\xd4\x68\xa0\x04\x00\x00" \
    "\x00"

static void files_packed_by_gzip_are_unpacked(void **state) {
    (void)state;
    static const char both[] = PACKED_ONE PACKED_TWO "\0\0\0"; /* and padding */
    db_context *context = test_context();
    db_text text;
    if (!strstr(db_features(), "zlib")) {
        expect_failure(context, DB_ERROR_UNSUPPORTED,
                       db_text_open(context, folder_file("p.gz", both, sizeof both), &text),
                       "zlib1g-dev");
        return;
    }
    expect_ok(context, db_text_open(context, folder_file("p.gz", both, sizeof both), &text));
    assert_true(db_text_next_line(&text));
    assert_string_equal(text.line, "1 2");
    assert_true(db_text_next_line(&text));
    assert_string_equal(text.line, "3 4");
    assert_false(db_text_next_line(&text));
    db_text_close(&text);
    /* cut off anywhere, or damaged */
    for (size_t size = 3; size < sizeof PACKED_ONE - 1; size++)
        expect_failure(context, DB_ERROR_INPUT,
                       db_text_open(context, folder_file("c.gz", both, size), &text), "c.gz",
                       "damaged or cut off");
    char damaged[sizeof PACKED_ONE];
    memcpy(damaged, PACKED_ONE, sizeof damaged);
    damaged[sizeof damaged - 6] ^= 1; /* the checksum */
    expect_failure(context, DB_ERROR_INPUT,
                   db_text_open(context, folder_file("d.gz", damaged, sizeof damaged - 1), &text),
                   "incorrect");
}

static void pipes_and_empty_files_are_read(void **state) {
    (void)state;
    db_text text;
    expect_ok(test_context(), db_text_open(test_context(), "/dev/null", &text));
    assert_false(db_text_next_line(&text));
    db_text_close(&text);
    expect_ok(test_context(),
              db_text_open(test_context(), "/proc/self/status", &text)); /* says size 0 */
    assert_true(db_text_next_line(&text));
    db_text_close(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_the_c_library_reads_them),
        cmocka_unit_test(what_is_no_finite_decimal_number_is_refused),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(lines_end_in_any_way_and_keep_their_numbers),
        cmocka_unit_test(binary_compressed_missing_files_and_folders_are_refused),
        cmocka_unit_test(files_packed_by_gzip_are_unpacked),
        cmocka_unit_test(pipes_and_empty_files_are_read),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
