/* Memory of a device: what may stay there, what calls copy, what plans leave for later ones, and where it ends. */
#include "wide_plans.h"

/* Images on the device: nothing is copied to the host. */
static void images_may_stay_on_the_device(void **state) {
    (void)state;
    const db_region region = { 0, 3, 2, 270, 4, 2 * FAST + 3, FAST };
    for (int part = 0; part < 2; part++) {
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        if (part) {
            options.regions = &region;
            options.region_count = 1;
        }
        db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
        const size_t pixels = db_plan_pixels(plan), bytes = pixels * sizeof(float);
        result expected = result_create(pixels), found = result_create(pixels);
        void *there[SOME + 1];
        for (int k = 0; k <= SOME; k++) {
            assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, bytes, &there[k]), DB_OK);
            assert_int_equal(db_plan_memory_write(own, there[k], found.image, bytes), DB_OK);
        }
        assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                         DB_OK);
        assert_int_equal(db_plan_gradient(own, there[0], there + 1), DB_OK);
        machine_reset();
        assert_int_equal(db_plan_gradient(own, there[0], there + 1), DB_OK);
        COUNTED(assert_int_equal(stand_in.launches, 1);)
        COUNTED(assert_int_equal(stand_in.bytes_to_device, 0);)
        COUNTED(assert_int_equal(stand_in.bytes_to_host, 0);)
        COUNTED(assert_int_equal(stand_in.asked, SOME + 1);)
        assert_int_equal(db_plan_memory_read(own, there[0], found.image, bytes), DB_OK);
        expect_near(found.image, expected.image, pixels, 2e-7);
        for (int k = 0; k < SOME; k++) {
            assert_int_equal(db_plan_memory_read(own, there[k + 1], found.derivative[k], bytes),
                             DB_OK);
            expect_near(found.derivative[k], expected.derivative[k], pixels, 2e-7);
        }
        /* the image on the device, derivatives on the host */
        memset(found.derivative[1], 0, bytes);
        assert_int_equal(db_plan_gradient(own, there[0], (void *const *)found.derivative), DB_OK);
        for (int k = 0; k < SOME; k++)
            expect_near(found.derivative[k], expected.derivative[k], pixels, 2e-7);
        for (int k = 0; k <= SOME; k++) db_plan_memory_destroy(own, &there[k]);
        result_destroy(&expected);
        result_destroy(&found);
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
}

static void warm_calls_copy_what_changed(void **state) {
    (void)state;
    give_list(0);
    db_plan *plan = plan_of(device, defaults());
    result r = result_create(PIXELS);
    void *const *derivatives = (void *const *)r.derivative;
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    COUNTED(assert_int_equal(stand_in.bytes_to_host, PIXELS * sizeof(float));)
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
    machine_reset();
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    COUNTED(assert_int_equal(stand_in.bytes_to_host, (SOME + 1) * PIXELS * sizeof(float));)
    COUNTED(assert_int_equal(stand_in.copies_to_host, 1);) /* of all images */
    COUNTED(assert_in_range(stand_in.waits, 1, 2);)
    COUNTED(assert_int_equal(stand_in.launches, 1);)
    /* the same values again are no change */
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    /* the crystal: a sample and the coefficients of five parameters, not the list */
    experiment.crystal.misset[0] += 0.01;
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    COUNTED(assert_in_range(stand_in.copies_to_device, 1, 2);)
    COUNTED(assert_in_range(stand_in.bytes_to_device, 1, 4096);)
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
    /* the scale is in the arguments of the kernel */
    experiment.beam.fluence *= 2;
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    /* the list */
    experiment.structure_factors.amplitude[5] += 1;
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 1);)
    COUNTED(assert_int_equal(stand_in.bytes_to_device, (41 * 41 * 41 + 1) * sizeof(double));)
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
    result_destroy(&r);
    db_plan_destroy(&plan);
}

