/* Pictures. */
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/picture_files.h>

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#if defined(DB_HAVE_PNG)
#include <png.h>

typedef struct picture {
    int width, height;
    uint8_t *rgb;
} picture;

static picture decode(const unsigned char *bytes, size_t size) {
    png_image image = { .version = PNG_IMAGE_VERSION };
    assert_true(png_image_begin_read_from_memory(&image, bytes, size));
    assert_int_equal(image.format, PNG_FORMAT_RGB); /* three channels of 8 bits */
    picture p = { .width = (int)image.width, .height = (int)image.height };
    p.rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(p.rgb);
    assert_true(png_image_finish_read(&image, NULL, p.rgb, 0, NULL));
    return p;
}

static picture draw(const float *pixels, int fast, int slow, db_colour_map map, double low,
                    double high) {
    unsigned char *bytes;
    size_t size;
    expect_ok(test_context(),
              db_encode_png(test_context(), pixels, fast, slow, map, low, high, &bytes, &size));
    const picture p = decode(bytes, size);
    assert_int_equal(p.width, fast);
    assert_int_equal(p.height, slow);
    free(bytes);
    return p;
}

static int brightness(const picture *p, int i) {
    return p->rgb[3 * i] + p->rgb[3 * i + 1] + p->rgb[3 * i + 2];
}

static void strong_is_dark_and_weak_stands_out_in_grey(void **state) {
    (void)state;
    const float pixels[6] = { 0, 1, 25, 100, 1000, -7 };
    picture p = draw(pixels, 3, 2, DB_COLOUR_GREY, 0, 100);
    for (int i = 0; i < 6; i++)
        assert_true(p.rgb[3 * i] == p.rgb[3 * i + 1] && p.rgb[3 * i] == p.rgb[3 * i + 2]);
    assert_int_equal(p.rgb[0], 255);
    assert_true(abs(p.rgb[3] - 230) <= 1);     /* sqrt(0.01) */
    assert_true(abs(p.rgb[3 * 2] - 127) <= 1); /* sqrt(0.25) */
    assert_int_equal(p.rgb[3 * 3], 0);
    assert_int_equal(p.rgb[3 * 4], 0);
    assert_int_equal(p.rgb[3 * 5], 255);
    free(p.rgb);
}

static void signs_have_their_colours_and_zero_is_white(void **state) {
    (void)state;
    const float pixels[5] = { -4, -1, 0, 1, 4 };
    picture p = draw(pixels, 5, 1, DB_COLOUR_SIGNED, -1, 4); /* symmetric all the same */
    assert_true(p.rgb[0] < p.rgb[2]);
    assert_true(p.rgb[3] < p.rgb[5]);
    assert_true(brightness(&p, 2) >= 3 * 253);
    assert_true(p.rgb[9] > p.rgb[11]);
    assert_true(p.rgb[12] > p.rgb[14]);
    assert_true(brightness(&p, 1) > brightness(&p, 0) && brightness(&p, 3) > brightness(&p, 4));
    free(p.rgb);
}

static void heat_goes_from_dark_to_bright(void **state) {
    (void)state;
    float pixels[64];
    for (int i = 0; i < 64; i++) pixels[i] = (float)i;
    picture p = draw(pixels, 8, 8, DB_COLOUR_HEAT, 0, 63);
    for (int i = 1; i < 64; i++) assert_true(brightness(&p, i) > brightness(&p, i - 1));
    free(p.rgb);
}

static void pixels_without_value_have_a_colour_of_their_own(void **state) {
    (void)state;
    float pixels[128];
    for (int i = 0; i < 128; i++) pixels[i] = (float)(i - 64);
    pixels[127] = NAN;
    for (int map = DB_COLOUR_GREY; map <= DB_COLOUR_HEAT; map++) {
        picture p = draw(pixels, 16, 8, (db_colour_map)map, -64, 64);
        for (int i = 0; i < 127; i++) assert_memory_not_equal(p.rgb + 3 * i, p.rgb + 3 * 127, 3);
        free(p.rgb);
    }
}

static void automatic_ends_ignore_a_few_wild_pixels(void **state) {
    (void)state;
    enum { N = 100 * 100 };
    static float pixels[N];
    for (int i = 0; i < N; i++) pixels[i] = (float)(i % 100);
    pixels[0] = 1e30f;
    pixels[1] = -1e30f;
    pixels[2] = INFINITY;
    pixels[3] = NAN;
    picture p = draw(pixels, 100, 100, DB_COLOUR_GREY, NAN, NAN);
    assert_int_equal(p.rgb[3 * 199], 0);       /* 99 */
    assert_int_equal(p.rgb[3 * 200], 255);     /* 0 */
    assert_true(abs(p.rgb[3 * 250] - 75) < 5); /* 50: the scale is not stretched by the wild ones */
    assert_int_equal(p.rgb[0], 0);
    assert_int_equal(p.rgb[3], 255);
    assert_int_equal(p.rgb[6], 0);
    free(p.rgb);
}

static void images_without_contrast_are_drawn(void **state) {
    (void)state;
    float constant[4] = { 5, 5, 5, 5 }, nothing[4] = { NAN, NAN, INFINITY, -INFINITY },
          huge[4] = { 3e38f, -3e38f, 3e38f, 0 };
    for (int map = DB_COLOUR_GREY; map <= DB_COLOUR_HEAT; map++) {
        float *images[] = { constant, nothing, huge };
        for (int i = 0; i < 3; i++) {
            picture p = draw(images[i], 2, 2, (db_colour_map)map, NAN, NAN);
            free(p.rgb);
            p = draw(images[i], 2, 2, (db_colour_map)map, NAN, 5);
            free(p.rgb);
            p = draw(images[i], 2, 2, (db_colour_map)map, 5, NAN);
            free(p.rgb);
        }
    }
}

