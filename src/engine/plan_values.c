/* From interface values to the kernel's plain arrays. */
#include "base/vector.h"
#include "engine/spots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void matrix_out(const db_matrix *m, double out[9]) {
    for (int r = 0; r < 3; r++) db_vector_out(m->r[r], out + 3 * r);
}

static void fill_panels(db_plan *plan) {
    for (size_t p = 0; p < plan->experiment.detector.panel_count; p++) {
        const db_panel_interface *z = &plan->plain.panel[p];
        db_kernel_panel *k = &plan->panel[p];
        db_vector_out(z->origin, k->origin);
        db_vector_out(z->fast, k->fast);
        db_vector_out(z->slow, k->slow);
        db_vector_out(z->normal, k->normal);
        k->z = z->z.v;
        k->radius = z->radius.v;
        k->beam_fast = z->beam_fast.v;
        k->beam_slow = z->beam_slow.v;
        for (int i = 0; i < 2; i++)
            k->pixel_size[i] = plan->experiment.detector.panels[p].pixel_size[i] * 1e-3;
    }
}

static void fill_sources(db_plan *plan) {
    for (size_t j = 0; j < plan->experiment.beam.source_count; j++) {
        const db_source_interface *z = &plan->plain.source[j];
        db_kernel_source_double *k = &plan->source_double[j];
        k->kappa = z->kappa.v;
        db_vector_out(z->s0, k->s0);
        for (int n = 0; n < 6; n++) k->polarization[n] = z->polarization[n].v;
        k->weight = z->weight.v;
        plan->source_float[j] = db_source_to_float(k);
    }
}

static void fill_samples(db_plan *plan) {
    double lattice[9];
    matrix_out(&plan->plain.lattice, lattice);
    for (size_t s = 0; s < plan->sample_count; s++) {
        db_kernel_sample_double *k = &plan->sample_double[s];
        matrix_out(&plan->plain.rotation[s], k->rotation);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                k->lattice[3 * r + c] = lattice[3 * r] * k->rotation[c] +
                                        lattice[3 * r + 1] * k->rotation[3 + c] +
                                        lattice[3 * r + 2] * k->rotation[6 + c];
        for (int i = 0; i < 9; i++) {
            plan->sample_float[s].lattice[i] = (float)k->lattice[i];
            plan->sample_float[s].rotation[i] = (float)k->rotation[i];
        }
    }
}

/* Fills what only general jobs have: curved panels, sensors, backgrounds. */
static void fill_general(db_plan *plan) {
    const db_experiment *e = &plan->experiment;
    db_kernel_job *job = &plan->job;
    job->d_min = e->d_min;
    job->water = plan->plain.water.v;
    job->molecules = plan->plain.molecules.v;
    job->amorphous = plan->curve.job;
    job->sensor = e->detector.sensor_thickness != 0;
    job->layers = job->sensor ? e->detector.sensor_layers : 1;
    job->layers_at_front = e->detector.layers_at_front;
    job->layer_step = job->sensor ? plan->plain.layer_step.v : 0;
    job->attenuation = plan->plain.attenuation.v;
    job->curved = e->detector.curved;
    memcpy(job->beam_direction, e->beam.direction, sizeof job->beam_direction);
    job->interpolate = plan->margin_count > 0;
    job->amplitude_table = plan->amplitude_table;
    for (int i = 0; i < 3; i++) {
        job->margin_min[i] = e->structure_factors.min[i] - DB_TABLE_MARGIN;
        job->margin_extent[i] = e->structure_factors.extent[i] + 2 * DB_TABLE_MARGIN;
    }
    job->general = job->d_min > 0 || job->water != 0 || job->amorphous.bins > 0 || job->sensor ||
                   job->curved || job->interpolate || plan->beyond_table > 0;
}

