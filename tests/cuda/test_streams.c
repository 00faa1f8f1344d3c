/* Plans on a stream of the caller's: what order there is, what waits, and failures that come later. */
#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A, DB_MISSET_Y, DB_SCALE, DB_DISTANCE, DB_WAVELENGTH
#include "support/small_crystal.h"
#include "support/by_parameters.h"
#include "two_contexts.h"

#include <dualbragg/batch.h>
#include <dualbragg/expert/batch_stream.h>
#include <dualbragg/normal.h>
#include <dualbragg/products.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 40, SLOW = 11, PIXELS = FAST * SLOW, BYTES = PIXELS * (int)sizeof(float) };

static cudaStream_t stream;

#define CUDA(call) assert_int_equal(call, cudaSuccess)

static int start(void **state) {
    (void)state;
    machine_reset();
    open_both(FAST, SLOW, 3);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return 0;
}

static int finish_stream(void **state) {
    CUDA(cudaStreamDestroy(stream));
    return finish(state);
}

static db_plan *plan_on(db_context *context) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.parameters = some;
    options.parameter_count = SOME;
    assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
    return plan;
}

static db_plan *plan_with(db_stream_use use) {
    db_plan *plan = plan_on(device);
    const db_status status = db_plan_set_stream(plan, use, stream);
    if (status != DB_OK) print_error("%s\n", db_context_message(device));
    assert_int_equal(status, DB_OK);
    return plan;
}

static void *room(void) {
    void *memory;
    CUDA(cudaMalloc(&memory, BYTES));
    return memory;
}

/* The crystal of call number n, and its image from the processor. */
static void turn_crystal(int n) { experiment.crystal.misset[0] = 0.02 * n; }
static void expected_image(int n, float *image) {
    turn_crystal(n);
    db_plan *plan = plan_on(processor);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
}

static int is_near(const float *found, const float *expected) {
    float largest = 0, off = 0;
    for (int i = 0; i < PIXELS; i++) {
        if (!isfinite(found[i])) return 0;
        largest = fmaxf(largest, fabsf(expected[i]));
        off = fmaxf(off, fabsf(found[i] - expected[i]));
    }
    return off <= 2e-6F * largest;
}

