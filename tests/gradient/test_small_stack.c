/* Images, derivatives and normal equations need little stack, for all kinds of images. All work is
 * done by the calling thread, since OpenMP's own have stacks of their own size. */
#include "support/unit_test.h"
#include "configurations.h"
#include "engine/exact_image.h"
#include "support/small_stack.h"

#include <dualbragg/normal.h>
#include <dualbragg/expert/oracle.h>

#include <stdlib.h>
#include <string.h>

enum { MOST = DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS, FEW = 3 };

static db_context *context;

static int start(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK && db_context_set_threads(context, 1) == DB_OK ? 0
                                                                                               : -1;
}

static int finish(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

typedef struct work {
    const db_experiment *experiment;
    db_plan_options options;
    db_region few; /* pixels, for what is slow */
    double *pixels, *chi2, *gradient, *curvature;
    float *data;
    long double exact[FEW];
} work;

/* Everything that a plan does. */
static db_status everything(void *argument) {
    const work *const w = argument;
    db_plan *plan = NULL;
    void *derivative[MOST];
    db_status status = db_plan_create(context, w->experiment, &w->options, &plan);
    const size_t pixels = status == DB_OK ? db_plan_pixels(plan) : 0;
    for (size_t k = 0; k < w->options.parameter_count; k++)
        derivative[k] = w->pixels + (k + 1) * pixels;
    if (status == DB_OK) status = db_plan_forward(plan, w->pixels);
    if (status == DB_OK) status = db_plan_gradient(plan, w->pixels, derivative);
    if (status == DB_OK)
        status =
            db_plan_normal(plan, DB_FLOAT32, w->data, NULL, w->chi2, w->gradient, w->curvature);
    db_plan_destroy(&plan);
    return status;
}

/* Everything that it is compared with. */
static db_status references(void *argument) {
    work *const w = argument;
    db_plan *plan = NULL;
    double *derivative[MOST];
    db_plan_options options = w->options;
    options.regions = &w->few;
    options.region_count = 1;
    db_status status = db_plan_create(context, w->experiment, &options, &plan);
    for (size_t k = 0; k < options.parameter_count; k++)
        derivative[k] = w->pixels + (k + 1) * db_plan_pixels(plan);
    if (status == DB_OK) status = db_plan_oracle(plan, w->pixels, derivative);
    if (status == DB_OK)
        status = db_exact_image(context, w->experiment, NULL, &w->few, 1, w->exact);
    db_plan_destroy(&plan);
    return status;
}

static size_t pixels_of(const db_experiment *e) {
    size_t pixels = 0;
    for (size_t p = 0; p < e->detector.panel_count; p++)
        pixels +=
            (size_t)e->detector.panels[p].fast_pixels * (size_t)e->detector.panels[p].slow_pixels;
    return pixels;
}

static void try_experiment(const db_experiment *e, const db_parameter *parameters, size_t count) {
    const size_t pixels = pixels_of(e);
    work w = { .experiment = e, .options = DB_PLAN_OPTIONS_INIT };
    w.options.parameters = parameters;
    w.options.parameter_count = count;
    w.options.pixel_type = DB_FLOAT64;
    w.few = (db_region){ .fast_count = FEW, .slow_count = 1, .stride = FEW };
    w.pixels = malloc((count + 1) * pixels * sizeof *w.pixels);
    w.data = calloc(pixels, sizeof *w.data);
    w.chi2 = malloc((1 + count + count * count) * sizeof *w.chi2);
    assert_true(w.pixels && w.data && w.chi2);
    w.gradient = w.chi2 + 1;
    w.curvature = w.gradient + count;
    for (int precision = 0; precision < 2; precision++) {
        w.options.precision = precision ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
        w.options.tolerance = precision ? 1e-3 : 0;
        assert_int_equal(on_small_stack(everything, &w), DB_OK);
    }
    assert_int_equal(on_small_stack(references, &w), DB_OK);
    free(w.pixels);
    free(w.data);
    free(w.chi2);
}

static void any_experiment_is_rendered(void **state) {
    (void)state;
    if (stacks_are_inflated()) skip();
    for (size_t i = 0; i < configurations_and_closed(); i++) {
        db_experiment e = configured(context, configuration_or_closed(i));
        db_parameter parameters[MOST];
        const size_t count = parameters_of(configuration_or_closed(i), &e, parameters);
        try_experiment(&e, parameters, count);
        db_experiment_clear(&e);
    }
}

/* As many terms of rows as are kept, and more. */
static void many_samples_and_sub_pixels_are_rendered(void **state) {
    (void)state;
    if (stacks_are_inflated()) skip();
    static const db_parameter some[] = { DB_CELL_A, DB_MISSET_X, DB_DISTANCE };
    static const int domains[] = { 2048, 2049 };
    for (size_t i = 0; i < 2; i++) {
        db_experiment e = configured(context, &configurations[0]);
        e.crystal.mosaic_spread = 0.5;
        e.crystal.mosaic_domains = domains[i];
        e.oversample = 4;
        try_experiment(&e, some, 3);
        db_experiment_clear(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_experiment_is_rendered, start, finish),
        cmocka_unit_test_setup_teardown(many_samples_and_sub_pixels_are_rendered, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