/* Data and weights may be here or there, in any combination; those there are not copied. */
static void data_may_be_on_the_device(void **state) {
    (void)state;
    const db_region region[2] = { { 0, 3, 2, 100, 4, 2 * FAST + 3, FAST },
                                  { 0, 150, 1, 20, 5, FAST + 150, FAST } };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.regions = region;
    options.region_count = 2;
    db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
    const size_t pixels = db_plan_pixels(plan), bytes = pixels * sizeof(float);
    float *data = malloc(bytes), *weight = malloc(bytes);
    assert_true(data && weight);
    for (size_t i = 0; i < pixels; i++) {
        data[i] = (float)(i % 13);
        weight[i] = i % 3 ? 0.5F : 0;
        if (weight[i] == 0) data[i] = NAN;
    }
    equations expected, found;
    assert_int_equal(normal(plan, data, weight, &expected), DB_OK);
    void *data_there, *weight_there;
    assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, bytes, &data_there), DB_OK);
    assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, bytes, &weight_there), DB_OK);
    assert_int_equal(db_plan_memory_write(own, data_there, data, bytes), DB_OK);
    assert_int_equal(db_plan_memory_write(own, weight_there, weight, bytes), DB_OK);
    double first = 0;
    for (int way = 0; way < 4; way++) {
        const float *const d = way & 1 ? data_there : data, *const w =
                                                                way & 2 ? weight_there : weight;
        assert_int_equal(normal(own, d, w, &found), DB_OK);
        assert_true(fabs(found.chi2 - expected.chi2) <= 1e-12 * expected.chi2);
        if (way == 0) first = found.chi2;
        assert_true(found.chi2 == first); /* the same bits */
        for (int i = 0; i < SOME * SOME; i++)
            assert_true(fabs(found.curvature[i] - expected.curvature[i]) <=
                        1e-12 * sqrt(expected.curvature[i / SOME * (SOME + 1)] *
                                     expected.curvature[i % SOME * (SOME + 1)]));
    }
    machine_reset();
    assert_int_equal(normal(own, data_there, weight_there, &found), DB_OK);
    COUNTED(assert_int_equal(stand_in.bytes_to_device, 0);)
    COUNTED(assert_in_range(stand_in.asked, 2, 6);)
    COUNTED(assert_int_equal(stand_in.copies_to_host, 1);)
    COUNTED(assert_int_equal(stand_in.launches, 2);)
    /* what is wrong with data is found wherever they are */
    data[2 * FAST + 8] = INFINITY;
    weight[2 * FAST + 8] = 1;
    assert_int_equal(db_plan_memory_write(own, data_there, data, bytes), DB_OK);
    assert_int_equal(db_plan_memory_write(own, weight_there, weight, bytes), DB_OK);
    assert_int_equal(normal(own, data_there, weight_there, &found), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "data of pixel (8, 2)"));
    db_plan_memory_destroy(own, &data_there);
    db_plan_memory_destroy(own, &weight_there);
    free(data);
    free(weight);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

/* Image and derivatives of regions in one copy, to any kind of memory of the host, one behind the
 * other or not. */
static void images_come_together(void **state) {
    (void)state;
    enum { BOXES = 30, BOX = 13 * 7, ALL = BOXES * BOX };
    db_region region[BOXES];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    for (int i = 0; i < BOXES; i++)
        region[i] = (db_region){ 0, 9 * i, i % 5, 13, 7, (size_t)i * BOX, 13 };
    options.regions = region;
    options.region_count = BOXES;
    for (int gaps = 0; gaps < 2; gaps++) {
        for (int i = 0; i < BOXES && gaps; i++) region[i].offset += (size_t)i * 3;
        db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
        const size_t pixels = db_plan_pixels(plan);
        result expected = result_create(pixels), scattered = result_create(pixels);
        void *locked;
        float *image[SOME + 1];
        assert_int_equal(db_plan_memory_create(own, DB_MEMORY_HOST,
                                               (SOME + 1) * pixels * sizeof(float), &locked),
                         DB_OK);
        memset(locked, 0, (SOME + 1) * pixels * sizeof(float));
        for (size_t k = 0; k <= SOME; k++) image[k] = (float *)locked + k * pixels;
        assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                         DB_OK);
        machine_reset();
        assert_int_equal(
            db_plan_gradient(own, scattered.image, (void *const *)scattered.derivative), DB_OK);
        COUNTED(assert_int_equal(stand_in.copies_to_host, 1);)
        machine_reset();
        assert_int_equal(db_plan_gradient(own, image[0], (void *const *)(image + 1)), DB_OK);
        COUNTED(if (!gaps) assert_int_equal(stand_in.copies_to_host, 1);)
        expect_near(scattered.image, expected.image, pixels, 2e-7);
        expect_near(image[0], expected.image, pixels, 2e-7);
        for (int k = 0; k < SOME; k++) {
            expect_near(scattered.derivative[k], expected.derivative[k], pixels, 2e-7);
            assert_memory_equal(image[k + 1], scattered.derivative[k], pixels * sizeof(float));
        }
        db_plan_memory_destroy(own, &locked);
        result_destroy(&expected);
        result_destroy(&scattered);
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
}