/* Behind what the caller's stream has, not behind anything else. */
static int shows(const void *there, int n) {
    float found[PIXELS], expected[PIXELS];
    CUDA(cudaMemcpyAsync(found, there, BYTES, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    expected_image(n, expected);
    return is_near(found, expected);
}

/* Each call has its own values, which the next one changes while nothing has been rendered yet. */
static void calls_do_not_wait(void **state) {
    (void)state;
    enum { CALLS = 4 };
    void *image[CALLS];
    db_plan *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    for (int n = 0; n < CALLS; n++) image[n] = room();
    for (int n = 0; n < CALLS; n++) { /* memory is allocated */
        turn_crystal(9 - n);
        assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
        assert_int_equal(db_plan_forward(plan, image[n]), DB_OK);
    }
    assert_int_equal(db_plan_wait(plan), DB_OK);
    machine_reset();
    for (int n = 0; n < CALLS; n++) {
        turn_crystal(n);
        assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
        assert_int_equal(db_plan_forward(plan, image[n]), DB_OK);
    }
    COUNTED(assert_int_equal(stand_in.waits, 0);)
    COUNTED(assert_int_equal(stand_in.bytes_to_host, 0);)
    turn_crystal(7);
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    for (int n = 0; n < CALLS; n++) assert_true(shows(image[n], n));
    for (int n = 0; n < CALLS; n++) CUDA(cudaFree(image[n]));
    db_plan_destroy(&plan);
}

static void derivatives_do_not_wait(void **state) {
    (void)state;
    result expected = result_create(PIXELS);
    float found[PIXELS];
    void *there[SOME + 1];
    for (int k = 0; k <= SOME; k++) there[k] = room();
    db_plan *own = plan_on(processor), *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    assert_int_equal(db_plan_gradient(own, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    assert_int_equal(db_plan_gradient(plan, there[0], there + 1), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_gradient(plan, there[0], there + 1), DB_OK);
    COUNTED(assert_int_equal(stand_in.waits, 0);)
    for (int k = 0; k < SOME; k++) {
        assert_int_equal(db_plan_memory_read(plan, there[k + 1], found, BYTES), DB_OK);
        assert_true(is_near(found, expected.derivative[k]));
    }
    /* an image in the host's memory is there when the call returns */
    memset(found, 0, sizeof found);
    assert_int_equal(db_plan_gradient(plan, found, there + 1), DB_OK);
    assert_true(is_near(found, expected.image));
    for (int k = 0; k <= SOME; k++) CUDA(cudaFree(there[k]));
    db_plan_destroy(&own);
    db_plan_destroy(&plan);
    result_destroy(&expected);
}

/* Data that the caller's stream is about to write: read behind that. On the plan's own stream nothing
 * orders the two. */
static void data_are_read_behind_the_callers_work(void **state) {
    (void)state;
    float data[PIXELS];
    for (int i = 0; i < PIXELS; i++) data[i] = (float)(i % 13);
    double chi2[3], gradient[SOME], curvature[SOME * SOME], sums[SOME], expected[SOME];
    void *from = room(), *there = room();
    db_plan *own = plan_on(processor), *plan = plan_on(device);
    assert_int_equal(db_plan_normal(own, DB_FLOAT32, data, NULL, &chi2[0], gradient, curvature),
                     DB_OK);
    assert_int_equal(vjp_by_parameters(own, data, NULL, expected), DB_OK);
    assert_int_equal(db_plan_memory_write(plan, from, data, BYTES), DB_OK);
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_WAIT, stream), DB_OK);
    CUDA(cudaMemcpyAsync(there, from, BYTES, cudaMemcpyDeviceToDevice, stream));
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, there, NULL, &chi2[1], gradient, curvature),
                     DB_OK);
    assert_true(fabs(chi2[1] - chi2[0]) <= 1e-6 * chi2[0]);
    /* a cotangent is not looked at on the host */
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, stream), DB_OK);
    machine_reset();
    assert_int_equal(vjp_by_parameters(plan, there, NULL, sums), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_host, 1);)
    COUNTED(assert_true(stand_in.bytes_to_host < 1024);)
    for (int k = 0; k < SOME; k++)
        assert_true(fabs(sums[k] - expected[k]) <= 1e-6 * fabs(expected[k]));
    data[FAST + 3] = NAN;
    assert_int_equal(db_plan_memory_write(plan, there, data, BYTES), DB_OK);
    assert_int_equal(vjp_by_parameters(plan, there, NULL, sums), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "cotangent of pixel (3, 1) of panel 0"));
#if !defined(DB_ON_GPU)
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_OWN, NULL), DB_OK);
    CUDA(cudaMemcpyAsync(there, from, BYTES, cudaMemcpyDeviceToDevice, stream));
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, there, NULL, &chi2[2], gradient, curvature),
                     DB_ERROR_INPUT); /* still NaN */
#endif
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(from));
    CUDA(cudaFree(there));
    db_plan_destroy(&own);
    db_plan_destroy(&plan);
}

