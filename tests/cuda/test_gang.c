/* Threads that hand in together what they start on a device: one copy there, one launch of each kernel, one
 * copy back, with the same bits as alone; whatever fails, nobody waits for ever. */
#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A, DB_MISSET_Y, DB_CELLS_B, DB_SCALE
#include "support/small_crystal.h"
#include "machine.h"
#include "takes_all.h"

#include "base/context_internal.h"
#include "base/gang.h"

#include <dualbragg/batch.h>
#include <dualbragg/expert/boxes.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    FAST = 60,
    SLOW = 40,
    BOXES = 6,
    PIXELS = BOXES * 81,
    THREADS = 6,
    ROUNDS = 3,
    VARIABLES = 4,
    MANY_VARIABLES = 24
};

static db_region region[BOXES];
static float value[PIXELS], weight[PIXELS], shape_variance[PIXELS];

static void place_boxes(void) {
    for (int b = 0; b < BOXES; b++)
        region[b] = (db_region){ .fast_start = 9 * b,
                                 .slow_start = 3 * b,
                                 .fast_count = 9,
                                 .slow_count = 9,
                                 .offset = (size_t)(81 * b),
                                 .stride = 9 };
    for (int i = 0; i < PIXELS; i++) {
        value[i] = (float)(i * 37 % 101);
        weight[i] = i % 13 == 4 ? 0 : 1.0F / (float)(i * 37 % 101 + 1);
        shape_variance[i] = 0.1F;
    }
}

/* What a thread does, and what comes of it; kinds are not the same for all. */
typedef struct job {
    int number;
    int fails_at; /* the round in which it gives up without a word; -1: none */

    const db_gang *gang;
    db_status status;
    char message[DB_MESSAGE_SIZE];
    db_box_solution solution[ROUNDS][BOXES];
    double normal[ROUNDS][BOXES * (MANY_VARIABLES + DB_LINEAR) * (MANY_VARIABLES + DB_LINEAR + 1)];
    float image[ROUNDS][PIXELS], derivative[SOME][PIXELS], boxes_image[PIXELS];
} job;

static db_status evaluate(db_boxes *boxes, job *j, int round) {
    db_link links[MANY_VARIABLES];
    /* blocks need different memory */
    const size_t variables = j->number % 4 ? VARIABLES : MANY_VARIABLES;
    const db_box_links list = { links, variables, variables };
    static const db_loss loss = { DB_LOSS_GAUSSIAN, 1.3, 2, 0 };
    db_box_rule rule[BOXES];
    db_boxes_request q = DB_BOXES_REQUEST_INIT;
    for (int b = 0; b < BOXES; b++) {
        rule[b] = (db_box_rule){ .held_at_zero = 1 };
        for (int i = 0; i < DB_LINEAR; i++) rule[b].solved[i] = rule[b].summed[i] = 1;
        j->solution[round][b] = (db_box_solution){ .linear = { 1, 5, 0, 0 } };
    }
    for (size_t v = 0; v < variables; v++)
        links[v] = (db_link){ v % VARIABLES, v, 0.5 + 0.1 * (double)v };
    q.loss = &loss;
    q.rule = rule;
    q.image = DB_BOXES_DERIVATIVES;
    q.links = &list;
    q.link_lists = 1;
    q.most = variables;
    q.solve = 1;
    q.sums = DB_BOXES_NORMAL;
    return db_boxes_evaluate(boxes, &q, j->solution[round], j->normal[round]);
}

static db_status run_round(db_plan *plan, db_boxes *boxes, const db_experiment *e, job *j,
                           int round) {
    db_experiment moved = *e;
    void *derivatives[SOME];
    for (int k = 0; k < SOME; k++) derivatives[k] = j->derivative[k];
    moved.crystal.misset[0] += 0.3 * round + 0.1 * j->number;
    DB_TRY(db_plan_update(plan, &moved));
    DB_TRY(evaluate(boxes, j, round));
    if (j->number % 2) return db_plan_forward(plan, j->image[round]);
    return db_plan_gradient(plan, j->image[round], derivatives);
}