/* Locked memory of the host is copied as it is. */
static void locked_memory_serves(void **state) {
    (void)state;
    db_plan *plan = plan_of(device, defaults());
    float image[PIXELS];
    void *locked;
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_HOST, sizeof image, &locked), DB_OK);
    memset(locked, 0, sizeof image);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_int_equal(db_plan_forward(plan, locked), DB_OK);
    assert_memory_equal(image, locked, sizeof image);
    db_plan_memory_destroy(plan, &locked);
    db_plan_destroy(&plan);
}

/* Larger than what a copy takes at a time. */
static void large_images_come_in_pieces(void **state) {
    (void)state;
    experiment.detector.panels[0].fast_pixels = 1500;
    experiment.detector.panels[0].slow_pixels = 1501;
    experiment.detector.panels[0].pixel_size[0] = experiment.detector.panels[0].pixel_size[1] =
        0.05;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.pixel_type = DB_FLOAT64;
    const db_region region = { 0, 1, 1, 1498, 1499, 1501, 1500 };
    db_plan *plan, *own;
    const size_t pixels = 1500 * 1501;
    double *image = calloc(pixels, sizeof *image), *found = calloc(pixels, sizeof *found);
    assert_true(image && found);
    for (int part = 0; part < 2; part++) {
        if (part) {
            options.regions = &region;
            options.region_count = 1;
        }
        plan = plan_of(processor, options);
        own = plan_of(device, options);
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        assert_int_equal(db_plan_forward(own, found), DB_OK);
        for (size_t i = 0; i < pixels; i++) assert_true(fabs(found[i] - image[i]) <= 1e-12 * 1e3);
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
    free(image);
    free(found);
}

/* Images that are laid out as the caller's, because one of them stays there. */
static void large_images_beside_one_that_stays(void **state) {
    (void)state;
    enum { WIDTH = 1000, HEIGHT = 1100, ALL = WIDTH * HEIGHT }; /* 8.8 MB */
    static const db_parameter scale = DB_SCALE;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan[2];
    double *image[2];
    experiment.detector.panels[0].fast_pixels = WIDTH;
    experiment.detector.panels[0].slow_pixels = HEIGHT;
    experiment.detector.panels[0].pixel_size[0] = experiment.detector.panels[0].pixel_size[1] =
        0.05;
    options.pixel_type = DB_FLOAT64;
    options.parameters = &scale;
    options.parameter_count = 1;
    for (int i = 0; i < 2; i++) {
        image[i] = calloc(ALL, sizeof(double));
        assert_non_null(image[i]);
        assert_int_equal(db_plan_create(i ? device : processor, &experiment, &options, &plan[i]),
                         DB_OK);
    }
    void *there;
    assert_int_equal(db_plan_memory_create(plan[1], DB_MEMORY_DEVICE, ALL * sizeof(double), &there),
                     DB_OK);
    assert_int_equal(db_plan_forward(plan[0], image[0]), DB_OK);
    assert_int_equal(db_plan_gradient(plan[1], image[1], &there), DB_OK);
    for (int i = 0; i < ALL; i++) assert_true(fabs(image[1][i] - image[0][i]) <= 1e-12 * 1e3);
    db_plan_memory_destroy(plan[1], &there);
    for (int i = 0; i < 2; i++) {
        db_plan_destroy(&plan[i]);
        free(image[i]);
    }
}

#if !defined(DB_ON_GPU)
/* A plan uses stream, events and memory of one that is gone, and their results do not mix. */
static void a_plan_takes_what_another_has_left(void **state) {
    (void)state;
    static const db_region region = { 0, 3, 2, 270, 4, 2 * FAST + 3, FAST };
    db_plan_options part = DB_PLAN_OPTIONS_INIT;
    part.regions = &region;
    part.region_count = 1;
    result expected = result_create(PIXELS), r = result_create(PIXELS);
    void *const *derivatives = (void *const *)r.derivative;
    give_list(0);
    db_plan *plan = plan_of(processor, defaults());
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    db_plan_destroy(&plan);
    for (int round = 0; round < 3; round++) {
        if (round) stand_in.allocations = stand_in.waits = stand_in.copies_to_device = 0;
        const size_t live = stand_in.live;
        plan = plan_of(device, part);
        if (round) {
            assert_int_equal(stand_in.waits, 0);
            assert_int_equal(stand_in.copies_to_device, 1); /* of the regions */
        }
        assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
        db_plan_destroy(&plan);
        plan = plan_of(device, defaults());
        assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
        for (int k = 0; k < SOME; k++)
            expect_near(r.derivative[k], expected.derivative[k], PIXELS, 2e-7);
        db_plan_destroy(&plan);
        if (!round) continue;
        assert_int_equal(stand_in.allocations, 0);
        assert_int_equal(stand_in.live, live);
    }
    result_destroy(&expected);
    result_destroy(&r);
}

/* No more of them than are of use. */
static void few_plans_are_kept(void **state) {
    (void)state;
    enum { KEPT = 4, MORE = 7 };
    db_plan *plan[MORE];
    size_t live = 0;
    for (int count = KEPT; count <= MORE; count += MORE - KEPT) {
        for (int i = 0; i < count; i++) plan[i] = plan_of(device, defaults());
        for (int i = 0; i < count; i++) db_plan_destroy(&plan[i]);
        if (count == KEPT) live = stand_in.live;
        assert_int_equal(stand_in.live, live);
    }
}

/* Pixels are numbered by 31 bits. */
static void too_many_pixels_are_refused(void **state) {
    (void)state;
    db_plan *plan;
    experiment.detector.panels[0].fast_pixels = experiment.detector.panels[0].slow_pixels = 50000;
    assert_int_equal(db_plan_create(device, &experiment, NULL, &plan), DB_ERROR_UNSUPPORTED);
    assert_string_equal(db_context_message(device),
                        "cuda:0: a plan of 2500000000 pixels; expected at most 2147483647");
}

/* What waits for later plans is given up where memory is short. */
static void what_is_left_makes_room(void **state) {
    (void)state;
    static double image[SOME + 1][PIXELS];
    void *images[SOME + 1];
    for (int k = 0; k <= SOME; k++) images[k] = image[k];
    db_plan *plan[2];
    for (int i = 0; i < 2; i++) {
        plan[i] = plan_of(device, defaults());
        assert_int_equal(db_plan_gradient(plan[i], images[0], images + 1), DB_OK);
    }
    for (int i = 0; i < 2; i++) db_plan_destroy(&plan[i]);
    stand_in.memory = stand_in.allocated + 4096;
    db_plan_options wide = DB_PLAN_OPTIONS_INIT;
    wide.pixel_type = DB_FLOAT64; /* twice the memory of one of the two */
    plan[0] = plan_of(device, wide);
    const db_status status = db_plan_gradient(plan[0], images[0], images + 1);
    if (status != DB_OK) print_error("%s\n", db_context_message(device));
    assert_int_equal(status, DB_OK);
    db_plan_destroy(&plan[0]);
}

static void memory_of_another_device_is_refused(void **state) {
    (void)state;
    float image[PIXELS] = { 0 };
    void *there;
    equations e;
    db_plan *own = plan_of(device, defaults());
    assert_int_equal(db_context_set_device(device, "cuda:1"), DB_OK);
    db_plan *other = plan_of(device, defaults());
    assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, sizeof image, &there), DB_OK);
    assert_int_equal(db_plan_memory_write(own, there, image, sizeof image), DB_OK);
    assert_int_equal(db_plan_forward(own, there), DB_OK);
    assert_int_equal(db_plan_forward(other, there), DB_ERROR_INPUT);
    assert_string_equal(
        db_context_message(device),
        "cuda:1: the image: expected memory of this GPU or of the host, found memory "
        "of cuda:0");
    assert_int_equal(normal(other, image, there, &e), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "weights: expected memory of this GPU"));
    assert_int_equal(db_plan_forward(other, image), DB_OK);
    /* the processor does not take over, which cannot use it either */
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    assert_string_equal(db_context_device(device), "cuda:0");
    db_plan *either = plan_of(device, defaults());
    void *there_too;
    assert_int_equal(db_plan_memory_create(other, DB_MEMORY_DEVICE, sizeof image, &there_too),
                     DB_OK);
    assert_int_equal(db_plan_forward(either, there_too), DB_ERROR_INPUT);
    assert_string_equal(db_plan_device(either), "cuda:0");
    db_plan_memory_destroy(other, &there_too);
    db_plan_destroy(&either);
    db_plan_memory_destroy(own, &there);
    db_plan_destroy(&own);
    db_plan_destroy(&other);
}