/* The polynomial of kernel/lattice.h by its recurrence, in powers of w. */
static void few_cells_polynomial(int cells, db_few_cells_double *p) {
    enum { TERMS = DB_FEW_CELLS / 2 };
    const int even = cells % 2 == 0;
    double before[TERMS] = { even ? 0 : -1 }, now[TERMS] = { 1 };
    for (int n = even ? 2 : 1; n < cells; n += 2)
        for (int k = TERMS - 1; k >= 0; k--) { /* downwards: now[k - 1] is still the old one */
            const double next = (k > 0 ? now[k - 1] : 0) - before[k];
            before[k] = now[k];
            now[k] = next;
        }
    memcpy(p->power, now, sizeof now);
    p->even = even;
}

static void fill_few_cells(db_plan *plan) {
    db_kernel_job *job = &plan->job;
    job->few_cells = job->shape == DB_SHAPE_SQUARE;
    for (int j = 0; j < 3; j++)
        job->few_cells &= job->cells[j] == floor(job->cells[j]) && job->cells[j] <= DB_FEW_CELLS;
    for (int j = 0; j < 3 && job->few_cells; j++) {
        few_cells_polynomial((int)job->cells[j], &job->few_double[j]);
        for (int k = 0; k < DB_FEW_CELLS / 2; k++)
            job->few_float[j].power[k] = (float)job->few_double[j].power[k];
        job->few_float[j].even = job->few_double[j].even;
    }
}

/* |q| is at most 2/wavelength. */
static double largest_index(const db_plan *plan) {
    double edge = 0, kappa = 0;
    for (int r = 0; r < 3; r++) {
        double v[3];
        db_vector_out(plan->plain.lattice.r[r], v);
        edge = fmax(edge, db_length(v));
    }
    for (size_t j = 0; j < plan->experiment.beam.source_count; j++)
        kappa = fmax(kappa, plan->source_double[j].kappa);
    return 2 * kappa * edge;
}

/* What the reference's order of summation needs, from the experiment. */

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

static void fill_reference(db_plan *plan) {
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
    /* the model's water is multiplied by the number of samples */
    r->background = r->fluence * plan->plain.water.v / samples;
    stale_steps(&e->goniometer, plan->reference_phi_step);
    r->phi_step = plan->reference_phi_step;
    plan->job.reference = r;
}

void db_plan_fill_values(db_plan *plan) {
    const db_experiment *e = &plan->experiment;
    db_kernel_job *job = &plan->job;
    db_enter_stage(plan->context, "model");
    db_model_plain(e, plan->directions, &plan->plain);
    fill_panels(plan);
    fill_sources(plan);
    fill_samples(plan);
    fill_general(plan);
    job->shape = e->crystal.shape;
    job->fudge = e->crystal.fudge;
    for (int i = 0; i < 3; i++) {
        job->cells[i] = plan->plain.cells[i].v;
        job->table_min[i] = e->structure_factors.min[i];
        job->table_extent[i] = e->structure_factors.extent[i];
    }
    job->largest_index = largest_index(plan);
    fill_few_cells(plan);
    job->b_factor = plan->plain.b_factor.v;
    job->debye_waller = job->b_factor != 0 || db_plan_moves(plan, DB_MOVES_DEBYE_WALLER) > 0;
    job->scale = job->residual_scale = plan->plain.scale.v;
    job->oversample = e->oversample;
    job->sub_pixel = 1.0 / e->oversample;
    job->point_pixel = e->point_pixel;
    job->panel = plan->panel;
    job->source_double = plan->source_double;
    job->source_float = plan->source_float;
    job->source_count = e->beam.source_count;
    job->sample_double = plan->sample_double;
    job->sample_float = plan->sample_float;
    job->sample_count = plan->sample_count;
    job->intensity_double = plan->intensity_double;
    job->intensity_float = plan->intensity_float;
    job->table_used = plan->table_count > 0;
    job->default_intensity = e->structure_factors.default_F * e->structure_factors.default_F;
    job->region = plan->regions;
    if (e->spread.spots == DB_SPOTS_SAMPLED) db_plan_fill_cut(plan);
    db_spots_outdate(plan);
    fill_reference(plan);
    plan->slopes_current = 0;
    db_leave_stage(plan->context, "model");
}
