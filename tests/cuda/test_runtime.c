/* What the CUDA backend makes of the runtime's devices and failures: on the stand-in, which can be told to fail. */
#include "wide_plans.h"

static void what_is_missing_is_said(void **state) {
    (void)state;
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    stand_in.driver = cudaErrorInsufficientDriver;
    assert_int_equal(db_context_set_device(context, "cuda"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "no NVIDIA driver"));
    stand_in.driver = cudaSuccess;
    stand_in.devices = 0;
    assert_int_equal(db_context_set_device(context, "cuda:0"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "no GPU"));
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    assert_string_equal(db_context_device(context), "cpu");
    assert_non_null(strstr(db_context_device_note(context), "no GPU"));
    stand_in.devices = 2;
    assert_int_equal(db_context_set_device(context, "cuda:2"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "below 2, the number of GPUs"));
    stand_in.major = 7;
    stand_in.minor = 0;
    assert_int_equal(db_context_set_device(context, "cuda"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "compute capability 7.5"));
    stand_in.minor = 5;
    assert_int_equal(db_context_set_device(context, "cuda:1"), DB_OK);
    assert_string_equal(db_context_device_model(context), "Stand-in 1");
    db_context_destroy(&context);
}

static void the_callers_device_stays_current(void **state) {
    (void)state;
    float image[PIXELS];
    stand_in_thread.current = 1;
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(stand_in_thread.current, 1);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    assert_int_equal(stand_in_thread.current, 1);
    assert_int_equal(stand_in_thread.pushed, 0);
}

/* A context takes half a gigabyte of a GPU, and processes beside each other have one each. */
static void only_the_plans_device_gets_a_context(void **state) {
    (void)state;
    float image[PIXELS];
    void *there;
    assert_int_equal(db_context_set_device(device, "cuda:1"), DB_OK);
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &there), DB_OK);
    assert_int_equal(db_plan_memory_write(plan, there, image, sizeof image), DB_OK);
    assert_int_equal(db_plan_forward(plan, there), DB_OK);
    db_plan_memory_destroy(plan, &there);
    db_plan_destroy(&plan);
    assert_int_equal(stand_in.contexts, 1U << 1);
    assert_int_equal(stand_in_thread.current, 0);
    assert_int_equal(stand_in_thread.pushed, 0);
}

/* After an illegal address every call fails until the process ends. */
static void a_final_failure_is_said(void **state) {
    (void)state;
    float image[PIXELS];
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    stand_in.failure = cudaErrorIllegalAddress;
    stand_in.calls_until_failure = 3;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(db_plan_forward(plan, image), DB_ERROR_DEVICE);
        assert_non_null(strstr(db_context_message(device), "illegal memory access"));
        assert_non_null(
            strstr(db_context_message(device), "this process cannot use the GPU any more"));
    }
    db_plan_destroy(&plan);
    stand_in_reset();
    /* with auto the processor goes on, with plans of later, too */
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    plan = plan_of(device, defaults());
    assert_string_equal(db_plan_device(plan), "cuda:0");
    stand_in.failure = cudaErrorIllegalAddress;
    stand_in.calls_until_failure = 3;
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_string_equal(db_context_device(device), "cpu");
    assert_non_null(strstr(db_context_device_note(device), "illegal memory access"));
    const long calls = stand_in.calls;
    db_plan *later = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(later, image), DB_OK);
    assert_int_equal(stand_in.calls, calls);
    assert_non_null(strstr(db_context_device_note(device), "illegal memory access"));
    db_plan_destroy(&later);
    db_plan_destroy(&plan);
    stand_in_reset();
}

/* Whichever call of the runtime fails: a status and a message, nothing left behind, and the next
 * attempt succeeds. */
static void any_call_may_fail(void **state) {
    (void)state;
    float data[PIXELS] = { 0 };
    result r = result_create(PIXELS), expected = result_create(PIXELS);
    equations e;
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    db_plan_destroy(&plan);
    long failures = 0;
    for (long n = 0;; n++) {
        db_context_destroy(&device); /* with what plans have left */
        assert_int_equal(stand_in.live, 0);
        stand_in_reset();
        open_device();
        stand_in.calls_until_failure = n;
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        options.parameters = some;
        options.parameter_count = SOME;
        db_status status = db_plan_create(device, &experiment, &options, &plan);
        if (status == DB_OK) status = db_plan_forward(plan, r.image);
        if (status == DB_OK) status = db_plan_gradient(plan, r.image, (void *const *)r.derivative);
        if (status == DB_OK) status = normal(plan, data, NULL, &e);
        const int unharmed = stand_in.calls_until_failure >= 0;
        stand_in.calls_until_failure = -1;
        if (status != DB_OK) {
            failures++;
            assert_true(status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE);
            assert_true(strncmp(db_context_message(device), "cuda:0: ", 8) == 0);
            if (plan) {
                assert_int_equal(db_plan_gradient(plan, r.image, (void *const *)r.derivative),
                                 DB_OK);
                for (int k = 0; k < SOME; k++)
                    assert_memory_equal(r.derivative[k], expected.derivative[k],
                                        PIXELS * sizeof(float));
            } else {
                assert_int_equal(stand_in.live, 0);
            }
        }
        db_plan_destroy(&plan);
        if (unharmed) break;
    }
    assert_true(failures > 40);
    result_destroy(&r);
    result_destroy(&expected);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(what_is_missing_is_said),
        TEST(the_callers_device_stays_current),
        TEST(only_the_plans_device_gets_a_context),
        TEST(a_final_failure_is_said),
        TEST(any_call_may_fail),
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
