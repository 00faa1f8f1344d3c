/* The intensity that all blocks share. */
#include "fit/objective/shared_intensities.h"

#include "base/context_internal.h"
#include "fit/objective/run_boxes.h"
#include "loss/eliminate.h"

#include <math.h>

static db_status sum_blocks(db_objective *o, double *value) {
    *value = 0;
    DB_TRY(db_objective_run_boxes(o, DB_BOXES_AS_BEFORE, 0, DB_BOXES_LINEAR));
    for (size_t b = 0; b < o->blocks.count; b++) *value += o->work->linear_sums[b].value;
    return DB_OK;
}

/* A step of the intensity, not below 0, and all planes; returns the decrease that it promises. */
static double step_blocks(db_objective *o) {
    const double intensity = o->solution[0].linear[0];
    double gradient = 0, curvature = 0, promise = 0;
    for (size_t b = 0; b < o->blocks.count; b++) {
        db_block_sums *const s = &o->work->linear_sums[b];
        promise += db_eliminate(DB_LINEAR, 1, s->gradient, s->normal, DB_LINEAR);
        gradient += s->gradient[0];
        curvature += s->normal[0];
    }
    const double step = curvature > 0 ? fmax(-0.5 * gradient / curvature, -intensity) : 0;
    promise -= step * (gradient + curvature * step);
    for (size_t b = 0; b < o->blocks.count; b++) {
        const db_block_sums *const s = &o->work->linear_sums[b];
        double *const steps = o->work->steps[b];
        steps[0] = step;
        for (size_t k = 1; k < DB_LINEAR; k++)
            steps[k] = db_eliminated_step(s->normal + k * DB_LINEAR, k, s->gradient[k], steps);
        for (size_t k = 0; k < DB_LINEAR; k++) o->solution[b].linear[k] += steps[k];
    }
    return promise;
}

static void step_back(db_objective *o) {
    for (size_t b = 0; b < o->blocks.count; b++)
        for (int k = 0; k < DB_LINEAR; k++) o->solution[b].linear[k] -= o->work->steps[b][k] *= 0.5;
}

db_status db_objective_solve_common(db_objective *o) {
    enum { PASSES = 40 };
    double before = INFINITY, value;
    for (int pass = 0; pass < PASSES && o->blocks.count; pass++) {
        DB_TRY(sum_blocks(o, &value));
        if (value > before + 1e-9 * fabs(before)) { /* too far: halfway back */
            step_back(o);
            continue;
        }
        before = value;
        const double promise = step_blocks(o);
        if (promise <= 1e-10 * fmax(1, value) || o->loss_of.target == DB_LOSS_WEIGHTED) break;
    }
    /* the planes by themselves, which also gives each block its loss */
    return db_objective_run_boxes(o, DB_BOXES_AS_BEFORE, 1, DB_BOXES_NO_SUMS);
}
