/* Plans whose GPU fails, once or for good, or is not the one whose memory an image is: what "auto" leaves to the
 * processor, and what nobody may touch. */
#include "two_plans.h"
#include "support/by_parameters.h"
#include "takes_all.h"

#include <dualbragg/batch.h>
#include <dualbragg/noise.h>
#include <dualbragg/normal.h>
#include <dualbragg/products.h>

/* Sums and copies of images name what is in the memory of another device. */
static void images_of_another_device_are_refused(void **state) {
    (void)state;
    static float pixels[PIXELS], image[PIXELS], tangent[PIXELS];
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    both b = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
    assert_int_equal(db_context_set_device(device, "cuda:1"), DB_OK);
    both other = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
    picture there = picture_of(&other, 1, pixels), here = picture_of(&b, 1, pixels);
    v.background = there.memory;
    assert_int_equal(db_plan_jvp(b.device, &v, image, here.memory), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "cuda:0: the background: expected memory"));
    assert_int_equal(db_plan_vjp(b.device, pixels, NULL, &v), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "cuda:0: the image: expected memory"));
    /* the processor brings it from wherever it is */
    assert_int_equal(db_plan_jvp(b.device, &v, image, tangent), DB_OK);
    assert_int_equal(db_plan_set_background(b.device, there.memory), DB_OK);
    take(&b, &here, pixels);
    take(&other, &there, pixels);
    destroy(&other);
    destroy(&b);
}

static both plans_on(const char *name, cudaError_t failure) {
    machine_takes_all();
    assert_int_equal(db_context_set_device(device, name), DB_OK);
    const both b = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
    assert_string_equal(db_plan_device(b.device), "cuda:0");
    stand_in.failure = failure;
    return b;
}

/* Nothing fails any more: what the plans have is given back. */
static void recover(both *b, picture *p, float *pixels) {
    machine_reset();
    take(b, p, pixels);
    destroy(b);
}

static void expect_device_error(db_plan *plan, db_status status) {
    assert_int_equal(status, DB_ERROR_DEVICE);
    assert_string_equal(db_plan_device(plan), "cuda:0");
}

/* From the failure on the device says no more which memory is its own, and the kernel says what the host can
 * read: with "auto" the processor takes over what is all the host's. */
static int expect_lost(const char *name, long calls) {
    float pixels[PIXELS] = { 0 };
    double gradient[SOME];
    db_plan_vector sums = DB_PLAN_VECTOR_INIT;
    both b = plans_on(name, cudaErrorIllegalAddress);
    picture p = picture_of(&b, 1, pixels);
    stand_in.calls_until_failure = calls;
    const db_status status = db_plan_forward(b.device, p.memory);
    const int failed = stand_in.calls_until_failure < 0;
    sums.background = pixels;
    if (failed) {
        expect_device_error(b.device, status);
        expect_device_error(b.device, db_plan_forward(b.device, p.memory));
        expect_device_error(b.device, vjp_by_parameters(b.device, p.memory, NULL, gradient));
        expect_device_error(b.device, vjp_by_parameters(b.device, pixels, p.memory, gradient));
        expect_device_error(b.device, db_plan_vjp(b.device, p.memory, NULL, &sums));
        expect_device_error(b.device, db_plan_set_background(b.device, p.memory));
        const int moves = strcmp(name, "auto") == 0;
        assert_int_equal(db_plan_forward(b.device, pixels), moves ? DB_OK : DB_ERROR_DEVICE);
        assert_string_equal(db_plan_device(b.device), moves ? "cpu" : "cuda:0");
    }
    recover(&b, &p, pixels);
    return failed;
}

static void memory_of_a_lost_device_is_left_alone(void **state) {
    (void)state;
    static const char *const names[] = { "cuda", "auto" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        long calls = 0;
        while (expect_lost(names[i], calls)) calls++;
        assert_true(calls > 3);
    }
}

/* What calls of all kinds say, all of it in the host's memory. */
typedef struct {
    float image[2][PIXELS], derivative[SOME][PIXELS], moved[PIXELS], tangent[PIXELS],
        shot[2][PIXELS];
    double chi2, gradient[SOME], curvature[SOME * SOME], parameters[SOME], amplitudes[ENTRIES];
    double shot_chi2[2], shot_gradient[2 * SOME], shot_curvature[2 * SOME * SOME];
    int32_t number[PIXELS];
} answers;