static void a_picture_in_a_file_is_the_one_in_memory(void **state) {
    (void)state;
    float pixels[35];
    for (int i = 0; i < 35; i++) pixels[i] = (float)(i * i);
    unsigned char *bytes;
    size_t size, file_size;
    expect_ok(test_context(),
              db_encode_png(test_context(), pixels, 7, 5, DB_COLOUR_HEAT, NAN, NAN, &bytes, &size));
    const char *path = folder_path("p.png");
    expect_ok(test_context(),
              db_write_png(test_context(), path, pixels, 7, 5, DB_COLOUR_HEAT, NAN, NAN));
    char *file = load_file(path, &file_size);
    assert_int_equal(file_size, size);
    assert_memory_equal(file, bytes, size);
    free(file);
    free(bytes);
    expect_failure(
        test_context(), DB_ERROR_FILE,
        db_write_png(test_context(), folder_path("no/p.png"), pixels, 7, 5, DB_COLOUR_HEAT, 0, 1),
        "no/p.png");
}

static void large_frames_are_drawn_quickly(void **state) {
    (void)state;
    enum { FAST = 2463, SLOW = 2527 };
    float *pixels = malloc(sizeof(float) * FAST * SLOW);
    assert_non_null(pixels);
    srand(1);
    for (int i = 0; i < FAST * SLOW; i++) pixels[i] = (float)(rand() % 20);
    const clock_t start = clock();
    picture p = draw(pixels, FAST, SLOW, DB_COLOUR_GREY, NAN, NAN);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%d x %d pixels in %.2f s, decoding included\n", FAST, SLOW, seconds);
    assert_true(seconds < 20); /* instrumented builds included */
    free(p.rgb);
    free(pixels);
}
#else
static void without_libpng_pictures_are_refused(void **state) {
    (void)state;
    const float pixels[1] = { 0 };
    const char *path = folder_path("p.png");
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   db_write_png(test_context(), path, pixels, 1, 1, DB_COLOUR_GREY, 0, 1),
                   "libpng");
    assert_int_equal(folder_count(), 0);
}
#endif

static void impossible_scales_and_shapes_are_refused(void **state) {
    (void)state;
    db_context *context = test_context();
    const float pixels[1] = { 0 };
    unsigned char *bytes;
    size_t size;
    expect_failure(context, DB_ERROR_USAGE,
                   db_encode_png(context, pixels, 1, 1, DB_COLOUR_GREY, 1, 1, &bytes, &size),
                   "1 and 1");
    expect_failure(context, DB_ERROR_USAGE,
                   db_encode_png(context, pixels, 1, 1, DB_COLOUR_GREY, 0, INFINITY, &bytes, &size),
                   "inf");
    expect_failure(context, DB_ERROR_USAGE,
                   db_encode_png(context, pixels, 0, 1, DB_COLOUR_GREY, 0, 1, &bytes, &size),
                   "0 x 1");
    expect_failure(context, DB_ERROR_USAGE,
                   db_encode_png(context, pixels, 1, 1, (db_colour_map)9, 0, 1, &bytes, &size),
                   "colour map 9");
    assert_null(bytes);
}

static int ascending(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void quantiles_are_those_of_the_sorted_values(void **state) {
    (void)state;
    enum { N = 10001 };
    static float values[N], sorted[N];
    srand(2);
    for (int i = 0; i < N; i++)
        sorted[i] = values[i] = (float)((rand() - RAND_MAX / 2) * pow(10, rand() % 40 - 20));
    qsort(sorted, N, sizeof *sorted, ascending);
    static const double shares[] = { 0, 0.001, 0.1, 0.25, 0.5, 0.9, 0.999, 1 };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        float low, high;
        expect_ok(test_context(),
                  db_quantiles(test_context(), values, N, shares[i], shares[i], &low, &high));
        assert_true(low == sorted[(int)floor(shares[i] * (N - 1))]);
        assert_true(high == sorted[(int)ceil(shares[i] * (N - 1))]);
    }
    float low = 1, high = 1;
    const float nothing[2] = { NAN, INFINITY };
    expect_ok(test_context(), db_quantiles(test_context(), nothing, 2, 0, 1, &low, &high));
    assert_true(low == 0 && high == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if defined(DB_HAVE_PNG)
        cmocka_unit_test(strong_is_dark_and_weak_stands_out_in_grey),
        cmocka_unit_test(signs_have_their_colours_and_zero_is_white),
        cmocka_unit_test(heat_goes_from_dark_to_bright),
        cmocka_unit_test(pixels_without_value_have_a_colour_of_their_own),
        cmocka_unit_test(automatic_ends_ignore_a_few_wild_pixels),
        cmocka_unit_test(images_without_contrast_are_drawn),
        cmocka_unit_test(a_picture_in_a_file_is_the_one_in_memory),
        cmocka_unit_test(large_frames_are_drawn_quickly),
#else
        cmocka_unit_test(without_libpng_pictures_are_refused),
#endif
        cmocka_unit_test(impossible_scales_and_shapes_are_refused),
        cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
