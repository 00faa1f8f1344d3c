/* Where memory runs out: spots in closed form, an image and its derivatives, or an error; likewise
 * derivatives by all structure factors, backgrounds and batches. */
#include "support/context.h"
#include "configurations.h"
#include "images.h"
#include "support/every_allocation.h"

#include <dualbragg/batch.h>
#include <math.h>
#include <string.h>

static const db_parameter some[] = { DB_CELL_A, DB_MOSAIC_VARIANCE, DB_DISTANCE };
static db_experiment experiment;
static double sum_of_all;

static db_status image_and_derivatives(db_context *given, int *right) {
    static double image[19 * 13], derivative[3][19 * 13];
    void *const out[3] = { derivative[0], derivative[1], derivative[2] };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    double sum = 0;
    options.pixel_type = DB_FLOAT64;
    options.parameters = some;
    options.parameter_count = 3;
    db_status status = db_plan_create(given, &experiment, &options, &plan);
    if (status == DB_OK) status = db_plan_forward(plan, image);
    if (status == DB_OK) status = db_plan_gradient(plan, image, out);
    allocations_end();
    /* a plan that ran out of memory can be tried again */
    if (status != DB_OK && plan && db_plan_gradient(plan, image, out) != DB_OK) sum = NAN;
    if (status == DB_OK || plan)
        for (int i = 0; i < 19 * 13; i++) sum += image[i] * (1 + derivative[1][i]);
    if (sum_of_all == 0) sum_of_all = sum;
    *right = sum == sum_of_all || (status != DB_OK && !plan);
    db_plan_destroy(&plan);
    return status;
}

static void images_end_complete_or_with_an_error(void **state) {
    (void)state;
    assert_int_equal(db_context_set_threads(context, 1), DB_OK);
    for (size_t i = 0; i < closed_configuration_count; i++) {
        const configuration *which = &closed_configurations[i];
        if (strcmp(which->name, "closed: one degree") != 0 &&
            strcmp(which->name, "closed: size alone") != 0)
            continue;
        experiment = configured(context, which);
        sum_of_all = 0;
        at_every_allocation(context, image_and_derivatives, 35);
        db_experiment_clear(&experiment);
    }
}

enum { MOST_PIXELS = 64 * 64, MOST_ENTRIES = 20000 };

/* Gradients of a background, parameters and structure factors, alone and as sums of a batch of two,
 * and a tangent by all of them. */
static db_status gradients_and_tangents(db_context *given, int *right) {
    static double background[MOST_PIXELS], image[MOST_PIXELS], tangent[MOST_PIXELS],
        by_pixel[MOST_PIXELS], amplitudes[MOST_ENTRIES], sums[MOST_ENTRIES], by_parameter[3],
        by_default;
    static uint32_t value[MOST_ENTRIES];
    const db_structure_factors *f = &experiment.structure_factors;
    const db_parameter own[] = { DB_CELL_A, DB_DISTANCE };
    const db_experiment *const shots[] = { &experiment, &experiment };
    const void *const cotangents[] = { background, background };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan_vector all = DB_PLAN_VECTOR_INIT, shared = DB_PLAN_VECTOR_INIT;
    db_plan *plan = NULL;
    db_plan_batch *batch = NULL;
    double sum = 0;
    assert_true((size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2] <= MOST_ENTRIES);
    const size_t values = db_amplitude_classes(f, NULL, 1, value);
    assert_true(values > 0 && values <= MOST_ENTRIES);
    for (int i = 0; i < MOST_PIXELS; i++) background[i] = 1 + i % 3;
    options.pixel_type = DB_FLOAT64;
    options.parameters = own;
    options.parameter_count = 2;
    all.parameters = by_parameter;
    all.amplitudes = amplitudes;
    all.default_F = &by_default;
    all.background = by_pixel;
    shared.amplitudes = sums;
    db_status status = db_plan_create(given, &experiment, &options, &plan);
    if (status == DB_OK) status = db_plan_share_amplitudes(plan, value, values);
    if (status == DB_OK) status = db_plan_set_background(plan, background);
    if (status == DB_OK) status = db_plan_vjp(plan, background, image, &all);
    if (status == DB_OK) status = db_plan_jvp(plan, &all, image, tangent);
    if (status == DB_OK) status = db_plan_batch_create(given, &experiment, &options, &batch);
    if (status == DB_OK) status = db_plan_batch_share_amplitudes(batch, value, values);
    if (status == DB_OK)
        status = db_plan_batch_vjp(batch, shots, 2, cotangents, NULL, NULL, &shared);
    allocations_end();
    for (size_t i = 0; status == DB_OK && i < values; i++) {
        if (sums[i] != 2 * amplitudes[i]) sum = NAN;
        sum += amplitudes[i] * (double)(1 + i % 7);
    }
    for (size_t i = 0; status == DB_OK && i < db_plan_pixels(plan); i++) sum += tangent[i];
    if (status == DB_OK && sum_of_all == 0) sum_of_all = sum;
    *right = status != DB_OK || sum == sum_of_all;
    db_plan_batch_destroy(&batch);
    db_plan_destroy(&plan);
    return status;
}

static void products_end_complete_or_with_an_error(void **state) {
    static const char *const names[] = { "structure factor list", "interpolation",
                                         "closed: structure factors" };
    (void)state;
    /* each thread gets a plan of its own in a batch */
    assert_int_equal(db_context_set_threads(context, 2), DB_OK);
    for (size_t i = 0; i < configurations_and_closed(); i++) {
        const configuration *which = configuration_or_closed(i);
        int chosen = 0;
        for (int n = 0; n < 3; n++) chosen |= strcmp(which->name, names[n]) == 0;
        if (!chosen) continue;
        experiment = configured(context, which);
        sum_of_all = 0;
        at_every_allocation(context, gradients_and_tangents, 50);
        db_experiment_clear(&experiment);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_end_complete_or_with_an_error),
        cmocka_unit_test(products_end_complete_or_with_an_error),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