static db_status call_products(db_plan *plan, const float *data, answers *a) {
    static float background[PIXELS];
    double direction[SOME] = { 0.1, -0.02, 0.3, 1, 0.001 };
    db_plan_vector all = DB_PLAN_VECTOR_INIT, along = DB_PLAN_VECTOR_INIT;
    void *derivatives[SOME];
    for (int k = 0; k < SOME; k++) derivatives[k] = a->derivative[k];
    for (int i = 0; i < PIXELS; i++) background[i] = (float)(i % 5);
    all.parameters = a->parameters;
    all.amplitudes = a->amplitudes;
    along.parameters = direction;
    DB_TRY(db_plan_set_background(plan, background));
    DB_TRY(db_plan_forward(plan, a->image[0]));
    DB_TRY(db_plan_gradient(plan, a->image[1], derivatives));
    DB_TRY(db_plan_jvp(plan, &along, a->moved, a->tangent));
    DB_TRY(db_plan_vjp(plan, data, NULL, &all));
    return db_plan_normal(plan, DB_FLOAT32, data, NULL, &a->chi2, a->gradient, a->curvature);
}

static db_status call_batch(db_context *context, const float *data, answers *a) {
    const db_experiment *const shots[] = { &experiment, &experiment };
    const void *const both_data[] = { data, data };
    void *const images[] = { a->shot[0], a->shot[1] };
    const db_plan_options options = options_of(DB_FLOAT32, DB_PRECISION_DOUBLE);
    db_plan_batch *batch;
    DB_TRY(db_plan_batch_create(context, &experiment, &options, &batch));
    db_status status = db_plan_batch_forward(batch, shots, 2, images);
    if (status == DB_OK)
        status = db_plan_batch_normal(batch, shots, 2, DB_FLOAT32, both_data, NULL, a->shot_chi2,
                                      a->shot_gradient, a->shot_curvature);
    db_plan_batch_destroy(&batch);
    return status;
}

static db_status call_noise(db_context *context, const float *expected, answers *a) {
#if defined(DB_HAVE_RANDOM123)
    const db_noise_options options = DB_NOISE_OPTIONS_INIT;
    const db_noise_frame frame = {
        .fast_pixels = FAST, .slow_pixels = SLOW, .expected = expected, .number = a->number
    };
    return db_noise_apply(context, &options, &frame, NULL);
#else
    (void)context;
    (void)expected;
    (void)a;
    return DB_OK;
#endif
}

static db_status call_all(db_context *context, const float *data, answers *a) {
    const db_plan_options options = options_of(DB_FLOAT32, DB_PRECISION_DOUBLE);
    db_plan *plan;
    DB_TRY(db_plan_create(context, &experiment, &options, &plan));
    db_status status = call_products(plan, data, a);
    db_plan_destroy(&plan);
    if (status == DB_OK) status = call_noise(context, data, a);
    return status == DB_OK ? call_batch(context, data, a) : status;
}

static void expect_images(const float *found, const float *expected, size_t count) {
    double f[PIXELS], e[PIXELS];
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < PIXELS; i++)
            f[i] = (double)found[k * PIXELS + i], e[i] = (double)expected[k * PIXELS + i];
        expect_sums(f, e, PIXELS, 2e-6);
    }
}

static void expect_answers(const answers *found, const answers *expected) {
    const double bound = 1e-6;
    expect_images(found->image[0], expected->image[0], 2);
    expect_images(found->derivative[0], expected->derivative[0], SOME);
    expect_images(found->moved, expected->moved, 1);
    expect_images(found->tangent, expected->tangent, 1);
    expect_images(found->shot[0], expected->shot[0], 2);
    expect_sums(&found->chi2, &expected->chi2, 1, bound);
    expect_sums(found->gradient, expected->gradient, SOME, bound);
    expect_sums(found->curvature, expected->curvature, SOME * SOME, bound);
    expect_sums(found->parameters, expected->parameters, SOME, bound);
    expect_sums(found->amplitudes, expected->amplitudes, ENTRIES, bound);
    expect_sums(found->shot_chi2, expected->shot_chi2, 2, bound);
    expect_sums(found->shot_gradient, expected->shot_gradient, 2 * SOME, bound);
    expect_sums(found->shot_curvature, expected->shot_curvature, 2 * SOME * SOME, bound);
    assert_memory_equal(found->number, expected->number, sizeof found->number);
}

