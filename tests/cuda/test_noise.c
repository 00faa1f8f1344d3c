/* Noise on a device has the processor's bits, wherever images and results are. */
#define SMALL_CRYSTAL_PARAMETERS DB_SCALE
#include "support/small_crystal.h"
#include "two_contexts.h"

#include <dualbragg/noise.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(DB_HAVE_RANDOM123)
enum { FAST = 90, SLOW = 11, PIXELS = FAST * SLOW };

static int start(void **state) {
    (void)state;
    machine_reset();
    open_both(FAST, SLOW, 3);
    return 0;
}

static db_plan *plan_of(db_context *context) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
    return plan;
}

static void expect_same_noise(const db_noise_options *options, const db_noise_frame *frame,
                              const float *expected_there) {
    enum { MOST = 64 * 300 };
    static float signal[2][MOST];
    static int32_t number[2][MOST];
    const size_t pixels = (size_t)frame->fast_pixels * (size_t)frame->slow_pixels;
    db_noise_summary summary[2];
    for (int i = 0; i < 2; i++) {
        db_noise_frame own = *frame;
        own.signal = signal[i];
        own.number = number[i];
        if (i && expected_there) own.expected = expected_there;
        memset(signal[i], 0xff, sizeof signal[i]);
        assert_int_equal(db_noise_apply(i ? device : processor, options, &own, &summary[i]), DB_OK);
    }
    assert_memory_equal(signal[0], signal[1], pixels * sizeof(float));
    assert_memory_equal(number[0], number[1], pixels * sizeof(int32_t));
    assert_memory_equal(&summary[0].photons, &summary[1].photons, sizeof(double));
    assert_int_equal(summary[0].overloads, summary[1].overloads);
    assert_int_equal(summary[0].underflows, summary[1].underflows);
    assert_int_equal(summary[0].negative, summary[1].negative);
}

/* All parts of the chain, all regimes of the deviates, and regions; wherever the image is. */
static void noise_has_the_same_bits(void **state) {
    (void)state;
    enum { WIDE_ROW = 300, ROWS = 9, ALL = WIDE_ROW * ROWS };
    static float expected[ALL];
    db_noise_options options = DB_NOISE_OPTIONS_INIT;
    db_noise_frame frame = {
        .panel = 1, .fast_pixels = WIDE_ROW, .slow_pixels = ROWS, .expected = expected
    };
    for (int i = 0; i < ALL; i++) expected[i] = (float)(i % 11 == 3 ? -i : exp(0.0175 * i - 3));
    expect_same_noise(&options, &frame, NULL);
    options.flicker = 0.1;
    options.calibration = 0.05;
    options.readout = 7;
    options.adc = 3;
    options.gain = 0.7;
    options.scale = 1.3;
    options.seed = 71;
    expect_same_noise(&options, &frame, NULL);
    COUNTED(assert_true(stand_in.launches >= 2);)
    frame.fast_start = 5;
    frame.fast_count = 171;
    frame.slow_start = 2;
    frame.slow_count = 4;
    options.bits = 32;
    options.truncate = 1;
    expect_same_noise(&options, &frame, NULL);
    options.noisy = 0;
    expect_same_noise(&options, &frame, NULL);
    /* the processor spreads light; the image may be in any memory */
    db_plan *plan = plan_of(device);
    void *there;
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof expected, &there), DB_OK);
    assert_int_equal(db_plan_memory_write(plan, there, expected, sizeof expected), DB_OK);
    options.noisy = 1;
    machine_reset();
    expect_same_noise(&options, &frame, there);
    COUNTED(assert_int_equal(stand_in.bytes_to_device, 0);)
    for (int i = 0; i < ALL; i++) expected[i] = fabsf(expected[i]);
    assert_int_equal(db_plan_memory_write(plan, there, expected, sizeof expected), DB_OK);
    options.psf = DB_PSF_FIBER;
    options.psf_fwhm = 1.5;
    expect_same_noise(&options, &frame, there);
    db_plan_memory_destroy(plan, &there);
    db_plan_destroy(&plan);
}

