#define _POSIX_C_SOURCE 200809L
/* Devices: names, the choice "auto", what a backend is given, and what happens where it fails. */
#include "support/unit_test.h"
#include "engine/device_plan.h"
#include "kernel/row_room.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/normal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An abacus: renders by calling the processor's kernels, and can be told to fail. */
static struct {
    db_status open, create, work;
    int created, destroyed, rendered, device_memory, memories;
    double seconds;
    db_kernel_kind kind;
} abacus;

struct db_device_plan {
    size_t region_count;
};

static db_status fail_as(db_context *context, db_status status, const char *what) {
    return status == DB_OK ? DB_OK : db_fail(context, status, "abacus: %s", what);
}

static db_status abacus_open(db_context *context, int number, char model[DB_DEVICE_MODEL_SIZE]) {
    if (number > 1) return db_fail(context, DB_ERROR_DEVICE, "abacus:%d: there are 2", number);
    snprintf(model, DB_DEVICE_MODEL_SIZE, "abacus of wood");
    return fail_as(context, abacus.open, "no wood");
}

static db_status abacus_create(db_context *context, int number, const db_device_work *work,
                               db_device_plan **plan) {
    (void)number;
    DB_TRY(fail_as(context, abacus.create, "no room"));
    *plan = malloc(sizeof **plan);
    assert_non_null(*plan);
    (*plan)->region_count = work->region_count;
    abacus.created++;
    return DB_OK;
}

static void abacus_destroy(db_context *context, db_device_plan *plan) {
    (void)context;
    abacus.destroyed++;
    free(plan);
}

static db_status run_kernel(db_context *context, const db_device_work *work, double *sums) {
    DB_TRY(fail_as(context, abacus.work, "broken"));
    void *const room = malloc(db_row_room(&work->job) + 1);
    assert_non_null(room);
    abacus.rendered++;
    abacus.kind = work->kind;
    for (size_t r = 0; r < work->region_count; r++) {
        const db_tile whole = { r, 0, work->job.region[r].slow_count };
        db_kernel_instance(context->isa, work->precision, work->kind)(&work->job, &whole, 1, sums,
                                                                      room);
    }
    free(room);
    return DB_OK;
}

static db_status abacus_render(db_context *context, db_device_plan *plan,
                               const db_device_work *work) {
    assert_int_equal(plan->region_count, work->region_count);
    return run_kernel(context, work, NULL);
}

static db_status abacus_normal(db_context *context, db_device_plan *plan,
                               const db_device_work *work, double *sums) {
    (void)plan;
    memset(sums, 0, db_normal_size(work->job.parameter_count + 1) * sizeof *sums);
    return run_kernel(context, work, sums);
}

static double abacus_seconds(const db_device_load *load) {
    assert_true(load->pixels == 12 * 10 && load->samples == load->pixels && load->derivatives == 1);
    return abacus.seconds;
}

static void *abacus_memory(int number, db_memory kind, size_t bytes) {
    (void)number;
    abacus.memories += kind == DB_MEMORY_DEVICE;
    return malloc(bytes);
}
static void abacus_free(int number, void *memory) {
    (void)number;
    free(memory);
}
static db_status abacus_copy(db_context *context, int number, void *to, const void *from,
                             size_t bytes) {
    (void)context;
    (void)number;
    memcpy(to, from, bytes);
    return DB_OK;
}
static int abacus_holds(int number, const void *memory) {
    (void)number;
    (void)memory;
    return abacus.device_memory;
}

static const db_device_operations operations = { .seconds = abacus_seconds,
                                                 .create = abacus_create,
                                                 .destroy = abacus_destroy,
                                                 .render = abacus_render,
                                                 .normal = abacus_normal,
                                                 .memory_create = abacus_memory,
                                                 .memory_destroy = abacus_free,
                                                 .memory_copy = abacus_copy,
                                                 .is_device_memory = abacus_holds };
