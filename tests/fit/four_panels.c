#include "fit/four_panels.h"

#include "fit/rendered_image.h"

#include <dualbragg/expert/fit_quantities.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 4, WIDTH = FOUR_PANELS_PIXELS / 2 };

db_status four_panels_experiment(db_context *context, double peak, db_experiment *e) {
    const db_status status = rendered_experiment(context, FOUR_PANELS_PIXELS, peak, e);
    if (status != DB_OK) return status;
    db_panel *const panels = calloc(PANELS, sizeof *panels);
    if (!panels) return DB_ERROR_MEMORY;
    for (int p = 0; p < PANELS; p++) {
        panels[p] = e->detector.panels[0];
        panels[p].fast_pixels = panels[p].slow_pixels = WIDTH;
        const int column = p % 2, row = p / 2;
        const double shift[2] = { column * WIDTH * panels[p].pixel_size[0],
                                  row * WIDTH * panels[p].pixel_size[1] };
        for (int i = 0; i < 3; i++)
            panels[p].origin[i] +=
                shift[0] * panels[p].fast_axis[i] + shift[1] * panels[p].slow_axis[i];
    }
    free(e->detector.panels);
    e->detector.panels = panels;
    e->detector.panel_count = PANELS;
    return DB_OK;
}

db_status four_panels_image(db_context *context, const db_experiment *e, unsigned long seed,
                            db_measured_image *image) {
    const size_t pixels = (size_t)PANELS * WIDTH * WIDTH;
    const double background = 5;
    memset(image, 0, sizeof *image);
    image->fast_pixels = WIDTH;
    image->slow_pixels = PANELS * WIDTH;
    image->gain = 1;
    image->overload = INFINITY;
    image->value = malloc(pixels * sizeof *image->value);
    image->mask = calloc(pixels, 1);
    image->panels = calloc(PANELS, sizeof *image->panels);
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    if (!image->value || !image->mask || !image->panels || !random) return DB_ERROR_MEMORY;
    image->panel_count = PANELS;
    for (int p = 0; p < PANELS; p++) {
        image->panels[p].first_row = p * WIDTH;
        image->panels[p].slow_pixels = WIDTH;
    }
    db_plan *plan;
    db_status status = db_plan_create(context, e, NULL, &plan);
    if (status == DB_OK) {
        status = db_plan_forward(plan, image->value);
        db_plan_destroy(&plan);
    }
    gsl_rng_set(random, seed);
    for (size_t i = 0; i < pixels && status == DB_OK; i++) {
        const double expected = (double)image->value[i] + background;
        image->value[i] = (float)(seed ? gsl_ran_poisson(random, expected) : expected);
    }
    gsl_rng_free(random);
    return status;
}

void four_panels_groups(db_fit_settings *settings) {
    db_fit_panel_groups *const groups = &settings->panel_groups;
    for (int g = 0; g < PANELS; g++) {
        char name[16];
        snprintf(name, sizeof name, "panel_%d", g);
        if (db_fit_panel_groups_add(NULL, groups, name) != DB_OK ||
            db_fit_panel_groups_put(NULL, groups, (size_t)g, g) != DB_OK)
            abort();
    }
}

void refine_motion(db_fit_settings *settings, db_parameter motion, int group) {
    db_fit_parameter p = db_fit_parameter_free(motion);
    p.group = group;
    if (db_fit_settings_add_parameter(NULL, settings, &p) != DB_OK) abort();
}