/* What was begun on one stream comes before what follows on another. */
static void streams_may_change(void **state) {
    (void)state;
    cudaStream_t first;
    void *image = room();
    float found[PIXELS], expected[PIXELS];
    CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    db_plan *plan = plan_on(device);
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, first), DB_OK);
    turn_crystal(1);
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, stream), DB_OK);
    assert_true(shows(image, 1));
    turn_crystal(2);
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    CUDA(cudaStreamSynchronize(first));
    assert_true(shows(image, 2));
    static cudaStream_t const devices[] = { NULL, cudaStreamLegacy, cudaStreamPerThread };
    for (int i = 0; i < 3; i++) {
        turn_crystal(3 + i);
        assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
        assert_int_equal(db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, devices[i]), DB_OK);
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        CUDA(cudaMemcpyAsync(found, image, BYTES, cudaMemcpyDeviceToHost, devices[i]));
        CUDA(cudaStreamSynchronize(devices[i]));
        expected_image(3 + i, expected);
        assert_true(is_near(found, expected));
    }
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_OWN, NULL), DB_OK);
    assert_int_equal(db_plan_forward(plan, found), DB_OK);
    assert_true(is_near(found, expected));
    CUDA(cudaStreamDestroy(first));
    CUDA(cudaFree(image));
    db_plan_destroy(&plan);
}

/* Its memory goes to the next plan, whose work waits for that of the one before. */
static void a_plan_may_go_while_it_works(void **state) {
    (void)state;
    void *image = room();
    float found[PIXELS], expected[PIXELS];
    for (int round = 0; round < 2; round++) {
        turn_crystal(1);
        db_plan *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        db_plan_destroy(&plan);
        turn_crystal(2);
        plan = plan_on(device);
        assert_int_equal(db_plan_forward(plan, found), DB_OK);
        expected_image(2, expected);
        assert_true(is_near(found, expected));
        assert_true(shows(image, 1));
        db_plan_destroy(&plan);
    }
    CUDA(cudaFree(image));
}

/* A plan takes over the memory of one whose second call, which copied nothing, has not begun. */
static void what_is_under_way_keeps_its_values(void **state) {
    (void)state;
    void *image[2] = { room(), room() };
    float found[PIXELS], expected[PIXELS];
    cudaEvent_t first_done;
    CUDA(cudaEventCreateWithFlags(&first_done, cudaEventDisableTiming));
    turn_crystal(1);
    db_plan *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    assert_int_equal(db_plan_forward(plan, image[0]), DB_OK);
    CUDA(cudaEventRecord(first_done, stream));
    assert_int_equal(db_plan_forward(plan, image[1]), DB_OK);
    CUDA(cudaEventSynchronize(first_done));
    db_plan_destroy(&plan);
    turn_crystal(2);
    plan = plan_on(device);
    assert_int_equal(db_plan_forward(plan, found), DB_OK);
    expected_image(2, expected);
    assert_true(is_near(found, expected));
    for (int i = 0; i < 2; i++) {
        assert_true(shows(image[i], 1));
        CUDA(cudaFree(image[i]));
    }
    CUDA(cudaEventDestroy(first_done));
    db_plan_destroy(&plan);
}

/* More calls than boxes, lists that grow, spots in closed form: all copied before they change. */
static void what_is_copied_may_change(void **state) {
    (void)state;
    enum { CALLS = 11 };
    void *image[CALLS];
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.5;
    for (int n = 0; n < CALLS; n++) image[n] = room();
    db_plan *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    for (int n = 0; n < CALLS; n++) {
        turn_crystal(40 * n);
        assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
        assert_int_equal(db_plan_forward(plan, image[n]), DB_OK);
    }
    for (int n = 0; n < CALLS; n++) assert_true(shows(image[n], 40 * n));
    for (int n = 0; n < CALLS; n++) CUDA(cudaFree(image[n]));
    db_plan_destroy(&plan);
}