/* Whichever call of the runtime fails, once or for good: with "auto" all that is the host's has the processor's
 * results. Every `step`th call, in turn. */
static void fail_calls_with_auto(long step) {
    static float data[PIXELS];
    static answers expected, found;
    machine_takes_all();
    for (int i = 0; i < PIXELS; i++) data[i] = (float)(i % 11);
    assert_int_equal(call_all(processor, data, &expected), DB_OK);
    for (int final = 0; final < 2; final++) {
        long n = final;
        for (int failed = 1; failed; n += step) {
            db_context_destroy(&device); /* with what plans have left */
            machine_reset();
            assert_int_equal(db_context_create(&device), DB_OK);
            assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
            stand_in.failure = final ? cudaErrorIllegalAddress : cudaSuccess;
            stand_in.calls_until_failure = n;
            found = (answers){ 0 };
            const db_status status = call_all(device, data, &found);
            failed = stand_in.calls_until_failure < 0;
            if (status != DB_OK) print_error("call %ld: %s\n", n, db_context_message(device));
            assert_int_equal(status, DB_OK);
            expect_answers(&found, &expected);
        }
        machine_reset();
        assert_true(n > 60);
    }
}

static void with_auto_calls_may_fail(void **state) {
    (void)state;
    fail_calls_with_auto(19);
}

static void with_auto_any_call_may_fail_slow(void **state) {
    (void)state;
    fail_calls_with_auto(1);
}

/* The cotangent is the host's, the image the device's: the processor cannot take over. 0: no call failed */
static int expect_no_move(long calls, long *errors) {
    float pixels[PIXELS] = { 0 };
    double gradient[SOME];
    both b = plans_on("auto", cudaSuccess);
    picture p = picture_of(&b, 1, pixels);
    stand_in.calls_until_failure = calls;
    const db_status status = vjp_by_parameters(b.device, pixels, p.memory, gradient);
    const int failed = stand_in.calls_until_failure < 0;
    /* memory that there is none of may be found among what other plans have left */
    assert_true(status == DB_OK || status == DB_ERROR_DEVICE || status == DB_ERROR_MEMORY);
    *errors += status != DB_OK;
    assert_string_equal(db_plan_device(b.device), "cuda:0");
    recover(&b, &p, pixels);
    return failed;
}

/* A call with one piece of memory on the device, whichever: number `piece`. */
static db_status call_with(db_plan *plan, int piece, void *there) {
    static float pixels[PIXELS];
    static float other[SOME][PIXELS];
    double chi2, gradient[SOME] = { 1 }, curvature[SOME * SOME];
    void *derivatives[SOME];
    for (int k = 0; k < SOME; k++) derivatives[k] = k == piece ? there : other[k];
    switch (piece - SOME) {
    case 0: return db_plan_gradient(plan, there, derivatives);
    case 1: return db_plan_normal(plan, DB_FLOAT32, there, pixels, &chi2, gradient, curvature);
    case 2: return db_plan_normal(plan, DB_FLOAT32, pixels, there, &chi2, gradient, curvature);
    case 3: return jvp_by_parameters(plan, gradient, there, pixels);
    case 4: return jvp_by_parameters(plan, gradient, pixels, there);
    default: return db_plan_gradient(plan, pixels, derivatives);
    }
}

static void any_memory_on_the_device_keeps_the_plan_there(void **state) {
    (void)state;
    enum { CALLS = SOME + 5 };
    float pixels[PIXELS] = { 0 };
    for (int piece = 0; piece < CALLS; piece++) {
        both b = plans_on("auto", cudaSuccess);
        picture p = picture_of(&b, 1, pixels);
        assert_int_equal(call_with(b.device, piece, p.memory), DB_OK);
        /* the last call of the runtime waits for the results */
        const long before = stand_in.calls;
        assert_int_equal(call_with(b.device, piece, p.memory), DB_OK);
        stand_in.calls_until_failure = stand_in.calls - before - 1;
        assert_int_equal(call_with(b.device, piece, p.memory), DB_ERROR_DEVICE);
        assert_string_equal(db_plan_device(b.device), "cuda:0");
        recover(&b, &p, pixels);
    }
}