static int abacus_count(void) { return 2; }
static const db_device_backend backend = {
    .name = "abacus", .open = abacus_open, .count = abacus_count, .operations = &operations
};

static db_context *context;
static db_experiment experiment;
enum { PIXELS = 12 * 10 };
static float image[PIXELS], derivative[PIXELS], other[PIXELS];

static int start(void **state) {
    (void)state;
    memset(&abacus, 0, sizeof abacus);
    db_device_register(&backend);
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_experiment_init(context, &experiment), DB_OK);
    for (int i = 0; i < 3; i++) {
        experiment.crystal.cell[i] = 50;
        experiment.crystal.Ncells[i] = 4;
    }
    experiment.structure_factors.default_F = 10;
    experiment.detector.panels[0].fast_pixels = 12;
    experiment.detector.panels[0].slow_pixels = 10;
    return 0;
}

static int finish(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    db_device_unregister(&backend);
    return 0;
}

static db_plan *plan_of(db_status expected) {
    static const db_parameter parameter = DB_CELL_A;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.parameters = &parameter;
    options.parameter_count = 1;
    assert_int_equal(db_plan_create(context, &experiment, &options, &plan), expected);
    return plan;
}

static void names_are_those_of_backends_with_a_number(void **state) {
    (void)state;
    assert_string_equal(db_context_device(context), "cpu");
    assert_int_equal(db_context_set_device(context, "abacus"), DB_OK);
    assert_string_equal(db_context_device(context), "abacus:0");
    assert_string_equal(db_context_device_model(context), "abacus of wood");
    assert_int_equal(db_context_set_device(context, "abacus:1"), DB_OK);
    assert_string_equal(db_context_device(context), "abacus:1");
    static const char *const wrong[] = { "",       "abacus:",   "abacus:x",     "abacus:1 ", ":1",
                                         "ABACUS", "abacus:-1", "abacus:99999", "1:1" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(db_context_set_device(context, wrong[i]), DB_ERROR_USAGE);
    assert_string_equal(db_context_device(context), "abacus:1");
    assert_int_equal(db_context_set_device(context, "slide"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "cpu, auto, abacus"));
    assert_int_equal(db_context_set_device(context, "abacus:2"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "there are 2"));
    assert_int_equal(db_context_set_device(context, "cpu"), DB_OK);
    assert_string_equal(db_context_device_model(context), "");
}

static void the_environment_sets_the_default(void **state) {
    (void)state;
    db_context *other_context;
    setenv("DUALBRAGG_DEVICE", "abacus:1", 1);
    assert_int_equal(db_context_create(&other_context), DB_OK);
    assert_string_equal(db_context_device(other_context), "abacus:1");
    db_context_destroy(&other_context);
    setenv("DUALBRAGG_DEVICE", "slide", 1);
    assert_int_equal(db_context_create(&other_context), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(other_context), "slide"));
    db_context_destroy(&other_context);
    unsetenv("DUALBRAGG_DEVICE");
}

static void auto_takes_what_opens_and_says_why_not(void **state) {
    (void)state;
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    assert_string_equal(db_context_device(context), "abacus:0");
    assert_string_equal(db_context_device_note(context), "");
    abacus.open = DB_ERROR_DEVICE;
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    assert_string_equal(db_context_device(context), "cpu");
    assert_string_equal(db_context_device_note(context), "abacus: no wood");
    assert_string_equal(db_context_message(context), "");
    assert_int_equal(db_context_set_device(context, "abacus"), DB_ERROR_DEVICE);
    db_device_unregister(&backend);
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    assert_true(strlen(db_context_device_note(context)) > 0);
}

