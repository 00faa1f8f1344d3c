/* Background and strong pixels are what their definition says, bit for bit, with all instruction sets. */
#include "support/unit_test.h"
#include "support/instruction_sets.h"
#include "support/draws.h"
#include "support/naive_surroundings.h"
#include "surroundings/pixel.h"

static db_context *context;

static int start(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK && db_context_set_threads(context, 1) == DB_OK ? 0
                                                                                               : -1;
}

static int finish(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

static db_measured_image image_of(int fast, int slow) {
    const size_t pixels = (size_t)fast * (size_t)slow;
    return (db_measured_image){ .fast_pixels = fast,
                                .slow_pixels = slow,
                                .value = malloc(pixels * sizeof(float)),
                                .mask = calloc(pixels, 1) };
}

/* Noise of some counts with spots, and masked columns, rows and pixels, whose counts are no numbers. */
static db_measured_image make(int fast, int slow, double counts) {
    db_measured_image image = image_of(fast, slow);
    for (int i = 0; i < fast * slow; i++) {
        const int column = i % fast, row = i / fast;
        image.value[i] = (float)floor(counts + sqrt(counts) * uniform(-1, 1));
        if (column % 23 < 3 && row % 19 < 3) image.value[i] += 400;
        if (column % 61 == 5 || row % 67 == 60 || once_in(100)) {
            image.mask[i] = DB_MASK_GAP;
            image.value[i] = i % 3 ? NAN : -1e30F;
        }
    }
    return image;
}

typedef struct found {
    float *background;
    uint8_t *strong;
} found;

static found find(const db_measured_image *image, const db_surroundings_options *options) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const found f = { malloc(pixels * sizeof(float)), malloc(pixels) };
    memset(f.background, 0xff, pixels * sizeof(float));
    memset(f.strong, 0xff, pixels);
    assert_int_equal(db_surroundings_find(context, image, options, f.background, f.strong), DB_OK);
    return f;
}

static void drop(found *f) {
    free(f->background);
    free(f->strong);
}

static void expect_same(const db_measured_image *image, const found *a, const found *b) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    for (size_t i = 0; i < pixels; i++)
        if (memcmp(a->background + i, b->background + i, sizeof(float)) != 0 ||
            a->strong[i] != b->strong[i])
            fail_msg("pixel %zu of %d x %d: %.9g (%d), expected %.9g (%d)", i, image->fast_pixels,
                     image->slow_pixels, (double)b->background[i], b->strong[i],
                     (double)a->background[i], a->strong[i]);
}

/* Returns how many pixels are strong. */
static size_t compare_with_definition(const db_measured_image *image,
                                      const db_surroundings_options *options) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    OWN(drop) found expected = { malloc(pixels * sizeof(float)), malloc(pixels) };
    size_t strong = 0;
    naive_surroundings(image, options, expected.background, expected.strong);
    for (size_t tried = 0; use_next_instruction_set(context, &tried);) {
        OWN(drop) found own = find(image, options);
        expect_same(image, &expected, &own);
    }
    for (size_t i = 0; i < pixels; i++) strong += expected.strong[i];
    return strong;
}

static const db_surroundings_options usual = { 8, 1, 0, 5 };

/* Narrow and wide images, of few rows and many, and surroundings of all sizes: all ways to add up a row. */
static void images_of_all_sizes(void **state) {
    (void)state;
    static const int size[][2] = { { 1, 1 },   { 1, 70 },  { 5, 3 },   { 60, 33 },
                                   { 41, 65 }, { 37, 90 }, { 110, 31 } };
    static const int halves[] = { 0, 1, 2, 5, 10, 16, 31, 40 };
    size_t strong = 0;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        OWN(db_measured_image_clear) db_measured_image image = make(size[i][0], size[i][1], 12);
        for (size_t k = i % 4; k < sizeof halves / sizeof halves[0]; k += 4) {
            const db_surroundings_options options = { halves[k], 1.3, 0.7, 4.5 };
            strong += compare_with_definition(&image, &options);
        }
    }
    assert_true(strong > 100);
}

static void they_are_what_the_definition_says(void **state) {
    (void)state;
    static const int halves[] = { 1, 8, 20 };
    OWN(db_measured_image_clear) db_measured_image image = make(90, 70, 20);
    for (size_t k = 0; k < sizeof halves / sizeof halves[0]; k++)
        compare_with_definition(&image, &(db_surroundings_options){ halves[k], 1.1, 0.4, 5 });
    /* a corner with two pixels: far from the fainter one all are left out */
    for (int i = 0; i < 40 * 40; i++) image.mask[i / 40 * 90 + i % 40] = DB_MASK_BAD;
    image.mask[20 * 90 + 20] = image.mask[20 * 90 + 12] = DB_MASK_TRUSTED;
    image.value[20 * 90 + 20] = 5;
    image.value[20 * 90 + 12] = 500;
    compare_with_definition(&image, &usual);
    memset(image.mask, DB_MASK_GAP, 90 * 70);
    compare_with_definition(&image, &usual);
    memset(image.mask, DB_MASK_TRUSTED, 90 * 70);
    for (int i = 0; i < 90 * 70; i++) image.value[i] = (float)(i % 7 - 5);
    compare_with_definition(&image, &usual);
    for (int i = 0; i < 90 * 70; i++) image.value[i] = 0;
    image.value[100] = 1; /* of half a photon's variance at least */
    compare_with_definition(&image, &(db_surroundings_options){ 8, 1, 0, 1.4 });
    compare_with_definition(&image, &(db_surroundings_options){ 8, 1, 0, 1.42 });
}

/* Nor is its variance below 0, which every excess would exceed. */
static void a_mean_below_0_has_no_photons(void **state) {
    (void)state;
    for (int excess = 0; excess < 12; excess++)
        for (int noise = 0; noise < 3; noise++)
            assert_int_equal(db_surroundings_lit((float)excess, -5, 1, (float)noise),
                             db_surroundings_lit((float)excess, 0, 1, (float)noise));
    assert_false(db_surroundings_lit(0, -5, 1, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void) {
    const struct CMUnitTest tests[] = { TEST(images_of_all_sizes),
                                        TEST(they_are_what_the_definition_says),
                                        TEST(a_mean_below_0_has_no_photons) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