/* A plan's image in the device's memory becomes numbers there; nothing but the rows is copied. */
static void noise_may_stay_on_the_device(void **state) {
    (void)state;
    db_plan *plan = plan_of(device);
    static float image[PIXELS];
    static int32_t expected[PIXELS], found[PIXELS];
    void *there, *numbers;
    db_noise_options options = DB_NOISE_OPTIONS_INIT;
    db_noise_frame frame = {
        .fast_pixels = FAST, .slow_pixels = SLOW, .expected = image, .number = expected
    };
    options.readout = 2;
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &there), DB_OK);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof found, &numbers), DB_OK);
    assert_int_equal(db_plan_forward(plan, there), DB_OK);
    assert_int_equal(db_plan_memory_read(plan, there, image, sizeof image), DB_OK);
    assert_int_equal(db_noise_apply(processor, &options, &frame, NULL), DB_OK);
    frame.expected = there;
    frame.number = numbers;
    machine_reset();
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_OK);
    COUNTED(assert_int_equal(stand_in.launches, 1);)
    COUNTED(assert_int_equal(stand_in.bytes_to_device, 0);)
    COUNTED(assert_int_equal(stand_in.copies_to_host, 1);) /* rows */
    assert_int_equal(db_plan_memory_read(plan, numbers, found, sizeof found), DB_OK);
    assert_memory_equal(found, expected, sizeof found);
    /* the processor's point spread function, with all of it there */
    static float signal[2][PIXELS];
    void *signals;
    const db_noise_frame rest = frame;
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &signals), DB_OK);
    options.psf = DB_PSF_FIBER;
    options.psf_fwhm = 1.5;
    frame.expected = image;
    frame.signal = signal[0];
    frame.number = expected;
    assert_int_equal(db_noise_apply(processor, &options, &frame, NULL), DB_OK);
    frame.expected = there;
    frame.signal = signals;
    frame.number = numbers;
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_OK);
    assert_int_equal(db_plan_memory_read(plan, numbers, found, sizeof found), DB_OK);
    assert_int_equal(db_plan_memory_read(plan, signals, signal[1], sizeof image), DB_OK);
    assert_memory_equal(found, expected, sizeof found);
    assert_memory_equal(signal[1], signal[0], sizeof image);
    db_plan_memory_destroy(plan, &signals);
    options.psf = DB_PSF_NONE;
    frame = rest;
    /* what is wrong with a pixel is found there, too */
    image[3 * FAST + 7] = NAN;
    image[3 * FAST + 200] = INFINITY;
    assert_int_equal(db_plan_memory_write(plan, there, image, sizeof image), DB_OK);
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "pixel (fast 7, slow 3)"));
    image[3 * FAST] = NAN;
    assert_int_equal(db_plan_memory_write(plan, there, image, sizeof image), DB_OK);
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "pixel (fast 0, slow 3)"));
    image[3 * FAST] = 0;
    image[3 * FAST + 7] = image[3 * FAST + 200] = 3e38F;
    options.scale = 1e270;
    assert_int_equal(db_plan_memory_write(plan, there, image, sizeof image), DB_OK);
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "too large"));
    db_plan_memory_destroy(plan, &there);
    db_plan_memory_destroy(plan, &numbers);
    db_plan_destroy(&plan);
}

#if !defined(DB_ON_GPU)
/* With "auto" the processor makes what the device fails at; without, the failure is told. */
static void noise_of_a_device_that_fails(void **state) {
    (void)state;
    static float expected[PIXELS];
    static int32_t number[2][PIXELS];
    db_noise_options options = DB_NOISE_OPTIONS_INIT;
    db_noise_frame frame = { .fast_pixels = FAST, .slow_pixels = SLOW, .expected = expected };
    for (int i = 0; i < PIXELS; i++) expected[i] = (float)(i % 90);
    frame.number = number[0];
    assert_int_equal(db_noise_apply(processor, &options, &frame, NULL), DB_OK);
    frame.number = number[1];
    for (long calls = 0;; calls++) {
        machine_reset();
        stand_in.calls_until_failure = calls;
        const db_status status = db_noise_apply(device, &options, &frame, NULL);
        if (stand_in.calls_until_failure >= 0) break;
        assert_true(status == DB_ERROR_DEVICE || status == DB_ERROR_MEMORY || status == DB_OK);
        assert_string_equal(db_context_device(device), "cuda:0");
        assert_string_equal(db_context_device_note(device), "");
    }
    machine_reset();
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    stand_in.calls_until_failure = 2;
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_OK);
    assert_memory_equal(number[0], number[1], sizeof number[0]);
    assert_true(*db_context_device_note(device) != 0);
}

