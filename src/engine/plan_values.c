/* Turns interface values into the kernels' plain arrays. */
#include "engine/plan_values.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "model/halo_samples.h"
#include "model/site_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void matrix_out(const db_matrix *m, double out[9]) {
    for (int r = 0; r < 3; r++) db_vector_out(m->r[r], out + 3 * r);
}

static void fill_panels(const db_detector *detector, db_plan_values *values) {
    for (size_t p = 0; p < detector->panel_count; p++) {
        const db_panel_interface *z = &values->interface.panel[p];
        db_kernel_panel *k = &values->panel[p];
        db_vector_out(z->origin, k->origin);
        db_vector_out(z->fast, k->fast);
        db_vector_out(z->slow, k->slow);
        db_vector_out(z->normal, k->normal);
        k->z = z->z.v;
        k->radius = z->radius.v;
        k->beam_fast = z->beam_fast.v;
        k->beam_slow = z->beam_slow.v;
        for (int i = 0; i < 2; i++) k->pixel_size[i] = detector->panels[p].pixel_size[i] * 1e-3;
    }
}

static void fill_sources(size_t count, int kinds, db_plan_values *values) {
    for (size_t i = 0; i < 2 * count * (size_t)kinds; i++)
        values->site_curve[i] = values->interface.site_curve[i].v;
    for (size_t j = 0; j < count; j++) {
        const db_source_interface *z = &values->interface.source[j];
        db_kernel_source_double *k = &values->source_double[j];
        k->kappa = z->kappa.v;
        db_vector_out(z->s0, k->s0);
        for (int n = 0; n < 6; n++) k->polarization[n] = z->polarization[n].v;
        k->weight = z->weight.v;
        values->source_float[j] = db_source_to_float(k);
    }
}

static void fill_samples(db_plan_values *values) {
    double lattice[9];
    matrix_out(&values->interface.lattice, lattice);
    for (size_t s = 0; s < values->sample_count; s++) {
        db_kernel_sample_double *k = &values->sample_double[s];
        matrix_out(&values->interface.rotation[s], k->rotation);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                k->lattice[3 * r + c] = lattice[3 * r] * k->rotation[c] +
                                        lattice[3 * r + 1] * k->rotation[3 + c] +
                                        lattice[3 * r + 2] * k->rotation[6 + c];
        for (int i = 0; i < 9; i++) {
            values->sample_float[s].lattice[i] = (float)k->lattice[i];
            values->sample_float[s].rotation[i] = (float)k->rotation[i];
        }
    }
}

static void fill_halo(const db_experiment *e, db_plan_values *values, db_kernel_job *job) {
    job->halo.number = db_has_halo(&e->crystal) ? values->halo : NULL;
    for (int i = 0; job->halo.number && i < DB_HALO_NUMBERS; i++)
        values->halo[i] = values->interface.halo[i].v;
}

/* Fills the members of general jobs: curved panels, sensors, backgrounds. */
static void fill_general(const db_experiment *e, const db_plan_values *values,
                         const db_plan_parameters *parameters, const db_plan_table *table,
                         db_kernel_job *job) {
    job->dmin = e->dmin;
    job->water = values->interface.water.v;
    job->molecules = values->interface.molecules.v;
    job->amorphous = values->curve.job;
    job->sensor = e->detector.sensor_thickness != 0;
    job->layers = job->sensor ? e->detector.sensor_layers : 1;
    job->layers_at_front = e->detector.layers_at_front;
    job->layer_step = job->sensor ? values->interface.layer_step.v : 0;
    job->attenuation = values->interface.attenuation.v;
    job->curved = e->detector.curved;
    memcpy(job->beam_direction, e->beam.direction, sizeof job->beam_direction);
    job->interpolate = table->margin_count > 0;
    job->amplitude_table = table->amplitude;
    for (int i = 0; i < 3; i++) {
        job->margin_min[i] = e->structure_factors.min[i] - DB_TABLE_MARGIN;
        job->margin_extent[i] = e->structure_factors.extent[i] + 2 * DB_TABLE_MARGIN;
    }
    job->site_kinds = db_site_count(&e->structure_factors);
    job->site_part = table->site_part;
    job->site_curve = values->site_curve;
    job->general = job->halo.number || job->site_kinds > 0 || job->dmin > 0 || job->water != 0 ||
                   job->amorphous.bins > 0 || job->sensor || job->curved || job->interpolate ||
                   parameters->beyond_table > 0;
}