static void an_image_on_the_device_keeps_its_product_there(void **state) {
    (void)state;
    long calls = 0, errors = 0;
    while (expect_no_move(calls, &errors)) calls++;
    assert_true(errors > 6);
}

/* A plan of "auto" whose device fails at its first image, in the host's memory. */
static both moved_plans(cudaError_t failure, picture *there) {
    float pixels[PIXELS] = { 0 };
    both b = plans_on("auto", failure);
    *there = picture_of(&b, 1, pixels);
    stand_in.calls_until_failure = 3;
    assert_int_equal(db_plan_forward(b.device, pixels), DB_OK);
    assert_string_equal(db_plan_device(b.device), "cpu");
    return b;
}

static void expect_refusal(db_status status) {
    if (status != DB_ERROR_DEVICE) print_error("status %d\n", (int)status);
    assert_int_equal(status, DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(device), "expected memory of the host"));
    assert_non_null(strstr(db_context_message(device), "cuda:0: "));
}

static void expect_batch_to_refuse(void *there) {
    float pixels[PIXELS];
    const db_experiment *const shots[] = { &experiment, &experiment };
    void *const images[] = { pixels, there };
    db_plan_batch *batch;
    assert_int_equal(db_context_set_threads(device, 2), DB_OK);
    assert_int_equal(db_plan_batch_create(device, &experiment, NULL, &batch), DB_OK);
    expect_refusal(db_plan_batch_forward(batch, shots, 2, images));
    db_plan_batch_destroy(&batch);
}

/* The processor has taken over, and images are still in the device's memory, which it cannot reach. */
static void expect_refusals(const both *b, void *there) {
    static float pixels[PIXELS], other[PIXELS];
    static double amplitudes[ENTRIES];
    void *derivatives[SOME];
    double chi2, sums[SOME] = { 0 }, curvature[SOME * SOME];
    db_plan *const plan = b->device;
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    for (int k = 0; k < SOME; k++) derivatives[k] = k == SOME - 1 ? there : other;
    expect_refusal(db_plan_forward(plan, there));
    expect_refusal(db_plan_gradient(plan, pixels, derivatives));
    expect_refusal(db_plan_normal(plan, DB_FLOAT32, there, NULL, &chi2, sums, curvature));
    expect_refusal(db_plan_normal(plan, DB_FLOAT32, pixels, there, &chi2, sums, curvature));
    expect_refusal(vjp_by_parameters(plan, there, NULL, sums));
    expect_refusal(vjp_by_parameters(plan, pixels, there, sums));
    expect_refusal(jvp_by_parameters(plan, sums, there, pixels));
    expect_refusal(jvp_by_parameters(plan, sums, pixels, there));
    expect_refusal(db_plan_set_background(plan, there));
    v.background = there;
    expect_refusal(db_plan_vjp(plan, pixels, NULL, &v));
    expect_refusal(db_plan_jvp(plan, &v, pixels, other));
    v.background = other;
    expect_refusal(db_plan_vjp(plan, there, NULL, &v));
    expect_refusal(db_plan_jvp(plan, &v, pixels, there));
    v.background = NULL;
    v.amplitudes = amplitudes;
    expect_refusal(db_plan_vjp(plan, there, NULL, &v));
    expect_refusal(db_plan_jvp(plan, &v, pixels, there));
    /* a forward image after derivatives that are gone */
    for (int k = 0; k < SOME; k++) derivatives[k] = malloc((size_t)1 << 20);
    assert_int_equal(db_plan_gradient(plan, pixels, derivatives), DB_OK);
    for (int k = 0; k < SOME; k++) free(derivatives[k]);
    assert_int_equal(db_plan_forward(plan, pixels), DB_OK);
}