static db_status run_boxes(db_context *context, const db_experiment *e, db_plan *plan, job *j) {
    db_boxes *boxes;
    db_box_data data = DB_BOX_DATA_INIT;
    data.value = value;
    data.weight = weight;
    data.shape_variance = shape_variance;
    DB_TRY(db_boxes_create(plan, &boxes));
    db_status status = db_boxes_set_data(boxes, &data);
    for (int round = 0; round < ROUNDS && status == DB_OK; round++) {
        if (round == j->fails_at) status = db_fail(context, DB_ERROR_INPUT, "gives up");
        if (status == DB_OK) status = run_round(plan, boxes, e, j, round);
    }
    const float *image;
    if (status == DB_OK) status = db_boxes_image_of(boxes, &image);
    if (status == DB_OK) memcpy(j->boxes_image, image, db_plan_pixels(plan) * sizeof *image);
    db_boxes_destroy(&boxes);
    return status;
}

static db_status run_plan(db_context *context, job *j) {
    db_experiment e;
    db_plan *plan;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    DB_TRY(db_experiment_init(context, &e));
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = 50 + 7 * i;
        e.crystal.cells[i] = 4 + i;
    }
    e.structure_factors.default_F = 300;
    e.detector.panels[0].fast_pixels = FAST;
    e.detector.panels[0].slow_pixels = SLOW;
    e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 0.4;
    options.precision = DB_PRECISION_MIXED;
    options.parameters = some;
    options.parameter_count = SOME;
    options.regions = region;
    options.region_count = (size_t)(BOXES - j->number % 3); /* jobs of a launch differ in blocks */
    db_status status = db_plan_create(context, &e, &options, &plan);
    if (status == DB_OK) {
        status = run_boxes(context, &e, plan, j);
        db_plan_destroy(&plan);
    }
    db_experiment_clear(&e);
    return status;
}

/* Also where all fails the thread leaves the gang. */
static void *run_job(void *user) {
    job *const j = user;
    db_context *context;
    j->status = db_context_create(&context);
    if (j->status == DB_OK) j->status = db_context_set_device(context, "cuda");
    if (j->status == DB_OK) j->status = db_context_set_threads(context, 1);
    if (j->status == DB_OK) {
        context->gang = j->gang;
        j->status = run_plan(context, j);
    }
    db_gang_leave(j->gang, 1);
    snprintf(j->message, sizeof j->message, "%s", context ? db_context_message(context) : "");
    db_context_destroy(&context);
    return NULL;
}

static void run_jobs(job *jobs, int count, const db_gang *gang) {
    pthread_t thread[2 * THREADS];
    for (int t = 0; t < count; t++) jobs[t].gang = gang;
    db_gang_join(gang, count);
    for (int t = 0; t < count; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, run_job, &jobs[t]), 0);
    for (int t = 0; t < count; t++) pthread_join(thread[t], NULL);
}

static job *make_jobs(int count) {
    job *const jobs = calloc((size_t)count, sizeof *jobs);
    assert_non_null(jobs);
    for (int t = 0; t < count; t++) jobs[t] = (job){ .number = t, .fails_at = -1 };
    return jobs;
}

static db_context *context;
static job *alone; /* [2 * THREADS] without a gang */

static int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    place_boxes();
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_context_set_device(context, "cuda"), DB_OK);
    alone = make_jobs(2 * THREADS);
    for (int t = 0; t < 2 * THREADS; t++) {
        run_job(&alone[t]);
        assert_int_equal(alone[t].status, DB_OK);
    }
    machine_reset();
    return 0;
}

static int finish(void **state) {
    (void)state;
    free(alone);
    db_context_destroy(&context);
    db_gang_jobs = 32;
    COUNTED(assert_int_equal(stand_in.live, 0);)
    return 0;
}

static db_gang *gang_of(int cores, int jobs) {
    db_gang *gang;
    db_gang_jobs = jobs;
    if (db_gang_create(context, cores, &gang) != DB_OK) fail_msg("%s", db_context_message(context));
    assert_non_null(gang);
    return gang;
}