/* The polynomial of kernel/lattice.h by its recurrence, in powers of w. */
static void few_cells_polynomial(int cells, db_few_cells_double *p) {
    enum { TERMS = DB_FEW_CELLS / 2 };
    const int even = cells % 2 == 0;
    double before[TERMS] = { even ? 0 : -1 }, now[TERMS] = { 1 };
    for (int n = even ? 2 : 1; n < cells; n += 2)
        for (int k = TERMS - 1; k >= 0;
             k--) { /* downwards, as now[k - 1] must still be the old number */
            const double next = (k > 0 ? now[k - 1] : 0) - before[k];
            before[k] = now[k];
            now[k] = next;
        }
    memcpy(p->power, now, sizeof now);
    p->even = even;
}

static void fill_few_cells(db_kernel_job *job) {
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

/* Bound of the Miller indices of all pixels: |q| is at most 2/wavelength. */
static double largest_index(const db_plan_values *values, size_t sources) {
    double edge = 0, kappa = 0;
    for (int r = 0; r < 3; r++) {
        double v[3];
        db_vector_out(values->interface.lattice.r[r], v);
        edge = fmax(edge, db_length(v));
    }
    for (size_t j = 0; j < sources; j++) kappa = fmax(kappa, values->source_double[j].kappa);
    return 2 * kappa * edge;
}

/* Input of the reference's order of summation */

static db_status create_reference(db_context *context, const db_experiment *e,
                                  size_t parameter_count, db_plan_values *values) {
    if (!e->reference.on) return DB_OK;
    if (parameter_count)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "nanoBragg's arithmetic (compat) has no derivatives: its sums depend on "
                       "the order of the samples; expected no parameters, found %zu",
                       parameter_count);
    if (e->detector.panel_count != 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "nanoBragg's arithmetic (compat): expected one panel, found %zu",
                       e->detector.panel_count);
    values->reference_phi_step =
        malloc((size_t)e->goniometer.phi_steps * sizeof *values->reference_phi_step);
    return values->reference_phi_step ? DB_OK : db_fail_memory(context, "a plan");
}

/* Stale steps: at a spindle angle of exactly 0 the reference keeps the cell vectors of the previous
 * sample. This is the previous step, or, at the first step, the last step of the previous source or
 * sub-pixel. */
static void stale_steps(const db_goniometer *g, int *step) {
    static const double degree = 1 / (180 * (1 / 3.14159265358979323846));
    for (int i = 0; i < g->phi_steps; i++) {
        const int stale = g->phi * degree + g->phi_step * degree * i == 0;
        step[i] = !stale ? i : i > 0 ? step[i - 1] : g->phi_steps - 1;
    }
}

static void fill_reference(const db_experiment *e, db_plan_values *values, db_kernel_job *job) {
    db_kernel_reference *r = &values->reference;
    if (!e->reference.on) return;
    double columns[9];
    db_crystal_matrix(&e->crystal, columns);
    for (int j = 0; j < 3; j++)
        for (int c = 0; c < 3; c++)
            r->reciprocal[3 * j + c] = columns[3 * c + j] * e->reference.reciprocal_scale;
    const double samples = (double)values->sample_count;
    r->experiment = e;
    r->fluence = DB_THOMSON_R2 * e->beam.fluence * e->beam.scale;
    r->steps = samples * (double)e->beam.source_count * e->oversample * e->oversample;
    /* interface.water contains the number of samples */
    r->background = r->fluence * values->interface.water.v / samples;
    stale_steps(&e->goniometer, values->reference_phi_step);
    r->phi_step = values->reference_phi_step;
    job->reference = r;
}

