/* PGM pictures. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/picture_files.h>

#include <math.h>
#include <stdlib.h>

static void levels_are_cut_off(void **state) {
    (void)state;
    const float pixels[8] = { 0, 0.49f, 1, 1.99f, 127.5f, 128, 1e30f, INFINITY };
    const unsigned char levels[8] = { 0, 0, 2, 3, 255, 255, 255, 255 };
    const char *path = folder_path("a.pgm");
    expect_ok(test_context(), db_write_pgm(test_context(), path, pixels, 4, 2, 2));
    size_t size;
    char *bytes = load_file(path, &size);
    static const char header[] = "P5\n4 2\n# pixels scaled by 2\n255\n";
    assert_int_equal(size, sizeof header - 1 + 8);
    assert_memory_equal(bytes, header, sizeof header - 1);
    assert_memory_equal(bytes + sizeof header - 1, levels, 8);
    free(bytes);
}

static void pixels_without_data_are_black(void **state) {
    (void)state;
    const float pixels[3] = { NAN, -5, -INFINITY };
    const char *path = folder_path("b.pgm");
    expect_ok(test_context(), db_write_pgm(test_context(), path, pixels, 3, 1, 0.25));
    size_t size;
    char *bytes = load_file(path, &size);
    assert_memory_equal(bytes + size - 3, "\0\0\0", 3);
    free(bytes);
}

static void the_reference_picture_is_reproduced(void **state) {
    (void)state;
    enum { FAST = 64, SLOW = 48 };
    static float pixels[FAST * SLOW];
    expect_ok(test_context(),
              db_read_float_image(test_context(), golden_path("reference/io_basic.f32"), FAST, SLOW,
                                  pixels));
    double sum = 0, squares = 0;
    for (int i = 0; i < FAST * SLOW; i++) sum += (double)pixels[i];
    for (int i = 0; i < FAST * SLOW; i++)
        squares += pow((double)pixels[i] - sum / (FAST * SLOW), 2);
    const double scale = 250 / (5 * sqrt(squares / (FAST * SLOW - 1)));
    const char *path = folder_path("golden.pgm");
    expect_ok(test_context(), db_write_pgm(test_context(), path, pixels, FAST, SLOW, scale));
    size_t size, reference_size;
    char *bytes = load_file(path, &size);
    char *reference = load_file(golden_path("reference/io_basic.pgm.pgm"), &reference_size);
    assert_int_equal(size, reference_size);
    assert_memory_equal(bytes, reference, size);
    free(bytes);
    free(reference);
}

static void impossible_pictures_are_refused(void **state) {
    (void)state;
    const float pixel = 1;
    const int before = folder_count();
    static const double scales[] = { 0, -1, NAN, INFINITY };
    for (int i = 0; i < 4; i++)
        expect_failure(test_context(), DB_ERROR_USAGE,
                       db_write_pgm(test_context(), folder_path("c.pgm"), &pixel, 1, 1, scales[i]),
                       "c.pgm", "scale");
    expect_failure(test_context(), DB_ERROR_USAGE,
                   db_write_pgm(test_context(), folder_path("c.pgm"), &pixel, 0, 1, 1), "0 x 1");
    assert_int_equal(folder_count(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_cut_off),
        cmocka_unit_test(pixels_without_data_are_black),
        cmocka_unit_test(the_reference_picture_is_reproduced),
        cmocka_unit_test(impossible_pictures_are_refused),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
