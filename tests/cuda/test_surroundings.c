/* Background and strong pixels found on a device have the processor's bits, and are what their definition says. */
#include "support/unit_test.h"
#include "machine.h"
#include "support/draws.h"
#include "support/naive_surroundings.h"
#include "takes_all.h"

static db_context *processor, *device;

static int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    assert_int_equal(db_context_create(&processor), DB_OK);
    assert_int_equal(db_context_create(&device), DB_OK);
    assert_int_equal(db_context_set_device(device, "cuda"), DB_OK);
    return 0;
}

static int finish(void **state) {
    (void)state;
    db_context_destroy(&processor);
    db_context_destroy(&device);
    COUNTED(assert_int_equal(stand_in.live, 0);)
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

static found find(db_context *context, const db_measured_image *image,
                  const db_surroundings_options *options) {
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

/* By the device as by the processor; returns how many pixels are strong. */
static size_t compare(const db_measured_image *image, const db_surroundings_options *options) {
    OWN(drop) found expected = find(processor, image, options);
    COUNTED(const long before = stand_in.launches;)
    OWN(drop) found own = find(device, image, options);
    COUNTED(assert_int_equal(stand_in.launches - before, 5);)
    expect_same(image, &expected, &own);
    size_t strong = 0;
    for (int i = 0; i < image->fast_pixels * image->slow_pixels; i++) strong += own.strong[i];
    return strong;
}

static void compare_with_definition(const db_measured_image *image,
                                    const db_surroundings_options *options) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    OWN(drop) found expected = { malloc(pixels * sizeof(float)), malloc(pixels) };
    OWN(drop) found own = find(device, image, options);
    naive_surroundings(image, options, expected.background, expected.strong);
    expect_same(image, &expected, &own);
}

static const db_surroundings_options usual = { 8, 1, 0, 5 };

/* Narrow and wide images, of few rows and many, and surroundings of all sizes: all ways to add up a row. */
static void backgrounds_and_marks_have_the_same_bits(void **state) {
    (void)state;
    static const int size[][2] = { { 1, 1 },    { 1, 70 },   { 5, 3 },    { 240, 33 }, { 241, 65 },
                                   { 97, 150 }, { 513, 64 }, { 300, 31 }, { 2, 200 } };
    static const int halves[] = { 0, 1, 2, 5, 8, 10, 16, 21, 31, 42, 63, 64, 65, 85, 127, 200 };
    size_t strong = 0;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        OWN(db_measured_image_clear) db_measured_image image = make(size[i][0], size[i][1], 12);
        for (size_t k = i % 3; k < sizeof halves / sizeof halves[0]; k += 3) {
            const db_surroundings_options options = { halves[k], 1.3, 0.7, 4.5 };
            strong += compare(&image, &options);
        }
        strong += compare(&image, &usual);
    }
    assert_true(strong > 1000);
}

static void they_are_what_the_definition_says(void **state) {
    (void)state;
    static const int halves[] = { 1, 8, 33, 70 };
    OWN(db_measured_image_clear) db_measured_image image = make(270, 70, 20);
    for (size_t k = 0; k < sizeof halves / sizeof halves[0]; k++)
        compare_with_definition(&image, &(db_surroundings_options){ halves[k], 1.1, 0.4, 5 });
    /* a corner with two pixels: far from the fainter one all are left out */
    for (int i = 0; i < 40 * 40; i++) image.mask[i / 40 * 270 + i % 40] = DB_MASK_BAD;
    image.mask[20 * 270 + 20] = image.mask[20 * 270 + 12] = DB_MASK_TRUSTED;
    image.value[20 * 270 + 20] = 5;
    image.value[20 * 270 + 12] = 500;
    compare_with_definition(&image, &usual);
    memset(image.mask, DB_MASK_GAP, 270 * 70);
    compare_with_definition(&image, &usual);
    memset(image.mask, DB_MASK_TRUSTED, 270 * 70);
    for (int i = 0; i < 270 * 70; i++) image.value[i] = (float)(i % 7 - 5);
    compare_with_definition(&image, &usual);
    for (int i = 0; i < 270 * 70; i++) image.value[i] = 0;
    image.value[100] = 1; /* of half a photon's variance at least */
    compare_with_definition(&image, &(db_surroundings_options){ 8, 1, 0, 1.4 });
    compare_with_definition(&image, &(db_surroundings_options){ 8, 1, 0, 1.42 });
}

/* Sums along rows are above 2^24, where floats round them. */
static void bright_images_have_the_same_bits(void **state) {
    (void)state;
    OWN(db_measured_image_clear) db_measured_image image = make(270, 70, 300000);
    static const int halves[] = { 1, 3, 8, 11 };
    for (size_t k = 0; k < sizeof halves / sizeof halves[0]; k++)
        compare(&image, &(db_surroundings_options){ halves[k], 1, 0, 5 });
    const float most = (float)(1 << 23) / 17;
    for (int i = 0; i < 270 * 70; i += 5) image.value[i] = i % 2 ? floorf(most) : -floorf(most);
    compare(&image, &usual);
}

static void panels_do_not_see_each_other(void **state) {
    (void)state;
    OWN(db_measured_image_clear) db_measured_image image = make(50, 200, 9);
    static const int end[] = { 1, 33, 64, 128, 129, 200 };
    enum { PANELS = sizeof end / sizeof end[0] };
    image.panels = calloc(PANELS, sizeof *image.panels);
    image.panel_count = PANELS;
    for (int p = 0, first = 0; p < PANELS; first = end[p++]) {
        image.panels[p].first_row = first;
        image.panels[p].slow_pixels = end[p] - first;
        for (int i = 50 * first; i < 50 * end[p]; i++) image.value[i] += (float)(100 * p);
    }
    compare(&image, &usual);
    compare(&image, &(db_surroundings_options){ 40, 1, 0, 5 });
}

