/* Input of the kernels from an experiment: its interface values as plain arrays. */
#ifndef DB_ENGINE_PLAN_VALUES_H
#define DB_ENGINE_PLAN_VALUES_H

#include "engine/amorphous_curve.h"
#include "engine/plan_parameters.h"
#include "engine/plan_table.h"
#include "kernel/job.h"
#include "kernel/reference_order.h"
#include "model/model.h"

typedef struct db_plan_values {
    db_mosaic_direction *directions;
    db_interface interface;
    db_kernel_panel *panel;
    db_kernel_source_double *source_double;
    db_kernel_source_float *source_float;
    db_kernel_sample_double *sample_double;
    db_kernel_sample_float *sample_float;
    double *site_curve; /* job.site_curve */
    size_t sample_count;
    double halo[DB_HALO_NUMBERS]; /* filled if the crystal has a halo */
    db_amorphous_curve curve;
    db_kernel_reference reference; /* in use if experiment.reference.on */
    int *reference_phi_step;
} db_plan_values;

/* Allocates arrays for the experiment's numbers of sources, samples and panels. Clear values after a failure, too. */
db_status db_plan_values_create(db_context *context, const db_experiment *experiment,
                                const db_plan_parameters *parameters, db_plan_values *values);
void db_plan_values_clear(db_plan_values *values);

/* Draws the mosaic domains of the experiment's seed. */
void db_plan_values_draw(const db_experiment *experiment, db_plan_values *values);

/* Fills the values from the experiment, and the job except its regions, cuts and cut. Allocates nothing. */
void db_plan_values_fill(const db_experiment *experiment, const db_plan_parameters *parameters,
                         const db_plan_table *table, db_plan_values *values, db_kernel_job *job);

/* A source in float, as the mixed kernels read it. */
static inline db_kernel_source_float db_source_to_float(const db_kernel_source_double *s) {
    db_kernel_source_float f = { .unused = 0 };
    f.kappa = (float)s->kappa;
    f.weight = (float)s->weight;
    for (int i = 0; i < 3; i++) f.s0[i] = (float)s->s0[i];
    for (int i = 0; i < 6; i++) f.polarization[i] = (float)s->polarization[i];
    return f;
}

#endif
