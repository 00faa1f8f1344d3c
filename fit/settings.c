/* Defaults of a refinement. */
#include "core/context_internal.h"

#include <dualbragg/fit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void db_fit_settings_init(db_fit_settings *settings) {
    memset(settings, 0, sizeof *settings);
    settings->size = sizeof *settings;
    settings->intensity = DB_FIT_FREE;
    settings->gain = 1;
    settings->shoebox_half_width = 8;
    settings->max_shoeboxes = 400;
    settings->strong_sigma = 5;
    settings->min_strong_reflections = 20;
    settings->excitation_angle = 0.7;
    for (int i = 0; i < 4; i++) settings->roi[i] = -1;
    settings->background_tile = 64;
    settings->precision = DB_PRECISION_MIXED;
    settings->model_error = NAN;
    settings->intensity_limit = 10;
}

typedef enum stage_subject { ORIENTATION, GEOMETRY, EVERYTHING } stage_subject;

static int belongs(db_parameter p, stage_subject subject) {
    switch (p) {
    case DB_MISSET_X:
    case DB_MISSET_Y:
    case DB_MISSET_Z:
    case DB_PHI: return 1;
    case DB_CELLS_A:
    case DB_CELLS_B:
    case DB_CELLS_C:
    case DB_MOSAIC_SPREAD:
    case DB_POLARIZATION: return subject == EVERYTHING;
    default: return subject != ORIENTATION;
    }
}

/* Adds a stage, unless it would refine nothing. */
static void add_stage(db_fit_settings *settings, const char *name, stage_subject subject,
                      double dmin, double blur, double tolerance) {
    db_fit_stage *const stage = &settings->stages[settings->stage_count];
    int any = 0;
    memset(stage, 0, sizeof *stage);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (!belongs(p->parameter, subject)) continue;
        stage->active[p->parameter] = 1;
        any |= p->follows < 0;
    }
    if (!any) return;
    snprintf(stage->name, sizeof stage->name, "%s", name);
    snprintf(stage->algorithm, sizeof stage->algorithm, "%s", "LD_SLSQP");
    stage->dmin = dmin;
    stage->blur = blur;
    stage->tolerance = tolerance;
    stage->max_evaluations = 200;
    settings->stage_count++;
}

/* A displaced spot still overlaps its model if it is at low resolution, where displacements by
 * errors of orientation and cell are small, and if the model is wide. */
void db_fit_settings_default_stages(db_fit_settings *settings) {
    settings->stage_count = 0;
    if (settings->intensity == DB_FIT_KNOWN) {
        add_stage(settings, "coarse", GEOMETRY, 0, 2, 1e-4);
        add_stage(settings, "fine", EVERYTHING, 0, 1, 1e-5);
        add_stage(settings, "final", EVERYTHING, 0, 1, 1e-6);
        return;
    }
    add_stage(settings, "orientation", ORIENTATION, 4.0, 3, 1e-4);
    add_stage(settings, "lattice", GEOMETRY, 3.2, 2, 1e-4);
    add_stage(settings, "extend", GEOMETRY, 2.5, 1.5, 1e-4);
    add_stage(settings, "shape", EVERYTHING, 0, 1, 1e-5);
    /* Shoeboxes placed anew by a better model, until the start is forgotten. */
    add_stage(settings, "again", EVERYTHING, 0, 1, 1e-5);
    add_stage(settings, "final", EVERYTHING, 0, 1, 1e-5);
}