static void memory_that_runs_out_is_said(void **state) {
    (void)state;
    db_plan *plan;
    float *image[SOME + 1];
    for (int k = 0; k <= SOME; k++) image[k] = calloc(PIXELS, sizeof(float));
    stand_in.memory = 4096;
    assert_int_equal(db_plan_create(device, &experiment, NULL, &plan), DB_ERROR_MEMORY);
    assert_null(plan);
    assert_non_null(strstr(db_context_message(device), "out of the GPU's memory"));
    assert_int_equal(stand_in.live, 0);
    /* enough for the image, not for derivatives */
    stand_in.memory = PIXELS * sizeof(float) + 8192;
    plan = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(plan, image[0]), DB_OK);
    assert_int_equal(db_plan_gradient(plan, image[0], (void *const *)(image + 1)), DB_ERROR_MEMORY);
    assert_non_null(strstr(db_context_message(device), "derivative images"));
    assert_int_equal(db_plan_forward(plan, image[0]), DB_OK);
    stand_in.memory = (size_t)1 << 30;
    assert_int_equal(db_plan_gradient(plan, image[0], (void *const *)(image + 1)), DB_OK);
    db_plan_destroy(&plan);
    /* with auto the processor does it */
    db_context_destroy(&device); /* with what the plan has left */
    assert_int_equal(db_context_create(&device), DB_OK);
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    stand_in.memory = PIXELS * sizeof(float) + 8192;
    plan = plan_of(device, defaults());
    assert_string_equal(db_plan_device(plan), "cuda:0");
    assert_int_equal(db_plan_gradient(plan, image[0], (void *const *)(image + 1)), DB_OK);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_non_null(strstr(db_context_device_note(device), "out of the GPU's memory"));
    db_plan_destroy(&plan);
    for (int k = 0; k <= SOME; k++) free(image[k]);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(images_may_stay_on_the_device),
        TEST(warm_calls_copy_what_changed),
        TEST(data_may_be_on_the_device),
        TEST(images_come_together),
        TEST(locked_memory_serves),
        TEST(large_images_come_in_pieces),
        TEST(large_images_beside_one_that_stays),
#if !defined(DB_ON_GPU)
        TEST(a_plan_takes_what_another_has_left),
        TEST(few_plans_are_kept),
        TEST(too_many_pixels_are_refused),
        TEST(what_is_left_makes_room),
        TEST(memory_of_another_device_is_refused),
        TEST(memory_that_runs_out_is_said),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
