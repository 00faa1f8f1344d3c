/* Boxes on a device: coefficients and sums are those of the processor from the same images for every loss
 * and rule, and what is there stays there. */
#include "boxes_and_images.h"

enum { LOSSES = sizeof losses / sizeof *losses, MOST = DB_BOXES_MOST_VARIABLES };
static const db_link far_links[] = { { 0, 3, 1 }, { 1, MOST - 1, 1 }, { 4, 50, 0.2 } };
static const db_box_links far_lists[] = { { far_links, 3, MOST }, { mixed_links, 4, 3 } };

static void compare_linear(const scene *s, const db_loss *loss, double bound) {
    db_boxes_request q = request_of(loss);
    q.sums = DB_BOXES_LINEAR;
    q.image = DB_BOXES_AS_BEFORE;
    sums expected = sum_boxes(s, &q), found = evaluate(s->boxes, &q);
    for (size_t b = 0; b < BOXES; b++) {
        const db_block_sums *const x = (db_block_sums *)(void *)found.result + b;
        const db_block_sums *const y = (db_block_sums *)(void *)expected.result + b;
        near("loss", b, x->value, y->value, fabs(y->value) + 100, bound);
        for (int k = 0; k < DB_LINEAR; k++) {
            const double own = sqrt(y->normal[k * DB_LINEAR + k]);
            near("slope", b, x->gradient[k], y->gradient[k], 100 * own + fabs(y->gradient[k]),
                 bound);
            for (int l = 0; l <= k; l++)
                near("bend", b, x->normal[k * DB_LINEAR + l], y->normal[k * DB_LINEAR + l],
                     own * sqrt(y->normal[l * DB_LINEAR + l]), bound);
        }
    }
    free(expected.result);
    free(found.result);
}

/* At given coefficients, then at the best ones, where iterations end within 1e-10 of the loss. */
static void compare_all(db_context *context, db_precision precision, double sum_bound,
                        double solution_bound) {
    static const size_t kept[] = { 0, 1, DB_LINEAR };
    scene s = scene_of(context, precision);
    assert_string_equal(db_plan_device(s.plan), context == device ? "cuda:0" : "cpu");
    for (int kind = 0; kind < 3; kind++) {
        fill_rules(kind);
        for (int loss = 0; loss < LOSSES; loss++) {
            db_boxes_request q = request_of(&losses[loss]);
            for (int sum = DB_BOXES_GRADIENT; sum <= DB_BOXES_NORMAL; sum++) {
                q.sums = (db_boxes_sums)sum;
                q.kept = kept[(kind + loss) % 3];
                q.solve = 0;
                compare_request(&s, &q, sum_bound);
                q.image = DB_BOXES_AS_BEFORE;
                q.solve = 1;
                compare_request(&s, &q, solution_bound);
            }
            compare_linear(&s, &losses[loss], sum_bound);
        }
    }
    scene_clear(&s);
}

static void sums_are_those_of_the_images(void **state) {
    (void)state;
    compare_all(device, DB_PRECISION_DOUBLE, 1e-12, 1e-9);
    compare_all(device, DB_PRECISION_MIXED, 1e-12, 1e-9);
}

static void sums_of_closed_spots_are_those_of_the_images(void **state) {
    (void)state;
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.01;
    compare_all(device, DB_PRECISION_MIXED, 1e-12, 1e-9);
}

static void sums_of_the_processor_are_those_of_the_images(void **state) {
    (void)state;
    compare_all(processor, DB_PRECISION_MIXED, 0, 0);
}

/* A block's memory has no room for these. */
static void sums_of_many_variables_are_those_of_the_images(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.sums = DB_BOXES_NORMAL;
    q.links = far_lists;
    q.most = MOST;
    compare_request(&s, &q, 1e-12);
    scene_clear(&s);
}

/* What is rendered again, and what is measured anew. */
static void changes_are_seen(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[0]);
    const float *image;
    fill_rules(0);
    q.sums = DB_BOXES_NORMAL;
    compare_request(&s, &q, 1e-12);
    experiment.crystal.misset[0] += 0.3;
    assert_int_equal(db_plan_update(s.plan, &experiment), DB_OK);
    render(&s);
    compare_request(&s, &q, 1e-12);
    assert_int_equal(db_boxes_image_of(s.boxes, &image), DB_OK);
    for (size_t b = 0; b < BOXES; b++)
        for (int i = 0; i < region[b].slow_count; i++)
            assert_memory_equal(image + region[b].offset + (size_t)i * region[b].stride,
                                s.image + region[b].offset + (size_t)i * region[b].stride,
                                (size_t)region[b].fast_count * sizeof *image);
    for (size_t i = 0; i < pixels; i++) {
        value[i] += 3;
        offset[i] = 0;
    }
    db_box_data data = DB_BOX_DATA_INIT;
    data.value = value;
    data.weight = weight;
    data.shape_variance = shape_variance;
    assert_int_equal(db_boxes_set_data(s.boxes, &data), DB_OK);
    q.image = DB_BOXES_AS_BEFORE;
    q.solve = 1;
    compare_request(&s, &q, 1e-9);
    scene_clear(&s);
}