/* What is created now is ordinary; what was created before goes to where it came from. */
static void expect_ordinary_memory(const both *b) {
    static float expected[PIXELS], found[PIXELS];
    void *memory[2];
    assert_int_equal(db_plan_forward(b->processor, expected), DB_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(db_plan_memory_create(b->device, i ? DB_MEMORY_DEVICE : DB_MEMORY_HOST,
                                               sizeof found, &memory[i]),
                         DB_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(db_plan_memory_write(b->device, memory[i], found, sizeof found), DB_OK);
        assert_int_equal(db_plan_forward(b->device, memory[i]), DB_OK);
        assert_int_equal(db_plan_memory_read(b->device, memory[i], found, sizeof found), DB_OK);
        assert_memory_equal(found, expected, sizeof found);
        db_plan_memory_destroy(b->device, &memory[i]);
    }
}

static void a_plan_that_has_moved_leaves_the_devices_memory_alone(void **state) {
    (void)state;
    float pixels[PIXELS];
    for (int final = 0; final < 2; final++) {
        picture p;
        both b = moved_plans(final ? cudaErrorIllegalAddress : cudaErrorLaunchOutOfResources, &p);
        expect_refusals(&b, p.memory);
        expect_batch_to_refuse(p.memory);
#if defined(DB_HAVE_RANDOM123)
        static answers noisy;
        expect_refusal(call_noise(device, p.memory, &noisy));
#endif
        expect_ordinary_memory(&b);
        both later = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
        assert_string_equal(db_plan_device(later.device), "cpu");
        expect_refusals(&later, p.memory);
        destroy(&later);
        assert_int_equal(db_plan_memory_read(b.device, p.memory, pixels, sizeof pixels),
                         final ? DB_ERROR_DEVICE : DB_OK);
        recover(&b, &p, pixels);
    }
}

/* An image of the host's memory moves the plan, and the tangent is in the device's. 0: no call failed */
static int expect_no_half_way(long calls, int parts, long *refusals) {
    float pixels[PIXELS] = { 0 };
    static double amplitudes[ENTRIES];
    double parameters[SOME] = { 0.1 };
    db_plan_vector direction = DB_PLAN_VECTOR_INIT;
    both b = plans_on("auto", cudaSuccess);
    picture p = picture_of(&b, 1, pixels);
    amplitudes[100] = 1;
    if (parts & 1) direction.parameters = parameters;
    if (parts & 2) direction.amplitudes = amplitudes;
    if (parts & 4) direction.background = pixels;
    stand_in.calls_until_failure = calls;
    const db_status status = db_plan_jvp(b.device, &direction, pixels, p.memory);
    const int failed = stand_in.calls_until_failure < 0;
    if (status == DB_OK) assert_string_equal(db_plan_device(b.device), "cuda:0");
    assert_true(status == DB_OK || status == DB_ERROR_DEVICE || status == DB_ERROR_MEMORY);
    *refusals += status != DB_OK && strcmp(db_plan_device(b.device), "cpu") == 0;
    recover(&b, &p, pixels);
    return failed;
}

static void a_tangent_on_the_device_is_not_for_the_processor(void **state) {
    (void)state;
    long refusals = 0;
    for (int parts = 1; parts < 8; parts++)
        for (long calls = 0; expect_no_half_way(calls, parts, &refusals);) calls++;
    assert_true(refusals > 6);
}

/* Named, the device says what it has not; "auto" leaves the plan to the processor. */
static void a_diffuse_halo_is_the_processors(void **state) {
    (void)state;
    static float pixels[PIXELS];
    db_plan *plan;
    const db_plan_options options = options_of(DB_FLOAT32, DB_PRECISION_MIXED);
    machine_takes_all();
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.1;
    experiment.crystal.diffuse_sigma[0] = 0.3;
    experiment.crystal.diffuse_gamma[0] = 40;
    assert_int_equal(db_context_set_device(device, "cuda"), DB_OK);
    assert_int_equal(db_plan_create(device, &experiment, &options, &plan), DB_ERROR_UNSUPPORTED);
    assert_string_equal(
        db_context_message(device),
        "device cuda:0: a diffuse halo beside spots in closed form is computed on the "
        "processor only");
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    assert_int_equal(db_plan_create(device, &experiment, &options, &plan), DB_OK);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_int_equal(db_plan_forward(plan, pixels), DB_OK);
    db_plan_destroy(&plan);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(images_of_another_device_are_refused),
        TEST(memory_of_a_lost_device_is_left_alone),
        TEST(with_auto_calls_may_fail),
        TEST(with_auto_any_call_may_fail_slow),
        TEST(any_memory_on_the_device_keeps_the_plan_there),
        TEST(an_image_on_the_device_keeps_its_product_there),
        TEST(a_plan_that_has_moved_leaves_the_devices_memory_alone),
        TEST(a_tangent_on_the_device_is_not_for_the_processor),
        TEST(a_diffuse_halo_is_the_processors),
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