static void a_plan_runs_where_its_context_said(void **state) {
    (void)state;
    void *const derivatives[] = { derivative };
    double chi2, gradient, curvature;
    db_plan *processor = plan_of(DB_OK);
    assert_int_equal(db_context_set_device(context, "abacus"), DB_OK);
    db_plan *plan = plan_of(DB_OK);
    assert_string_equal(db_plan_device(plan), "abacus:0");
    assert_string_equal(db_plan_device(processor), "cpu");
    assert_int_equal(db_plan_forward(processor, other), DB_OK);
    assert_int_equal(abacus.rendered, 0);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_int_equal(abacus.rendered, 1);
    assert_int_equal(abacus.kind, DB_KERNEL_FORWARD);
    assert_memory_equal(image, other, sizeof image);
    assert_int_equal(db_plan_gradient(plan, image, derivatives), DB_OK);
    assert_int_equal(abacus.kind, DB_KERNEL_GRADIENT);
    double expected_chi2, expected_gradient, expected_curvature;
    assert_int_equal(db_plan_normal(processor, DB_FLOAT32, derivative, NULL, &expected_chi2,
                                    &expected_gradient, &expected_curvature),
                     DB_OK);
    assert_int_equal(
        db_plan_normal(plan, DB_FLOAT32, derivative, NULL, &chi2, &gradient, &curvature), DB_OK);
    assert_int_equal(abacus.rendered, 3);
    assert_true(chi2 > 0 && chi2 == expected_chi2 && curvature == expected_curvature &&
                gradient == expected_gradient);
    db_plan_destroy(&plan);
    db_plan_destroy(&processor);
    assert_int_equal(abacus.created, 1);
    assert_int_equal(abacus.destroyed, 1);
}

static void failures_are_reported(void **state) {
    (void)state;
    assert_int_equal(db_context_set_device(context, "abacus"), DB_OK);
    abacus.create = DB_ERROR_MEMORY;
    assert_null(plan_of(DB_ERROR_MEMORY));
    assert_string_equal(db_context_message(context), "abacus: no room");
    abacus.create = DB_OK;
    db_plan *plan = plan_of(DB_OK);
    abacus.work = DB_ERROR_MEMORY;
    assert_int_equal(db_plan_forward(plan, image), DB_ERROR_MEMORY);
    assert_string_equal(db_context_message(context), "abacus: broken");
    abacus.work = DB_OK;
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    experiment.reference.on = 1;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(db_context_message(context), "compat"));
    experiment.reference.on = 0;
}

static void with_auto_the_processor_takes_over_and_says_so(void **state) {
    (void)state;
    assert_int_equal(db_context_set_device(context, "cpu"), DB_OK);
    db_plan *plan = plan_of(DB_OK);
    assert_int_equal(db_plan_forward(plan, other), DB_OK);
    db_plan_destroy(&plan);
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    plan = plan_of(DB_OK);
    assert_string_equal(db_plan_device(plan), "abacus:0");
    abacus.work = DB_ERROR_MEMORY;
    abacus.device_memory = 1; /* the processor cannot read it */
    assert_int_equal(db_plan_forward(plan, image), DB_ERROR_MEMORY);
    abacus.device_memory = 0;
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_memory_equal(image, other, sizeof image);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_string_equal(db_context_device_note(context), "abacus: broken");
    assert_int_equal(abacus.destroyed, 1);
    db_plan_destroy(&plan);
    assert_int_equal(abacus.destroyed, 1);
    abacus.work = DB_OK;
    abacus.create = DB_ERROR_MEMORY;
    plan = plan_of(DB_OK);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_string_equal(db_context_device_note(context), "abacus: no room");
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_memory_equal(image, other, sizeof image);
    db_plan_destroy(&plan);
}