static void same_as_alone(const job *j) {
    const job *const expected = &alone[j->number];
    if (j->status != DB_OK) fail_msg("job %d: %s", j->number, j->message);
    assert_memory_equal(j->solution, expected->solution, sizeof j->solution);
    assert_memory_equal(j->normal, expected->normal, sizeof j->normal);
    assert_memory_equal(j->image, expected->image, sizeof j->image);
    assert_memory_equal(j->derivative, expected->derivative, sizeof j->derivative);
    assert_memory_equal(j->boxes_image, expected->boxes_image, sizeof j->boxes_image);
}

/* On one core nobody is waited for but those who still work: everything comes from all of them. */
static void many_jobs_are_one_launch(void **state) {
    (void)state;
    enum { SUBMISSIONS = 2 * ROUNDS + 1 }; /* boxes and images, and the image of the boxes */
    db_gang *gang = gang_of(1, 32);
    job *const jobs = make_jobs(THREADS);
    run_jobs(jobs, THREADS, gang);
    for (int t = 0; t < THREADS; t++) same_as_alone(&jobs[t]);
    COUNTED(assert_int_equal(stand_in.most_jobs, THREADS);)
    COUNTED(assert_int_equal(stand_in.copies_to_device, SUBMISSIONS);)
    COUNTED(assert_int_equal(stand_in.copies_to_host, SUBMISSIONS);)
    COUNTED(
        assert_int_equal(stand_in.waits, SUBMISSIONS + THREADS);) /* a plan that is freed waits */
    /* images and sums of boxes; images with derivatives and without */
    COUNTED(assert_int_equal(stand_in.launches_of_many, 2 * 2 * ROUNDS);)
    COUNTED(assert_int_equal(stand_in.jobs, 3 * ROUNDS * THREADS);)
    free(jobs);
    db_gang_destroy(&gang);
}

static void bits_do_not_depend_on_who_is_together(void **state) {
    (void)state;
    static const int cores[] = { 1, 2, 3, 8 }, wanted[] = { 1, 2, 5 };
    for (int c = 0; c < 4; c++)
        for (int w = 0; w < 3; w++) {
            db_gang *gang = gang_of(cores[c], wanted[w]);
            job *const jobs = make_jobs(2 * THREADS);
            run_jobs(jobs, 2 * THREADS, gang);
            for (int t = 0; t < 2 * THREADS; t++) same_as_alone(&jobs[t]);
            free(jobs);
            db_gang_destroy(&gang);
        }
}

static void nobody_waits_for_threads_that_give_up(void **state) {
    (void)state;
    db_gang *gang = gang_of(1, 32);
    job *const jobs = make_jobs(THREADS);
    jobs[1].fails_at = 0;
    jobs[2].fails_at = 1;
    jobs[5].fails_at = 2;
    run_jobs(jobs, THREADS, gang);
    for (int t = 0; t < THREADS; t++) {
        if (jobs[t].fails_at < 0) {
            same_as_alone(&jobs[t]);
        } else {
            assert_int_equal(jobs[t].status, DB_ERROR_INPUT);
            assert_string_equal(jobs[t].message, "gives up");
        }
    }
    free(jobs);
    db_gang_destroy(&gang);
}

#if !defined(DB_ON_GPU)
static int failures(const job *jobs, int count) {
    int failed = 0;
    for (int t = 0; t < count; t++) {
        if (jobs[t].status == DB_OK) {
            same_as_alone(&jobs[t]);
            continue;
        }
        failed++;
        assert_true(jobs[t].status == DB_ERROR_DEVICE || jobs[t].status == DB_ERROR_MEMORY);
        assert_non_null(strstr(jobs[t].message, "cuda:0"));
    }
    return failed;
}