/* Two lists in one call, the second about as long as the first: one behind the other in a box. */
static void lists_of_one_call_are_copied_together(void **state) {
    (void)state;
    enum { CALLS = 6 }; /* more than boxes: the first is used again */
    result expected = result_create(PIXELS);
    float found[PIXELS];
    void *there[CALLS][SOME + 1];
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.5;
    db_plan *own = plan_on(processor), *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    for (int n = 0; n < CALLS; n++) {
        for (int k = 0; k <= SOME; k++) there[n][k] = room();
        turn_crystal(40 * n);
        assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
        assert_int_equal(db_plan_gradient(plan, there[n][0], there[n] + 1), DB_OK);
    }
    for (int n = 0; n < CALLS; n++) {
        turn_crystal(40 * n);
        assert_int_equal(db_plan_update(own, &experiment), DB_OK);
        assert_int_equal(db_plan_gradient(own, expected.image, (void *const *)expected.derivative),
                         DB_OK);
        for (int k = 0; k <= SOME; k++) {
            assert_int_equal(db_plan_memory_read(plan, there[n][k], found, BYTES), DB_OK);
            assert_true(is_near(found, k ? expected.derivative[k - 1] : expected.image));
            CUDA(cudaFree(there[n][k]));
        }
    }
    db_plan_destroy(&own);
    db_plan_destroy(&plan);
    result_destroy(&expected);
}

/* Locked memory is copied to directly: the call waits for that. */
static void results_in_locked_memory_are_waited_for(void **state) {
    (void)state;
    static const char *const names[] = { "F:0:0:1", "F:0:1:0", "F:1:1:1" };
    enum { NAMES = 3, SIDE = 9, ENTRIES = SIDE * SIDE * SIDE };
    db_structure_factors *f = &experiment.structure_factors;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_parameter parameters[NAMES];
    const double direction[NAMES] = { 1, -2, 3 };
    float expected[2][PIXELS];
    db_plan *plan[2];
    void *locked, *there = room();
    for (int j = 0; j < 3; j++) {
        f->min[j] = -SIDE / 2;
        f->extent[j] = SIDE;
    }
    f->amplitude = malloc(ENTRIES * sizeof(double));
    assert_non_null(f->amplitude);
    for (int i = 0; i < ENTRIES; i++) f->amplitude[i] = 20 + i % 7;
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(db_parameter_find(NULL, names[i], &parameters[i]), DB_OK);
    options.parameters = parameters;
    options.parameter_count = NAMES;
    for (int i = 0; i < 2; i++)
        assert_int_equal(db_plan_create(i ? device : processor, &experiment, &options, &plan[i]),
                         DB_OK);
    assert_int_equal(db_plan_set_stream(plan[1], DB_STREAM_ASYNCHRONOUS, stream), DB_OK);
    assert_int_equal(db_plan_memory_create(plan[1], DB_MEMORY_HOST, BYTES, &locked), DB_OK);
    assert_int_equal(jvp_by_parameters(plan[0], direction, expected[0], expected[1]), DB_OK);
    memset(locked, 0xff, BYTES);
    assert_int_equal(db_plan_forward(plan[1], locked), DB_OK);
    assert_true(is_near(locked, expected[0]));
    for (int way = 0; way < 2;
         way++) { /* a direction of several loose columns; image or tangent here */
        memset(locked, 0xff, BYTES);
        assert_int_equal(
            jvp_by_parameters(plan[1], direction, way ? there : locked, way ? locked : there),
            DB_OK);
        assert_true(is_near(locked, expected[way]));
    }
    db_plan_memory_destroy(plan[1], &locked);
    CUDA(cudaFree(there));
    for (int i = 0; i < 2; i++) db_plan_destroy(&plan[i]);
}

/* A background in locked memory that no box holds: the call waits until it has been copied. */
static void what_is_large_is_copied_before_the_call_returns(void **state) {
    (void)state;
    enum { BOX = 10, FIRST = 9 << 20, ALL = FIRST + BOX }; /* 36 MB with the gap */
    static const db_region region = { 0, 0, 0, BOX, 1, FIRST, BOX };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    db_plan_vector direction = DB_PLAN_VECTOR_INIT;
    void *image, *tangent, *background;
    static float found[ALL];
    options.regions = &region;
    options.region_count = 1;
    assert_int_equal(db_plan_create(device, &experiment, &options, &plan), DB_OK);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof found, &image), DB_OK);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof found, &tangent), DB_OK);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_HOST, sizeof found, &background), DB_OK);
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, stream), DB_OK);
    for (int i = 0; i < ALL; i++) ((float *)background)[i] = (float)(i - FIRST);
    direction.background = background;
    assert_int_equal(db_plan_jvp(plan, &direction, image, tangent), DB_OK);
    for (int i = 0; i < ALL; i++) ((float *)background)[i] = -1;
    assert_int_equal(db_plan_memory_read(plan, tangent, found, sizeof found), DB_OK);
    for (int i = 0; i < BOX; i++) assert_true(found[FIRST + i] == (float)i);
    db_plan_memory_destroy(plan, &image);
    db_plan_memory_destroy(plan, &tangent);
    db_plan_memory_destroy(plan, &background);
    db_plan_destroy(&plan);
}

