/* Boxes of a device that fails: a message, or the processor's results, and no image older than what was asked for. */
#include "boxes_and_images.h"

/* Whichever call of the runtime fails: a status and a message; with "auto" the processor's results. */
static void any_call_may_fail_slow(void **state) {
    (void)state;
    scene s = scene_of(processor, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    fill_rules(0);
    q.solve = 1;
    q.sums = DB_BOXES_NORMAL;
    q.kept = DB_LINEAR;
    sums expected = sum_boxes(&s, &q);
    for (int automatic = 0; automatic < 2; automatic++) {
        long failures = 0;
        for (long n = 0;; n++) {
            machine_begin_again(&device, automatic ? "auto" : "cuda");
            db_plan *own = plan_of(device, DB_PRECISION_DOUBLE);
            db_boxes *boxes = boxes_of(own);
            sums found;
            const float *image;
            found.result = calloc(BOXES * db_boxes_room(q.most), sizeof(double));
            assert_non_null(found.result);
            stand_in.calls_until_failure = n;
            db_status status = DB_OK;
            for (int round = 0; round < 3 && status == DB_OK; round++) {
                db_boxes_request now = q;
                if (round == 1) now.image = DB_BOXES_AS_BEFORE;
                if (round == 2) give_data(boxes);
                memcpy(found.solution, first_solution, sizeof found.solution);
                status = db_boxes_evaluate(boxes, &now, found.solution, found.result);
            }
            if (status == DB_OK) status = db_boxes_image_of(boxes, &image);
            const int unharmed = stand_in.calls_until_failure >= 0;
            stand_in.calls_until_failure = -1;
            failures += !unharmed;
            if (status == DB_OK)
                compare(&q, &found, &expected, &expected, 1e-6); /* images are rounded to float */
            else
                assert_true(!automatic && (status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE));
            free(found.result);
            db_boxes_destroy(&boxes);
            db_plan_destroy(&own);
            if (unharmed) break;
        }
        assert_true(failures > 20);
    }
    free(expected.result);
    scene_clear(&s);
}

/* Images that come to the host may be sooner made by the processor where sums of boxes are not. */
static void auto_asks_again_for_boxes(void **state) {
    (void)state;
    for (int faster = 0; faster < 2; faster++) {
        assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
        db_cuda_predicted = (db_cuda_pace){ .call = 1, .boxes = faster ? -1 : 1 };
        db_plan *plan = plan_of(device, DB_PRECISION_MIXED);
        assert_string_equal(db_plan_device(plan), "cpu");
        assert_non_null(strstr(db_context_device_note(device), "for an image"));
        db_boxes *boxes = boxes_of(plan);
        assert_string_equal(db_plan_device(plan), faster ? "cuda:0" : "cpu");
        if (!faster) assert_non_null(strstr(db_context_device_note(device), "2e+03 ms"));
        if (faster) assert_string_equal(db_context_device_note(device), "");
        db_boxes_destroy(&boxes);
        db_plan_destroy(&plan);
    }
    machine_takes_all();
}

/* An image that was lost with its device is rendered again, unless the plan has other values since. */
static void a_lost_image_is_that_of_the_evaluation(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        const int moved = way == 1, asked = way == 2; /* for the image alone */
        const float *image;
        scene s = scene_of(processor, DB_PRECISION_DOUBLE);
        db_boxes_request q = request_of(&losses[0]);
        db_box_solution solution[BOXES];
        fill_rules(0);
        machine_begin_again(&device, "auto");
        db_plan *own = plan_of(device, DB_PRECISION_DOUBLE);
        db_boxes *boxes = boxes_of(own);
        memcpy(solution, first_solution, sizeof solution);
        q.image = DB_BOXES_IMAGE;
        q.solve = 1;
        assert_int_equal(db_boxes_evaluate(boxes, &q, solution, NULL), DB_OK);
        assert_string_equal(db_plan_device(own), "cuda:0");
        db_experiment turned = experiment; /* borrows */
        turned.crystal.misset[0] += 0.1;
        if (moved) assert_int_equal(db_plan_update(own, &turned), DB_OK);
        q.image = DB_BOXES_AS_BEFORE;
        stand_in.calls_until_failure = 0;
        const db_status status =
            asked ? db_boxes_image_of(boxes, &image) : db_boxes_evaluate(boxes, &q, solution, NULL);
        stand_in.calls_until_failure = -1;
        assert_int_equal(status, moved ? DB_ERROR_DEVICE : DB_OK);
        assert_string_equal(db_plan_device(own), "cpu");
        if (moved) assert_non_null(strstr(db_context_message(device), "other values"));
        assert_int_equal(db_boxes_image_of(boxes, &image), moved ? DB_ERROR_DEVICE : DB_OK);
        for (int b = 0; b < BOXES && !moved; b++)
            assert_memory_equal(image + region[b].offset, s.image + region[b].offset,
                                (size_t)region[b].fast_count * sizeof *image);
        db_boxes_destroy(&boxes);
        db_plan_destroy(&own);
        scene_clear(&s);
    }
}

/* What was to be rendered, and was not, is rendered by the evaluation that needs it. */
static void no_image_is_older_than_the_last_evaluation(void **state) {
    (void)state;
    scene s = scene_of(device, DB_PRECISION_DOUBLE);
    db_boxes_request q = request_of(&losses[1]);
    db_box_solution solution[BOXES];
    const float *image;
    fill_rules(0);
    memcpy(solution, first_solution, sizeof solution);
    q.image = DB_BOXES_IMAGE;
    q.solve = 1;
    assert_int_equal(db_boxes_evaluate(s.boxes, &q, solution, NULL), DB_OK);
    for (int asked = 0; asked < 2; asked++) {
        experiment.crystal.misset[0] += 0.3;
        assert_int_equal(db_plan_update(s.plan, &experiment), DB_OK);
        q.image = DB_BOXES_DERIVATIVES;
        stand_in.calls_until_failure = 0;
        assert_int_not_equal(db_boxes_evaluate(s.boxes, &q, solution, NULL), DB_OK);
        stand_in.calls_until_failure = -1;
        render(&s);
        if (asked) assert_int_equal(db_boxes_image_of(s.boxes, &image), DB_OK);
        for (int b = 0; b < BOXES && asked; b++)
            assert_memory_equal(image + region[b].offset, s.image + region[b].offset,
                                (size_t)region[b].fast_count * sizeof *image);
        q.image = DB_BOXES_AS_BEFORE;
        q.sums = DB_BOXES_NORMAL;
        compare_request(&s, &q, 1e-9);
        q.sums = DB_BOXES_NO_SUMS;
    }
    scene_clear(&s);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(a_lost_image_is_that_of_the_evaluation),
        TEST(no_image_is_older_than_the_last_evaluation),
        TEST(any_call_may_fail_slow),
        TEST(auto_asks_again_for_boxes),
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
