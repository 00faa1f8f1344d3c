/* Spots in closed form where memory runs out: an image and its derivatives, or an error. */
#include "support/context.h"
#include "configurations.h"
#include "images.h"
#include "support/every_allocation.h"

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

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(images_end_complete_or_with_an_error) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