static void batches_do_not_wait(void **state) {
    (void)state;
    enum { SHOTS = 3 };
    void *image[SHOTS];
    db_experiment shot[SHOTS];
    const db_experiment *shots[SHOTS];
    db_plan_batch *batch;
    for (int n = 0; n < SHOTS; n++) {
        image[n] = room();
        shot[n] = experiment; /* borrows its lists */
        shot[n].crystal.misset[0] = 0.02 * n;
        shots[n] = &shot[n];
    }
    assert_int_equal(db_plan_batch_create(device, &experiment, NULL, &batch), DB_OK);
    assert_int_equal(db_plan_batch_set_stream(batch, DB_STREAM_ASYNCHRONOUS, stream), DB_OK);
    assert_int_equal(db_plan_batch_forward(batch, shots, SHOTS, image), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_batch_forward(batch, shots, SHOTS, image), DB_OK);
    COUNTED(assert_in_range(stand_in.waits, 0, 2);) /* three calls were under way */
    for (int n = 0; n < SHOTS; n++) assert_true(shows(image[n], n));
    assert_int_equal(db_plan_batch_wait(batch), DB_OK);
    for (int n = 0; n < SHOTS; n++) CUDA(cudaFree(image[n]));
    db_plan_batch_destroy(&batch);
}

static void what_has_no_stream_says_so(void **state) {
    (void)state;
    db_plan *own = plan_on(processor), *plan = plan_on(device);
    assert_int_equal(db_plan_set_stream(own, DB_STREAM_ASYNCHRONOUS, stream), DB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(db_context_message(processor), "found one on the processor"));
    assert_int_equal(db_plan_set_stream(own, DB_STREAM_OWN, NULL), DB_OK);
    assert_int_equal(db_plan_wait(own), DB_OK);
    assert_int_equal(db_plan_set_stream(plan, (db_stream_use)3, stream), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "found 3"));
    db_plan_destroy(&own);
    db_plan_destroy(&plan);
}

/* Graphs */

static void zero(db_plan *plan, void *const *there, int count) {
    const float zeros[PIXELS] = { 0 };
    for (int k = 0; k < count; k++)
        assert_int_equal(db_plan_memory_write(plan, there[k], zeros, BYTES), DB_OK);
}

static int reads(db_plan *plan, const void *there, const float *expected) {
    float found[PIXELS];
    assert_int_equal(db_plan_memory_read(plan, there, found, BYTES), DB_OK);
    return is_near(found, expected);
}

static cudaGraph_t capture_all(db_plan *plan, const db_plan_vector *along, void *const *there) {
    cudaGraph_t graph;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, stream), DB_OK);
    assert_int_equal(db_plan_forward(plan, there[0]), DB_OK);
    assert_int_equal(db_plan_gradient(plan, there[1], there + 2), DB_OK);
    assert_int_equal(db_plan_jvp(plan, along, there[SOME + 2], there[SOME + 3]), DB_OK);
    CUDA(cudaStreamEndCapture(stream, &graph));
    return graph;
}