static void whatever_fails_its_owners_are_told_slow(void **state) {
    (void)state;
    enum { STEP = 5 };
    int together = 0; /* a failure that met all */
    for (long n = 0;; n += STEP) {
        db_gang *gang = gang_of(1, 32);
        job *const jobs = make_jobs(THREADS);
        stand_in.calls_until_failure = n;
        run_jobs(jobs, THREADS, gang);
        const int over = stand_in.calls_until_failure >= 0;
        stand_in.calls_until_failure = -1;
        const int failed = failures(jobs, THREADS);
        together |= failed == THREADS;
        assert_true(over ? failed == 0 : 1);
        free(jobs);
        db_gang_destroy(&gang);
        if (over) break;
    }
    assert_true(together);
}

static void a_final_failure_is_told_to_all(void **state) {
    (void)state;
    db_gang *gang = gang_of(1, 32);
    job *const jobs = make_jobs(THREADS);
    run_jobs(jobs, THREADS, gang);
    stand_in.calls_until_failure = stand_in.calls / 2;
    stand_in.failure = cudaErrorIllegalAddress;
    run_jobs(jobs, THREADS, gang);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(jobs[t].status, DB_ERROR_DEVICE);
        assert_non_null(strstr(jobs[t].message, "this process cannot use the GPU any more"));
    }
    free(jobs);
    db_gang_destroy(&gang);
    stand_in_reset();
}
#endif

