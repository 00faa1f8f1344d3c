/* Renders a small image through the installed library and checks that there is light in it. */
#include <dualbragg/dualbragg.h>
#include <math.h>
#include <stdio.h>

enum { SIZE = 64 };

static db_status render(db_context *context, db_experiment *experiment, float *image) {
    const double cell[6] = { 40, 50, 60, 90, 90, 90 };
    for (int i = 0; i < 6; i++) experiment->crystal.cell[i] = cell[i];
    for (int i = 0; i < 3; i++) experiment->crystal.Ncells[i] = 5;
    experiment->structure_factors.default_F = 100;
    db_panel *panel = &experiment->detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = SIZE;
    panel->pixel_size[0] = panel->pixel_size[1] = 1;
    experiment->detector.centre[0] = experiment->detector.centre[1] = SIZE / 2;

    db_plan *plan = NULL;
    db_status status = db_plan_create(context, experiment, NULL, &plan);
    if (status == DB_OK) status = db_plan_forward(plan, image);
    db_plan_destroy(&plan);
    return status;
}

int main(void) {
    static float image[SIZE * SIZE];
    db_context *context = NULL;
    db_experiment experiment;
    db_status status = db_context_create(&context);
    if (status == DB_OK) status = db_experiment_init(context, &experiment);
    if (status == DB_OK) {
        status = render(context, &experiment, image);
        db_experiment_clear(&experiment);
    }
    if (status != DB_OK)
        fprintf(stderr, "%s: %s\n", db_status_text(status),
                context ? db_context_message(context) : "");
    db_context_destroy(&context);
    if (status != DB_OK) return db_status_exit_code(status);

    double sum = 0;
    float largest = 0;
    for (int i = 0; i < SIZE * SIZE; i++) {
        sum += image[i];
        if (image[i] > largest) largest = image[i];
    }
    printf("dualbragg %s (%s): %g photons, brightest pixel %g\n", db_version(), db_features(), sum,
           (double)largest);
    return isfinite(sum) && sum > 0 && largest < (float)sum ? 0 : 1;
}