void db_plan_values_fill(const db_experiment *e, const db_plan_parameters *parameters,
                         const db_plan_table *table, db_plan_values *values, db_kernel_job *job) {
    db_model_plain(e, values->directions, &values->interface);
    fill_panels(&e->detector, values);
    fill_sources(e->beam.source_count, db_site_count(&e->structure_factors), values);
    fill_samples(values);
    fill_halo(e, values, job);
    fill_general(e, values, parameters, table, job);
    job->shape = e->crystal.shape;
    job->fudge = e->crystal.fudge;
    for (int i = 0; i < 3; i++) {
        job->cells[i] = values->interface.cells[i].v;
        job->table_min[i] = e->structure_factors.min[i];
        job->table_extent[i] = e->structure_factors.extent[i];
    }
    job->largest_index = largest_index(values, e->beam.source_count);
    fill_few_cells(job);
    job->b_factor = values->interface.b_factor.v;
    job->debye_waller =
        job->b_factor != 0 || db_parameters_moving(parameters, DB_MOVES_DEBYE_WALLER) > 0;
    job->scale = job->residual_scale = values->interface.scale.v;
    job->oversample = e->oversample;
    job->sub_pixel = 1.0 / e->oversample;
    job->point_pixel = e->point_pixel;
    job->panel = values->panel;
    job->source_double = values->source_double;
    job->source_float = values->source_float;
    job->source_count = e->beam.source_count;
    job->sample_double = values->sample_double;
    job->sample_float = values->sample_float;
    job->sample_count = values->sample_count;
    job->intensity_double = table->intensity_double;
    job->intensity_float = table->intensity_float;
    job->table_used = table->count > 0;
    job->default_intensity = e->structure_factors.default_F * e->structure_factors.default_F;
    fill_reference(e, values, job);
}

db_status db_plan_values_create(db_context *context, const db_experiment *e,
                                const db_plan_parameters *parameters, db_plan_values *values) {
    values->sample_count = db_sample_count(e);
    values->directions = malloc((size_t)e->crystal.mosaic_domains * sizeof *values->directions);
    values->interface.rotation = malloc(values->sample_count * sizeof *values->interface.rotation);
    values->interface.panel = malloc(e->detector.panel_count * sizeof *values->interface.panel);
    values->interface.source = malloc(e->beam.source_count * sizeof *values->interface.source);
    const size_t curves = 2 * e->beam.source_count * (size_t)db_site_count(&e->structure_factors);
    values->interface.site_curve = malloc((curves + 1) * sizeof *values->interface.site_curve);
    values->site_curve = malloc((curves + 1) * sizeof *values->site_curve);
    values->panel = malloc(e->detector.panel_count * sizeof *values->panel);
    values->source_double = calloc(e->beam.source_count, sizeof *values->source_double);
    values->source_float = malloc(e->beam.source_count * sizeof *values->source_float);
    values->sample_double = malloc(values->sample_count * sizeof *values->sample_double);
    values->sample_float = calloc(values->sample_count, sizeof *values->sample_float);
    if (!values->directions || !values->interface.rotation || !values->interface.panel ||
        !values->interface.source || !values->interface.site_curve || !values->site_curve ||
        !values->panel || !values->source_double || !values->source_float ||
        !values->sample_double || !values->sample_float)
        return db_fail_memory(context, "a plan");
    DB_TRY(db_amorphous_curve_create(context, e->background.count, &values->curve));
    return create_reference(context, e, parameters->count, values);
}

void db_plan_values_draw(const db_experiment *e, db_plan_values *values) {
    db_mosaic_directions(e->crystal.mosaic_seed, e->crystal.mosaic_spread,
                         e->crystal.mosaic_domains, values->directions);
}

void db_plan_values_clear(db_plan_values *values) {
    void *const owned[] = { values->directions,      values->interface.rotation,
                            values->site_curve,      values->interface.site_curve,
                            values->interface.panel, values->interface.source,
                            values->panel,           values->source_double,
                            values->source_float,    values->sample_double,
                            values->sample_float,    values->reference_phi_step };
    db_amorphous_curve_clear(&values->curve);
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}