/* Also if the plan gets other calls meanwhile. */
static void a_graph_has_the_parameters_of_its_capture(void **state) {
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        result expected = result_create(PIXELS);
        float tangent[PIXELS], unused[PIXELS];
        double along[SOME];
        void *there[SOME + 4];
        cudaGraphExec_t made;
        db_plan_vector direction = DB_PLAN_VECTOR_INIT;
        direction.parameters = along;
        for (int k = 0; k < SOME; k++) along[k] = 0.1 * (k + 1);
        for (int k = 0; k < SOME + 4; k++) there[k] = room();
        experiment.spread.spots = closed ? DB_SPOTS_CLOSED : DB_SPOTS_SAMPLED;
        turn_crystal(1);
        db_plan *own = plan_on(processor), *plan = plan_on(device);
        assert_int_equal(db_plan_gradient(own, expected.image, (void *const *)expected.derivative),
                         DB_OK);
        assert_int_equal(db_plan_jvp(own, &direction, unused, tangent), DB_OK);
        const cudaGraph_t graph = capture_all(plan, &direction, there);
        CUDA(cudaGraphInstantiate(&made, graph, 0));
        for (int launches = 0; launches < 2; launches++) {
            turn_crystal(5 + launches);
            assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
            assert_int_equal(db_plan_gradient(plan, there[1], there + 2), DB_OK);
            zero(plan, there, SOME + 4);
            CUDA(cudaGraphLaunch(made, stream));
            assert_true(reads(plan, there[0], expected.image));
            assert_true(reads(plan, there[1], expected.image));
            for (int k = 0; k < SOME; k++)
                assert_true(reads(plan, there[2 + k], expected.derivative[k]));
            assert_true(reads(plan, there[SOME + 2], expected.image));
            assert_true(reads(plan, there[SOME + 3], tangent));
        }
        CUDA(cudaGraphExecDestroy(made));
        CUDA(cudaGraphDestroy(graph));
        db_plan_destroy(&own);
        db_plan_destroy(&plan);
        for (int k = 0; k < SOME + 4; k++) CUDA(cudaFree(there[k]));
        result_destroy(&expected);
    }
}

#define REFUSED(call)                                                                              \
    assert_int_equal(call, DB_ERROR_UNSUPPORTED);                                                  \
    assert_non_null(strstr(db_context_message(device), "stay in the GPU's memory"))

/* And spoil no capture. */
static void calls_that_wait_are_not_captured(void **state) {
    (void)state;
    float image[PIXELS] = { 0 };
    double sums[1 + SOME + SOME * SOME];
    void *there = room();
    cudaGraph_t graph;
    cudaGraphExec_t made;
    db_plan_vector gradient = DB_PLAN_VECTOR_INIT;
    gradient.parameters = sums;
    turn_crystal(2);
    db_plan *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    REFUSED(db_plan_forward(plan, image));
    REFUSED(db_plan_vjp(plan, there, NULL, &gradient));
    REFUSED(db_plan_normal(plan, DB_FLOAT32, image, NULL, sums, sums + 1, sums + 1 + SOME));
    REFUSED(db_plan_wait(plan));
    assert_int_equal(db_plan_forward(plan, there), DB_OK);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&made, graph, 0));
    CUDA(cudaGraphLaunch(made, stream));
    assert_true(shows(there, 2));
    CUDA(cudaGraphExecDestroy(made));
    CUDA(cudaGraphDestroy(graph));
    db_plan_destroy(&plan);
    CUDA(cudaFree(there));
}