/* "auto" asks which of both is predicted to be sooner done. */
static void the_faster_one_is_chosen(void **state) {
    (void)state;
    void *memory;
    abacus.seconds = 1;
    assert_int_equal(db_context_set_device(context, "abacus"), DB_OK);
    db_plan *plan = plan_of(DB_OK);
    assert_string_equal(db_plan_device(plan), "abacus:0"); /* as told */
    db_plan_destroy(&plan);
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    plan = plan_of(DB_OK);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_non_null(strstr(db_context_device_note(context), "abacus:0 1e+03 ms"));
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &memory), DB_OK);
    assert_int_equal(abacus.memories, 0); /* where the processor can write */
    assert_int_equal(db_plan_forward(plan, memory), DB_OK);
    assert_int_equal(abacus.rendered, 0);
    db_plan_memory_destroy(plan, &memory);
    db_plan_destroy(&plan);
    abacus.seconds = 1e-9;
    plan = plan_of(DB_OK);
    assert_string_equal(db_plan_device(plan), "abacus:0");
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &memory), DB_OK);
    assert_int_equal(abacus.memories, 1);
    db_plan_memory_destroy(plan, &memory);
    db_plan_destroy(&plan);
    abacus.create = DB_ERROR_MEMORY; /* no part there: no memory there */
    plan = plan_of(DB_OK);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &memory), DB_OK);
    assert_int_equal(abacus.memories, 1);
    assert_int_equal(db_plan_forward(plan, memory), DB_OK);
    db_plan_memory_destroy(plan, &memory);
    db_plan_destroy(&plan);
}

static double seconds_of(const db_plan *plan, const db_device_load *load, db_isa isa, int threads) {
    const db_isa own = context->isa;
    context->isa = isa;
    assert_int_equal(db_context_set_threads(context, threads), DB_OK);
    const double seconds = db_device_processor_seconds(plan, load);
    context->isa = own;
    return seconds;
}

static int is_times(double a, double factor, double b) {
    return a > 0 && a > 0.999 * factor * b && a < 1.001 * factor * b;
}

static void predictions_follow_the_work(void **state) {
    (void)state;
    db_plan *plan = plan_of(DB_OK);
    const db_device_load load = db_device_load_of(plan);
    assert_true(load.pixels == PIXELS && load.samples == PIXELS && load.derivatives == 1);
    assert_true(load.bytes == 2 * PIXELS * sizeof(float));
    assert_false(load.closed || load.general);
    const double one = seconds_of(plan, &load, DB_ISA_AVX512, 1);
#if defined(_OPENMP)
    assert_true(is_times(seconds_of(plan, &load, DB_ISA_AVX512, 3), 1.0 / 3, one));
#endif
    assert_true(is_times(seconds_of(plan, &load, DB_ISA_AVX2, 1), 2, one));
    assert_true(is_times(seconds_of(plan, &load, DB_ISA_BASELINE, 1), 4, one));
    db_device_load varied = load;
    varied.general = 1;
    assert_true(seconds_of(plan, &varied, DB_ISA_AVX512, 1) > 2 * one);
    varied = load;
    varied.samples *= 100;
    assert_true(seconds_of(plan, &varied, DB_ISA_AVX512, 1) > 10 * one);
    varied = load;
    varied.mixed = !load.mixed;
    assert_true((seconds_of(plan, &varied, DB_ISA_AVX512, 1) < one) == varied.mixed);
    /* of spots in closed form a derivative is a quarter of a pixel's work */
    varied = load;
    varied.closed = 1;
    varied.derivatives = 0;
    const double closed = seconds_of(plan, &varied, DB_ISA_AVX512, 1);
    varied.derivatives = 4;
    assert_true(is_times(seconds_of(plan, &varied, DB_ISA_AVX512, 1), 2, closed));
    /* sums of boxes come to the host in place of images, and take time whichever vectors there are */
    const db_device_load sums = db_device_load_of_boxes(plan);
    assert_true(sums.boxes == 1 && sums.bytes < load.bytes && sums.pixels == load.pixels);
    assert_true(is_times(seconds_of(plan, &sums, DB_ISA_BASELINE, 1) - 4 * one, 1,
                         seconds_of(plan, &sums, DB_ISA_AVX512, 1) - one));
    db_plan_destroy(&plan);
}