static void noise_in_memory_of_another_device_is_refused(void **state) {
    (void)state;
    static int32_t number[PIXELS];
    const db_noise_options options = DB_NOISE_OPTIONS_INIT;
    void *there;
    assert_int_equal(db_context_set_device(device, "cuda:1"), DB_OK);
    db_plan *plan = plan_of(device);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, PIXELS * sizeof(float), &there),
                     DB_OK);
    assert_int_equal(db_plan_forward(plan, there), DB_OK);
    const db_noise_frame frame = {
        .fast_pixels = FAST, .slow_pixels = SLOW, .expected = there, .number = number
    };
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_OK);
    assert_int_equal(db_context_set_device(device, "cuda:0"), DB_OK);
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "cuda:0: the expected image: expected"));
    db_plan_memory_destroy(plan, &there);
    db_plan_destroy(&plan);
}

/* With "auto" the processor does not take over an image that it cannot read. */
static void noise_in_memory_of_a_lost_device(void **state) {
    (void)state;
    static float pixels[PIXELS];
    static int32_t number[PIXELS];
    db_noise_options options = DB_NOISE_OPTIONS_INIT;
    db_plan *plan = plan_of(device);
    void *there;
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof pixels, &there), DB_OK);
    assert_int_equal(db_plan_memory_write(plan, there, pixels, sizeof pixels), DB_OK);
    /* the image, the signal or the numbers */
    const db_noise_frame frames[] = {
        { .fast_pixels = FAST, .slow_pixels = SLOW, .expected = there, .number = number },
        { .fast_pixels = FAST, .slow_pixels = SLOW, .expected = pixels, .signal = there },
        { .fast_pixels = FAST, .slow_pixels = SLOW, .expected = pixels, .number = there },
    };
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    for (long calls = 0, place = 0; place < 3; calls++) {
        const db_noise_frame frame = frames[place];
        stand_in.failure = cudaErrorIllegalAddress;
        stand_in.calls_until_failure = calls;
        const db_status status = db_noise_apply(device, &options, &frame, NULL);
        const int failed = stand_in.calls_until_failure < 0;
        if (failed) {
            assert_int_equal(status, DB_ERROR_DEVICE);
            assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_ERROR_DEVICE);
        }
        assert_string_equal(db_context_device(device), "cuda:0");
        machine_reset();
        if (failed) continue;
        calls = -1;
        place++;
    }
    db_plan_memory_destroy(plan, &there);
    db_plan_destroy(&plan);
}
#endif

/* Threads that make training sets would wait for each other. */
static void noise_of_more_images_allocates_nothing(void **state) {
    (void)state;
    static float pixels[PIXELS];
    static int32_t number[PIXELS];
    db_noise_options options = DB_NOISE_OPTIONS_INIT;
    const db_noise_frame frame = {
        .fast_pixels = FAST, .slow_pixels = SLOW, .expected = pixels, .number = number
    };
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_OK);
    machine_reset();
    assert_int_equal(db_noise_apply(device, &options, &frame, NULL), DB_OK);
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(noise_has_the_same_bits),
        TEST(noise_may_stay_on_the_device),
        TEST(noise_of_more_images_allocates_nothing),
#if !defined(DB_ON_GPU)
        TEST(noise_of_a_device_that_fails),
        TEST(noise_in_memory_of_another_device_is_refused),
        TEST(noise_in_memory_of_a_lost_device),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    printf("skipped: this build has no photon noise (Random123)\n");
    return SKIPPED;
}
#endif