/* Boxes that come after others of the same plan have data of their own. */
static void later_boxes_have_their_own_data(void **state) {
    (void)state;
    for (int much = 0; much < 2; much++) {
        if (much) {
            region[BOXES - 1].offset += GAP;
            pixels += GAP;
        }
        scene s = scene_of(device, DB_PRECISION_DOUBLE);
        db_boxes_request q = request_of(&losses[1]);
        fill_rules(0);
        q.sums = DB_BOXES_NORMAL;
        compare_request(&s, &q, 1e-12);
        db_boxes_destroy(&s.boxes);
        for (size_t i = 0; i < pixels; i++) value[i] += 3;
        s.boxes = boxes_of(s.plan);
        compare_request(&s, &q, 1e-12);
        scene_clear(&s);
    }
}

/* Two boxes of a plan have data of their own; an image that the other ones took is rendered again, or missed. */
static void boxes_of_one_plan_are_told_apart(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    db_box_solution solution[BOXES];
    static float other[PIXELS];
    const float *image;
    db_boxes *second;
    db_box_data data = DB_BOX_DATA_INIT;
    data.value = other;
    data.weight = weight;
    data.shape_variance = shape_variance;
    assert_int_equal(db_boxes_create(s.plan, &second), DB_OK);
    assert_int_equal(db_boxes_set_data(second, &data), DB_OK);
    fill_rules(0);
    memcpy(solution, first_solution, sizeof solution);
    q.sums = DB_BOXES_NORMAL;
    compare_request(&s, &q, 1e-12);
    q.image = DB_BOXES_IMAGE;
    q.sums = DB_BOXES_NO_SUMS;
    q.solve = 1;
    assert_int_equal(db_boxes_evaluate(second, &q, solution, NULL), DB_OK);
    q.image = DB_BOXES_AS_BEFORE;
    q.sums = DB_BOXES_NORMAL;
    q.solve = 0;
    compare_request(&s, &q, 1e-12);
    q.image = DB_BOXES_DERIVATIVES;
    compare_request(&s, &q, 1e-12);
    experiment.crystal.misset[0] += 0.3;
    assert_int_equal(db_plan_update(s.plan, &experiment), DB_OK);
    q.image = DB_BOXES_IMAGE;
    q.sums = DB_BOXES_NO_SUMS;
    q.solve = 1;
    assert_int_equal(db_boxes_evaluate(second, &q, solution, NULL), DB_OK);
    q.image = DB_BOXES_AS_BEFORE;
    assert_int_equal(db_boxes_evaluate(s.boxes, &q, solution, NULL), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(device), "other boxes of the plan"));
    assert_int_equal(db_boxes_image_of(s.boxes, &image), DB_ERROR_DEVICE);
    db_boxes_destroy(&second);
    scene_clear(&s);
}

/* Arrays that are too long to be copied with all else. */
static void much_data_are_copied_on_their_own(void **state) {
    (void)state;
    region[BOXES - 1].offset += GAP;
    pixels += GAP;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.sums = DB_BOXES_NORMAL;
    compare_request(&s, &q, 1e-12);
    for (size_t i = 0; i < pixels; i++) value[i] += 2;
    give_data(s.boxes);
    q.image = DB_BOXES_AS_BEFORE;
    compare_request(&s, &q, 1e-12);
    scene_clear(&s);
}