/* It goes there and comes back in pieces; what is used again is not allocated again. */
static void large_images_go_in_pieces(void **state) {
    (void)state;
    enum { FAST = 1100, SLOW = 1920, PIXELS = FAST * SLOW }; /* more than two pieces */
    OWN(db_measured_image_clear) db_measured_image image = image_of(FAST, SLOW);
    for (int i = 0; i < PIXELS; i++) image.value[i] = (float)(i * 7 % 31 + (i % 1009 == 0) * 200);
    assert_true(compare(&image, &(db_surroundings_options){ 2, 1, 0, 5 }) > 0);
    COUNTED(machine_reset();)
    image.slow_pixels = 20;
    compare(&image, &usual);
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
    COUNTED(assert_int_equal(stand_in.copies_to_device, 2);) /* counts, and where rows are */
    COUNTED(assert_int_equal(stand_in.bytes_to_device, 4 * 20 * FAST + 16);)
    COUNTED(assert_int_equal(stand_in.bytes_to_host, 4 * 20 * FAST);)
    image.slow_pixels = SLOW;
}

/* The processor has them: nothing is started, whichever piece they are in. */
static void counts_that_are_no_whole_numbers_stay(void **state) {
    (void)state;
    enum { FAST = 1100, SLOW = 1000 };
    OWN(db_measured_image_clear) db_measured_image image = image_of(FAST, SLOW);
    static const float odd[] = { 2.5F, 3e6F, -3e6F, INFINITY, NAN };
    static const int place[] = { 3, 1099999 };
    for (int i = 0; i < FAST * SLOW; i++) image.value[i] = (float)(i % 5);
    for (size_t k = 0; k < 2 * (sizeof odd / sizeof odd[0]); k++) {
        const int at = place[k % 2];
        image.value[at] = odd[k / 2];
        image.mask[at] = DB_MASK_TRUSTED;
        OWN(drop)
        found expected = find(processor, &image, &usual), own = find(device, &image, &usual);
        expect_same(&image, &expected, &own);
        COUNTED(assert_int_equal(stand_in.launches, 0);)
        image.value[at] = 1;
    }
    image.mask[3] = DB_MASK_OVERLOAD; /* masked pixels may have any counts */
    image.value[3] = 2.5F;
    image.slow_pixels = 2;
    compare(&image, &usual);
    image.slow_pixels = SLOW;
}

#if !defined(DB_ON_GPU)
/* Whichever call of the runtime fails: a status, or with "auto" what the processor finds. */
static void calls_may_fail(void **state) {
    (void)state;
    OWN(db_measured_image_clear) db_measured_image image = make(90, 40, 9);
    OWN(drop) found expected = find(processor, &image, &usual);
    int told = 0, borne = 0; /* without consequence, as where memory is given back */
    for (int automatic = 0; automatic < 2; automatic++) {
        for (long calls = 0;; calls++) {
            static float background[90 * 40];
            static uint8_t strong[90 * 40];
            db_context_destroy(&device);
            machine_reset();
            assert_int_equal(db_context_create(&device), DB_OK);
            assert_int_equal(db_context_set_device(device, automatic ? "auto" : "cuda"), DB_OK);
            memset(background, 0xff, sizeof background);
            memset(strong, 0xff, sizeof strong);
            stand_in.calls_until_failure = calls;
            const db_status status =
                db_surroundings_find(device, &image, &usual, background, strong);
            const int failed = stand_in.calls_until_failure < 0;
            stand_in.calls_until_failure = -1;
            if (!failed) break;
            told += status != DB_OK || *db_context_device_note(device) != 0;
            borne += status == DB_OK && *db_context_device_note(device) == 0;
            if (status == DB_OK) {
                expect_same(&image, &expected, &(found){ background, strong });
            } else {
                assert_false(automatic);
                assert_true(status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE);
                assert_non_null(strstr(db_context_message(device), "cuda:0"));
            }
            OWN(drop) found again = find(device, &image, &usual);
            expect_same(&image, &expected, &again);
        }
    }
    print_message("%d failures told, %d borne\n", told, borne);
    assert_true(told > 20 && borne <= 4);
}

/* Small images are sooner done than sent. */
static void auto_asks_what_takes_longer(void **state) {
    (void)state;
    const db_cuda_pace free_of_charge = db_cuda_predicted;
    OWN(db_measured_image_clear) db_measured_image image = make(90, 40, 9);
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    compare(&image, &usual);
    machine_reset();
    /* a byte takes longer than a pixel on the processor */
    db_cuda_predicted.byte = 1e-7;
    OWN(drop) found own = find(device, &image, &usual);
    assert_int_equal(stand_in.launches, 0);
    assert_int_equal(db_context_set_device(device, "cuda"), DB_OK);
    compare(&image, &usual);
    db_cuda_predicted = free_of_charge;
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(backgrounds_and_marks_have_the_same_bits),
        TEST(they_are_what_the_definition_says),
        TEST(bright_images_have_the_same_bits),
        TEST(panels_do_not_see_each_other),
        TEST(large_images_go_in_pieces),
        TEST(counts_that_are_no_whole_numbers_stay),
#if !defined(DB_ON_GPU)
        TEST(calls_may_fail),
        TEST(auto_asks_what_takes_longer),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