#if !defined(DB_ON_GPU)
static void a_stream_of_another_device_is_refused(void **state) {
    (void)state;
    cudaStream_t other;
    void *image = room();
    float found[PIXELS], expected[PIXELS];
    CUDA(cudaSetDevice(1));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    db_plan *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    assert_int_equal(db_plan_set_stream(plan, DB_STREAM_WAIT, other), DB_ERROR_INPUT);
    assert_string_equal(
        db_context_message(device),
        "cuda:0: stream: expected a stream of this GPU, found a stream of another GPU");
    turn_crystal(1);
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_int_equal(stand_in_thread.current, 1);
    CUDA(cudaSetDevice(0));
    assert_true(shows(image, 1));
    assert_int_equal(db_plan_forward(plan, found), DB_OK);
    expected_image(1, expected);
    assert_true(is_near(found, expected));
    db_plan_destroy(&plan);
    CUDA(cudaFree(image));
    CUDA(cudaSetDevice(1));
    CUDA(cudaStreamDestroy(other));
    CUDA(cudaSetDevice(0));
}

/* The call that was given the work has returned long before. */
static void failures_come_with_a_call_that_waits(void **state) {
    (void)state;
    void *image = room();
    db_plan *plan = plan_with(DB_STREAM_ASYNCHRONOUS);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    stand_in.failure = cudaErrorIllegalAddress;
    stand_in.calls_until_failure = 1;
    assert_int_equal(db_plan_wait(plan), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(device), "illegal memory access"));
    assert_non_null(strstr(db_context_message(device), "cannot use the GPU any more"));
    assert_int_equal(db_plan_forward(plan, image), DB_ERROR_DEVICE);
    stand_in_reset();
    CUDA(cudaFree(image));
    db_plan_destroy(&plan);
}

/* Whichever call fails: a status, and the next attempt succeeds. */
static void any_call_may_fail(void **state) {
    (void)state;
    long failures = 0;
    void *image = room();
    for (long n = 0;; n++) {
        db_context_destroy(&device); /* with what plans have left */
        stand_in_reset();
        assert_int_equal(db_context_create(&device), DB_OK);
        assert_int_equal(db_context_set_device(device, "cuda"), DB_OK);
        turn_crystal(5);
        db_plan *plan = plan_on(device);
        stand_in.calls_until_failure = n;
        db_status status = db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, stream);
        for (int i = 0; status == DB_OK && i < 2; i++) {
            turn_crystal(i);
            status = db_plan_update(plan, &experiment);
            if (status == DB_OK) status = db_plan_forward(plan, image);
        }
        if (status == DB_OK) status = db_plan_wait(plan);
        const int unharmed = stand_in.calls_until_failure >= 0;
        if (status != DB_OK) {
            failures++;
            assert_true(status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE);
            assert_true(strncmp(db_context_message(device), "cuda:0: ", 8) == 0);
            stand_in.calls_until_failure = -1;
            turn_crystal(2);
            assert_int_equal(db_plan_set_stream(plan, DB_STREAM_ASYNCHRONOUS, stream), DB_OK);
            assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
            assert_int_equal(db_plan_forward(plan, image), DB_OK);
            assert_true(shows(image, 2));
        }
        stand_in.calls_until_failure = n % 3; /* of the calls that end it */
        db_plan_destroy(&plan);
        stand_in.calls_until_failure = -1;
        if (unharmed) break;
    }
    assert_true(failures > 10);
    CUDA(cudaFree(image));
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish_stream)
    const struct CMUnitTest tests[] = {
        TEST(calls_do_not_wait),
        TEST(derivatives_do_not_wait),
        TEST(data_are_read_behind_the_callers_work),
        TEST(streams_may_change),
        TEST(a_plan_may_go_while_it_works),
        TEST(what_is_under_way_keeps_its_values),
        TEST(what_is_copied_may_change),
        TEST(lists_of_one_call_are_copied_together),
        TEST(results_in_locked_memory_are_waited_for),
        TEST(what_is_large_is_copied_before_the_call_returns),
        TEST(batches_do_not_wait),
        TEST(what_has_no_stream_says_so),
        TEST(a_graph_has_the_parameters_of_its_capture),
        TEST(calls_that_wait_are_not_captured),
#if !defined(DB_ON_GPU)
        TEST(a_stream_of_another_device_is_refused),
        TEST(failures_come_with_a_call_that_waits),
        TEST(any_call_may_fail),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