static void what_cannot_be_is_said(void **state) {
    (void)state;
    db_plan *own = plan_of(device, DB_PRECISION_DOUBLE);
    db_boxes *boxes;
    db_box_solution solution[BOXES];
    static double sum[BOXES * 200];
    db_box_data data = DB_BOX_DATA_INIT;
    db_boxes_request q = request_of(&losses[0]);
    fill_rules(0);
    memcpy(solution, first_solution, sizeof solution);
    assert_int_equal(db_boxes_create(own, &boxes), DB_OK);
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "expected data, found none"));
    assert_int_equal(db_boxes_set_data(boxes, &data), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "found NULL for the values"));
    db_boxes_destroy(&boxes);
    boxes = boxes_of(own);
    q.image = DB_BOXES_AS_BEFORE;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "nothing has been rendered"));
    q.image = DB_BOXES_IMAGE;
    q.sums = DB_BOXES_NORMAL;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, sum), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "need derivatives"));
    q.image = DB_BOXES_DERIVATIVES;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_ERROR_USAGE);
    q.link_lists = 1;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, sum), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(device), "a list of links that there is not"));
    q.link_lists = 2;
    q.most = 5;
    assert_int_equal(db_boxes_evaluate(boxes, &q, solution, sum), DB_ERROR_USAGE);
    db_boxes_destroy(&boxes);
    db_plan_destroy(&own);
    db_plan_options wide = DB_PLAN_OPTIONS_INIT;
    wide.pixel_type = DB_FLOAT64;
    assert_int_equal(db_plan_create(device, &experiment, &wide, &own), DB_OK);
    assert_int_equal(db_boxes_create(own, &boxes), DB_ERROR_USAGE);
    assert_null(boxes);
    db_plan_destroy(&own);
}

#if !defined(DB_ON_GPU)
/* An evaluation copies parameters there and sums back, nothing else. */
static void evaluations_make_one_copy(void **state) {
    (void)state;
    db_plan *own = plan_of(device, DB_PRECISION_MIXED);
    measure(own);
    db_boxes *boxes = boxes_of(own);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.solve = 1;
    q.sums = DB_BOXES_NORMAL;
    sums s = evaluate(boxes, &q);
    free(s.result);
    experiment.crystal.misset[1] += 0.1;
    assert_int_equal(db_plan_update(own, &experiment), DB_OK);
    const stand_in_state before = stand_in;
    s = evaluate(boxes, &q);
    assert_int_equal(stand_in.copies_to_host - before.copies_to_host, 1);
    assert_int_equal(stand_in.copies_to_device - before.copies_to_device, 2); /* for each launch */
    assert_int_equal(stand_in.waits - before.waits, 1);
    assert_int_equal(stand_in.launches - before.launches, 2); /* images, boxes */
    assert_int_equal(stand_in.allocations, before.allocations);
    free(s.result);
    /* what was measured comes with what the boxes are told */
    value[3] += 1;
    give_data(boxes);
    const stand_in_state old = stand_in;
    s = evaluate(boxes, &q);
    assert_int_equal(stand_in.copies_to_device - old.copies_to_device, 1);
    assert_true(stand_in.bytes_to_device - old.bytes_to_device >= 4 * pixels * sizeof(float));
    assert_int_equal(stand_in.waits - old.waits, 1);
    free(s.result);
    db_boxes_destroy(&boxes);
    db_plan_destroy(&own);
}

/* Data that are too many to come with all else, of boxes that are one behind the other: a copy for each
 * array by way of locked memory, not waited for before the kernels start. */
static void data_are_not_waited_for(void **state) {
    (void)state;
    pixels = GAP;
    for (int b = 0; b < BOXES; b++) {
        region[b].offset = pixels;
        region[b].stride = (size_t)region[b].fast_count;
        pixels += region[b].stride * (size_t)region[b].slow_count;
    }
    db_plan *own = plan_of(device, DB_PRECISION_MIXED);
    measure(own);
    db_boxes *boxes = boxes_of(own);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.solve = 1;
    q.sums = DB_BOXES_NORMAL;
    const stand_in_state before = stand_in;
    free(evaluate(boxes, &q).result);
    assert_in_range(stand_in.copies_to_device - before.copies_to_device, 5, 12);
    assert_in_range(stand_in.waits - before.waits, 1,
                    4); /* for halves of that memory, and results */
    db_boxes_destroy(&boxes);
    db_plan_destroy(&own);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(sums_are_those_of_the_images),
        TEST(sums_of_closed_spots_are_those_of_the_images),
        TEST(sums_of_the_processor_are_those_of_the_images),
        TEST(sums_of_many_variables_are_those_of_the_images),
        TEST(changes_are_seen),
        TEST(later_boxes_have_their_own_data),
        TEST(boxes_of_one_plan_are_told_apart),
        TEST(much_data_are_copied_on_their_own),
        TEST(what_cannot_be_is_said),
#if !defined(DB_ON_GPU)
        TEST(evaluations_make_one_copy),
        TEST(data_are_not_waited_for),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
