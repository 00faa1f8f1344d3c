/* What the reference's order of summation needs, from the experiment. */
#include "engine/plan_internal.h"

#include <stdlib.h>

db_status db_plan_allocate_reference(db_plan *plan) {
    if (!plan->experiment.reference.on) return DB_OK;
    if (plan->parameter_count)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "the reference's arithmetic (compat) has no derivatives: its sums depend on "
                       "the order of the samples; expected no parameters, found %zu",
                       plan->parameter_count);
    if (plan->experiment.detector.panel_count != 1)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "the reference's arithmetic (compat): expected one panel, found %zu",
                       plan->experiment.detector.panel_count);
    plan->reference_phi_step =
        malloc((size_t)plan->experiment.goniometer.phi_steps * sizeof *plan->reference_phi_step);
    return plan->reference_phi_step ? DB_OK : db_fail_memory(plan->context, "a plan");
}

/* At a spindle angle of exactly 0 the reference keeps the cell vectors of the sample before: those
 * of the step before, or at the first step of the last one of the source or sub-pixel before. */
static void stale_steps(const db_goniometer *g, int *step) {
    static const double degree = 1 / (180 * (1 / 3.14159265358979323846));
    for (int i = 0; i < g->phi_steps; i++) {
        const int stale = g->phi * degree + g->phi_step * degree * i == 0;
        step[i] = !stale ? i : i > 0 ? step[i - 1] : g->phi_steps - 1;
    }
}

void db_plan_fill_reference(db_plan *plan) {
    const db_experiment *e = &plan->experiment;
    db_kernel_reference *r = &plan->reference;
    if (!e->reference.on) return;
    double columns[9];
    db_crystal_matrix(&e->crystal, columns);
    for (int j = 0; j < 3; j++)
        for (int c = 0; c < 3; c++)
            r->reciprocal[3 * j + c] = columns[3 * c + j] * e->reference.reciprocal_scale;
    const double samples = (double)plan->sample_count;
    r->experiment = e;
    r->fluence = DB_THOMSON_R2 * e->beam.fluence * e->beam.scale;
    r->steps = samples * (double)e->beam.source_count * e->oversample * e->oversample;
    /* water has the number of samples in it */
    r->background = r->fluence * plan->plain.water.v / samples;
    stale_steps(&e->goniometer, plan->reference_phi_step);
    r->phi_step = plan->reference_phi_step;
    plan->job.reference = r;
}
