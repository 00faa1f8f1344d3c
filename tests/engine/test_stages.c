/* Stages: begun and ended in order on every thread, with the pixels and samples of the image. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/stages.h>

#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, DEEPEST = 8 };

/* Each thread writes to its own row. */
typedef struct {
    const char *open[THREADS][DEEPEST];
    int depth[THREADS], wrong[THREADS], seen[THREADS];
    double pixels[THREADS], samples[THREADS]; /* of kernel stages */
    double rendered, rendered_samples;        /* of render stages */
    int slopes, model, plan;
} record;

static void note(void *user, const db_stage *stage) {
    record *const r = user;
    const int t = stage->thread;
    if (t < 0 || t >= THREADS) abort();
    r->seen[t]++;
    if (stage->begins) {
        if (r->depth[t] == DEEPEST || stage->pixels != 0 || stage->samples != 0)
            r->wrong[t]++;
        else
            r->open[t][r->depth[t]++] = stage->name;
        return;
    }
    if (r->depth[t] == 0 || strcmp(r->open[t][--r->depth[t]], stage->name) != 0) r->wrong[t]++;
    if (strcmp(stage->name, "kernel") == 0) {
        r->pixels[t] += stage->pixels;
        r->samples[t] += stage->samples;
    }
    if (t != 0) return;
    if (strcmp(stage->name, "render") == 0) {
        r->rendered += stage->pixels;
        r->rendered_samples += stage->samples;
    }
    r->slopes += strcmp(stage->name, "slopes") == 0;
    r->model += strcmp(stage->name, "model") == 0;
    r->plan += strcmp(stage->name, "plan") == 0;
}

static double sum(const double *values) {
    double total = 0;
    for (int t = 0; t < THREADS; t++) total += values[t];
    return total;
}

static void stages_add_up_to_the_image(void **state) {
    (void)state;
    db_context *context;
    db_experiment e;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = 50;
        e.crystal.Ncells[i] = 4;
    }
    e.crystal.mosaic_spread = 0.5;
    e.crystal.mosaic_domains = 5;
    e.goniometer.phi_step = 0.3;
    e.goniometer.phi_steps = 3;
    e.oversample = 2;
    e.structure_factors.default_F = 10;
    e.detector.panels[0].fast_pixels = 301;
    e.detector.panels[0].slow_pixels = 203;
    const db_region regions[2] = {
        { .fast_start = 7, .slow_start = 5, .fast_count = 131, .slow_count = 77, .stride = 131 },
        { .fast_start = 200,
          .slow_start = 0,
          .fast_count = 5,
          .slow_count = 9,
          .offset = 131 * 77,
          .stride = 5 }
    };
    const double pixels = 131 * 77 + 5 * 9, samples = pixels * 5 * 3 * 4;
    const db_parameter wanted = DB_CELL_A;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.regions = regions;
    options.region_count = 2;
    options.parameters = &wanted;
    options.parameter_count = 1;
    db_context_set_threads(context, THREADS);
    float *images = calloc(2 * (size_t)pixels, sizeof *images);
    assert_non_null(images);
    void *const derivative = images + (size_t)pixels;

    record r;
    memset(&r, 0, sizeof r);
    db_context_set_stages(context, note, &r);
    db_plan *plan = NULL;
    assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_OK);
    assert_int_equal(r.plan, 1);
    assert_int_equal(r.model, 1);
    assert_int_equal(db_plan_forward(plan, images), DB_OK);
    assert_true(sum(r.pixels) == pixels && sum(r.samples) == samples);
    assert_true(r.rendered == pixels && r.rendered_samples == samples);
    assert_int_equal(r.slopes, 0);
    assert_int_equal(db_plan_gradient(plan, images, &derivative), DB_OK);
    assert_true(sum(r.pixels) == 2 * pixels && r.rendered_samples == 2 * samples);
    assert_int_equal(r.slopes, 1);
    /* current slopes are no work */
    assert_int_equal(db_plan_gradient(plan, images, &derivative), DB_OK);
    assert_int_equal(r.slopes, 1);
    assert_int_equal(db_plan_update(plan, &e), DB_OK);
    assert_int_equal(r.model, 2);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(r.wrong[t], 0);
        assert_int_equal(r.depth[t], 0);
    }

    const int before = r.seen[0];
    db_context_set_stages(context, NULL, NULL);
    assert_int_equal(db_plan_forward(plan, images), DB_OK);
    assert_int_equal(r.seen[0], before);
    db_plan_destroy(&plan);
    free(images);
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(stages_add_up_to_the_image) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