/* The processes of a machine take its devices in turn: by what the launcher says, or as they are told. */
static void local_devices_are_taken_in_turn(void **state) {
    (void)state;
    static const char *const launchers[] = { "OMPI_COMM_WORLD_LOCAL_RANK",
                                             "MPI_LOCALRANKID",
                                             "MV2_COMM_WORLD_LOCAL_RANK",
                                             "PALS_LOCAL_RANKID",
                                             "JSM_NAMESPACE_LOCAL_RANK",
                                             "FLUX_TASK_LOCAL_ID",
                                             "SLURM_LOCALID",
                                             "LOCAL_RANK" };
    enum { LAUNCHERS = sizeof launchers / sizeof *launchers };
    for (int i = 0; i < LAUNCHERS; i++) unsetenv(launchers[i]);
    assert_int_equal(db_context_set_device(context, "abacus:local"), DB_OK);
    assert_string_equal(db_context_device(context), "abacus:0");
    for (int i = 0; i < LAUNCHERS; i++) {
        setenv(launchers[i], "7", 1);
        assert_int_equal(db_context_set_device(context, "abacus:local"), DB_OK);
        assert_string_equal(db_context_device(context), "abacus:1");
        assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
        assert_string_equal(db_context_device(context), "abacus:1");
        assert_int_equal(db_context_set_device(context, "abacus"), DB_OK);
        assert_string_equal(db_context_device(context), "abacus:0");
        setenv(launchers[i], "one", 1); /* no number */
        assert_int_equal(db_context_set_device(context, "abacus:local"), DB_OK);
        assert_string_equal(db_context_device(context), "abacus:0");
        unsetenv(launchers[i]);
    }
    db_device_set_local_rank(3);
    assert_string_equal(db_context_device(context), "abacus:0");
    assert_int_equal(db_device_choose_local(context), DB_OK);
    assert_string_equal(db_context_device(context), "abacus:1");
    assert_int_equal(db_context_set_device(context, "abacus:0"), DB_OK);
    assert_int_equal(db_device_choose_local(context), DB_OK); /* not that of a number */
    assert_string_equal(db_context_device(context), "abacus:0");
    db_device_set_local_rank(-1);
    assert_int_equal(db_context_set_device(context, "abacus:near"), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "abacus:local"));
    abacus.open = DB_ERROR_DEVICE;
    assert_int_equal(db_context_set_device(context, "abacus:local"), DB_ERROR_DEVICE);
}

static void memory_serves_all_devices(void **state) {
    (void)state;
    static const char *const devices[] = { "cpu", "abacus" };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(db_context_set_device(context, devices[i]), DB_OK);
        db_plan *plan = plan_of(DB_OK);
        void *memory;
        assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &memory),
                         DB_OK);
        assert_int_equal(db_plan_memory_write(plan, memory, other, sizeof image), DB_OK);
        assert_int_equal(db_plan_memory_read(plan, memory, image, sizeof image), DB_OK);
        assert_memory_equal(image, other, sizeof image);
        assert_int_equal(db_plan_forward(plan, memory), DB_OK);
        db_plan_memory_destroy(plan, &memory);
        assert_null(memory);
        db_plan_memory_destroy(plan, &memory);
        db_plan_destroy(&plan);
    }
}

static int cancel(void *user, double fraction) {
    (void)fraction;
    ++*(int *)user;
    return 1;
}

static void progress_may_cancel(void **state) {
    (void)state;
    int calls = 0;
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    db_plan *plan = plan_of(DB_OK);
    db_context_set_progress(context, cancel, &calls);
    assert_int_equal(db_plan_forward(plan, image), DB_ERROR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(abacus.rendered, 0);
    db_plan_destroy(&plan);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(names_are_those_of_backends_with_a_number),
        TEST(the_environment_sets_the_default),
        TEST(auto_takes_what_opens_and_says_why_not),
        TEST(a_plan_runs_where_its_context_said),
        TEST(failures_are_reported),
        TEST(with_auto_the_processor_takes_over_and_says_so),
        TEST(the_faster_one_is_chosen),
        TEST(predictions_follow_the_work),
        TEST(local_devices_are_taken_in_turn),
        TEST(memory_serves_all_devices),
        TEST(progress_may_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