/* Of one thread alone, which is its own gang. */
static void plans_that_do_not_suit_go_their_own_way(void **state) {
    (void)state;
    enum { LONG = 1500 };
    db_gang *gang = gang_of(1, 32);
    db_experiment e;
    small_crystal(context, LONG, LONG, 20, &e);
    db_plan *plan = small_plan(context, &e, DB_PRECISION_MIXED, NULL, 0);
    float *expected = calloc((size_t)LONG * LONG, sizeof *expected),
          *image = calloc((size_t)LONG * LONG, sizeof *image);
    assert_true(expected && image);
    assert_int_equal(db_plan_forward(plan, expected), DB_OK);
    context->gang = gang;
    e.crystal.misset[0] += 1;
    assert_int_equal(db_plan_update(plan, &e), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_memory_not_equal(image, expected, (size_t)LONG * LONG * sizeof *image);
    e.crystal.misset[0] -= 1;
    assert_int_equal(db_plan_update(plan, &e), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_memory_equal(image, expected, (size_t)LONG * LONG * sizeof *image);
    COUNTED(assert_int_equal(stand_in.launches_of_many, 0);)
    free(expected);
    free(image);
    db_plan_destroy(&plan);
    db_experiment_clear(&e);
    context->gang = NULL;
    db_gang_destroy(&gang);
}

/* Shots of a batch: images, and derivatives along a direction of each. */
enum { SHOTS = 40, WIDE = 48 };
typedef struct batch_result {
    float image[SHOTS][WIDE * WIDE], tangent[SHOTS][WIDE * WIDE];
} batch_result;

static db_experiment batch_shot[SHOTS];
static double batch_direction[SHOTS][SOME];
static db_plan_vector batch_vector[SHOTS];
static const db_experiment *batch_list[SHOTS];

static void make_batch_shots(const db_experiment *e) {
    for (int i = 0; i < SHOTS; i++) {
        const db_plan_vector none = DB_PLAN_VECTOR_INIT;
        batch_shot[i] = *e; /* borrows its lists */
        batch_shot[i].crystal.misset[1] += 0.7 * i;
        for (int k = 0; k < SOME; k++) batch_direction[i][k] = 1 + 0.1 * k + 0.01 * i;
        batch_vector[i] = none;
        batch_vector[i].parameters = batch_direction[i];
        batch_list[i] = &batch_shot[i];
    }
}

static void run_plan_by_plan(const db_experiment *e, batch_result *r) {
    db_plan *plan = small_plan(context, e, DB_PRECISION_MIXED, NULL, 0);
    for (int i = 0; i < SHOTS; i++) {
        assert_int_equal(db_plan_update(plan, &batch_shot[i]), DB_OK);
        assert_int_equal(db_plan_jvp_all(plan, &batch_vector[i], r->image[i], r->tangent[i]),
                         DB_OK);
        assert_int_equal(db_plan_forward(plan, r->image[i]), DB_OK);
    }
    db_plan_destroy(&plan);
}

static db_plan_batch *batch_of(const db_experiment *e) {
    db_plan_batch *batch;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = DB_PRECISION_MIXED;
    options.parameters = some;
    options.parameter_count = SOME;
    assert_int_equal(db_plan_batch_create(context, e, &options, &batch), DB_OK);
    return batch;
}

static db_status run_batch(db_plan_batch *batch, size_t count, batch_result *r) {
    void *image[SHOTS], *tangent[SHOTS];
    for (int i = 0; i < SHOTS; i++) {
        image[i] = r->image[i];
        tangent[i] = r->tangent[i];
    }
    DB_TRY(db_plan_batch_jvp(batch, batch_list, count, batch_vector, image, tangent));
    return db_plan_batch_forward(batch, batch_list, count, image);
}

static void batches_are_plans_bit_for_bit(void **state) {
    (void)state;
    static batch_result expected, found;
    db_experiment e;
    small_crystal(context, WIDE, WIDE, 8, &e);
    make_batch_shots(&e);
    run_plan_by_plan(&e, &expected);
    assert_int_equal(db_context_set_threads(context, 2), DB_OK);
    for (size_t count = SHOTS; count > 0; count /= 3) {
        db_plan_batch *batch = batch_of(&e);
        memset(&found, 0, sizeof found);
        machine_reset();
        if (run_batch(batch, count, &found) != DB_OK) fail_msg("%s", db_context_message(context));
        assert_memory_equal(found.image, expected.image, count * sizeof *found.image);
        assert_memory_equal(found.tangent, expected.tangent, count * sizeof *found.tangent);
        COUNTED(assert_true(stand_in.most_jobs >= (count == SHOTS ? 30 : 0));)
        COUNTED(assert_true(count == 1 || stand_in.most_jobs > 1);)
        db_plan_batch_destroy(&batch);
    }
    db_experiment_clear(&e);
}

#if !defined(DB_ON_GPU)
static void a_batch_tells_which_shot_failed(void **state) {
    (void)state;
    static batch_result found;
    db_experiment e;
    small_crystal(context, WIDE, WIDE, 8, &e);
    make_batch_shots(&e);
    assert_int_equal(db_context_set_threads(context, 2), DB_OK);
    db_plan_batch *batch = batch_of(&e);
    machine_reset();
    assert_int_equal(run_batch(batch, SHOTS, &found), DB_OK);
    stand_in.calls_until_failure = 5;
    stand_in.failure = cudaErrorLaunchOutOfResources;
    assert_int_equal(run_batch(batch, SHOTS, &found), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "shot "));
    assert_non_null(strstr(db_context_message(context), "cuda:0: "));
    machine_reset();
    assert_int_equal(run_batch(batch, SHOTS, &found), DB_OK);
    batch_shot[11].beam.wavelength = -1;
    assert_int_equal(run_batch(batch, SHOTS, &found), DB_ERROR_INPUT);
    assert_memory_equal(db_context_message(context), "shot 11: ", 9);
    db_plan_batch_destroy(&batch);
    db_experiment_clear(&e);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_jobs_are_one_launch, start, finish),
        cmocka_unit_test_setup_teardown(bits_do_not_depend_on_who_is_together, start, finish),
        cmocka_unit_test_setup_teardown(nobody_waits_for_threads_that_give_up, start, finish),
#if !defined(DB_ON_GPU)
        cmocka_unit_test_setup_teardown(whatever_fails_its_owners_are_told_slow, start, finish),
        cmocka_unit_test_setup_teardown(a_final_failure_is_told_to_all, start, finish),
        cmocka_unit_test_setup_teardown(a_batch_tells_which_shot_failed, start, finish),
#endif
        cmocka_unit_test_setup_teardown(batches_are_plans_bit_for_bit, start, finish),
        cmocka_unit_test_setup_teardown(plans_that_do_not_suit_go_their_own_way, start, finish)
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
