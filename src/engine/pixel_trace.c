/* One sample after the other through the model and the physics of the pixel loop, in double
 * precision and without vectors (docs/theory/pixel.md, Sum over samples). */
#include "engine/pixel_trace_model.h"

#include "base/context_internal.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_status prepare_trace(db_context *context, db_trace *trace) {
    const db_experiment *e = &trace->experiment;
    const size_t domains = (size_t)e->crystal.mosaic_domains;
    db_interface *m = &trace->model;
    DB_TRY(db_amorphous_curve_create(context, e->background.count, &trace->curve));
    db_mosaic_direction *directions = calloc(domains, sizeof *directions);
    m->rotation = calloc(db_sample_count(e), sizeof *m->rotation);
    m->panel = calloc(e->detector.panel_count, sizeof *m->panel);
    m->source = calloc(e->beam.source_count, sizeof *m->source);
    m->site_curve =
        calloc(2 * e->beam.source_count * (size_t)db_site_count(&e->structure_factors) + 1,
               sizeof *m->site_curve);
    const int complete = directions && m->rotation && m->panel && m->source && m->site_curve;
    if (complete) {
        db_mosaic_directions(e->crystal.mosaic_seed, e->crystal.mosaic_spread,
                             e->crystal.mosaic_domains, directions);
        db_model_plain(e, directions, m);
        db_amorphous_curve_fill(&trace->curve, &e->background);
    }
    free(directions);
    return complete ? DB_OK : db_fail_memory(context, "the trace of a pixel");
}

static db_status create_trace(db_context *context, const db_experiment *experiment, int borrow,
                              db_trace **trace) {
    db_status status = DB_OK;
    *trace = NULL;
    DB_TRY(db_experiment_check(context, experiment));
    db_trace *made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(context, "the trace of a pixel");
    made->borrowed = borrow;
    if (borrow)
        made->experiment = *experiment;
    else
        status = db_experiment_copy(context, experiment, &made->experiment);
    if (status == DB_OK) status = prepare_trace(context, made);
    if (status != DB_OK)
        db_trace_destroy(&made);
    else
        *trace = made;
    return status;
}

db_status db_trace_create(db_context *context, const db_experiment *experiment, db_trace **trace) {
    return create_trace(context, experiment, 0, trace);
}

db_status db_trace_borrow(db_context *context, const db_experiment *experiment, db_trace **trace) {
    return create_trace(context, experiment, 1, trace);
}

void db_trace_destroy(db_trace **trace) {
    if (!trace || !*trace) return;
    db_trace *const t = *trace;
    *trace = NULL;
    if (!t->borrowed) db_experiment_clear(&t->experiment);
    db_amorphous_curve_clear(&t->curve);
    free(t->model.rotation);
    free(t->model.panel);
    free(t->model.source);
    free(t->model.site_curve);
    free(t);
}

static void vector_out(vec3 v, double scale, double out[3]) {
    out[0] = scale * v.x.v;
    out[1] = scale * v.y.v;
    out[2] = scale * v.z.v;
}

void db_trace_source(const db_trace *trace, size_t source, double direction[3], double *wavelength,
                     double *weight) {
    const db_source_interface *s = &trace->model.source[source];
    vector_out(s->s0, 1 / s->kappa.v, direction);
    *wavelength = 1 / s->kappa.v;
    *weight = s->weight.v;
}

/* Squared amplitudes of water and amorphous matter. */
static double lattice_free_square(const db_trace *trace, num stol) {
    const db_kernel_amorphous *curve = &trace->curve.job;
    const double water = trace->model.water.v;
    if (!curve->bins) return water;
    return water + trace->model.molecules.v * amorphous_square(curve, stol).v;
}

/* Where the samples of a pixel go. */
typedef struct tracer {
    const db_trace *trace;
    size_t panel;
    void (*sample)(void *user, const db_trace_sample *sample);
    void *user;
    db_trace_sum *sum;
} tracer;

/* Position, solid angle and capture of a point of a pixel (m, from the panel's corner). */
static vec3 place_sample(const tracer *t, double fast, double slow, db_trace_sample *s) {
    const site at =
        site_at(&t->trace->experiment, &t->trace->model, t->panel, s->layer, fast, slow);
    s->omega = at.omega.v;
    s->capture = at.capture.v;
    vector_out(at.x, 1e3, s->position);
    vector_out(at.d, 1, s->direction);
    return at.d;
}

double db_trace_solid_angle(const db_trace *trace, size_t panel, double fast, double slow) {
    const db_panel *p = &trace->experiment.detector.panels[panel];
    const tracer t = { trace, panel, NULL, NULL, NULL };
    db_trace_sample s;
    memset(&s, 0, sizeof s);
    (void)place_sample(&t, 1e-3 * p->pixel_size[0] * fast, 1e-3 * p->pixel_size[1] * slow, &s);
    return s.omega;
}

/* One phi step and mosaic domain. factor: what F_c^2 F_latt^2 is multiplied by. */
static void trace_crystal(const tracer *t, vec3 q, double factor, db_trace_sample *s) {
    const db_experiment *e = &t->trace->experiment;
    const db_interface *m = &t->trace->model;
    const mat3 lattice =
        m3_multiply(m->lattice, m->rotation[s->phi_step * e->crystal.mosaic_domains + s->domain]);
    const vec3 hkl = m3_apply(lattice, q);
    const num h[3] = { hkl.x, hkl.y, hkl.z };
    num offset[3];
    for (int i = 0; i < 3; i++) vector_out(lattice.r[i], 1, s->lattice + 3 * i);
    vector_out(hkl, 1, s->miller);
    for (int j = 0; j < 3; j++) {
        s->node[j] = nearest_node(h[j].v);
        offset[j] = n_shift(h[j], -s->node[j]);
    }
    const db_structure_factors *f = &e->structure_factors;
    s->amplitude = (f->amplitude && f->interpolate ? interpolated_amplitude(f, NULL, h)
                    : f->sites ? n_sqrt(node_square(f, NULL, m->site_curve, s->source, s->node))
                               : node_amplitude(f, NULL, s->node))
                       .v;
    s->lattice_square =
        lattice_amplitude_squared(e->crystal.shape, e->crystal.fudge, offset, m->cells).v;
    const double square = s->cut ? 0 : s->amplitude * s->amplitude * s->lattice_square;
    s->intensity = factor * square;
    t->sum->samples++;
    t->sum->cut += s->cut != 0;
    t->sum->squares += square;
    t->sum->crystal += s->intensity;
    if (t->sample) t->sample(t->user, s);
}

static void trace_source(const tracer *t, vec3 d, double share, db_trace_sample *s) {
    const db_experiment *e = &t->trace->experiment;
    const db_source_interface *source = &t->trace->model.source[s->source];
    const vec3 q = scattering_vector(d, source->kappa, source->s0);
    const double square = v3_square(q).v;
    vector_out(q, 1, s->q);
    s->wavelength = 1 / source->kappa.v;
    s->weight = source->weight.v;
    s->polarization = polarization_factor(d, source->polarization).v;
    s->debye_waller = debye_waller_factor(n_constant(square), t->trace->model.b_factor).v;
    s->cut = !within_resolution(square, e->dmin);
    const double factor =
        t->trace->model.scale.v * s->omega * s->capture * s->weight * s->polarization;
    t->sum->polarization += share * s->weight * s->polarization;
    t->sum->background += factor * lattice_free_square(t->trace, resolution(v3_square(q)));
    if (!s->cut)
        t->sum->background +=
            factor * s->debye_waller * halo_square(e, &t->trace->model, NULL, q).v;
    for (s->phi_step = 0; s->phi_step < e->goniometer.phi_steps; s->phi_step++)
        for (s->domain = 0; s->domain < e->crystal.mosaic_domains; s->domain++)
            trace_crystal(t, q, factor * s->debye_waller, s);
}

static void trace_all(const tracer *t, int fast, int slow) {
    const db_experiment *e = &t->trace->experiment;
    const db_panel *panel = &e->detector.panels[t->panel];
    const int sub = e->oversample,
              layers = e->detector.sensor_thickness != 0 ? e->detector.sensor_layers : 1;
    const double share = 1.0 / ((double)sub * sub * layers);
    db_trace_sample s;
    memset(&s, 0, sizeof s);
    for (s.layer = 0; s.layer < layers; s.layer++)
        for (s.sub_slow = 0; s.sub_slow < sub; s.sub_slow++)
            for (s.sub_fast = 0; s.sub_fast < sub; s.sub_fast++) {
                const vec3 d = place_sample(
                    t, 1e-3 * panel->pixel_size[0] * (fast + (s.sub_fast + 0.5) / sub),
                    1e-3 * panel->pixel_size[1] * (slow + (s.sub_slow + 0.5) / sub), &s);
                t->sum->omega += share * s.omega;
                t->sum->capture += share * layers * s.capture;
                for (s.source = 0; s.source < e->beam.source_count; s.source++)
                    trace_source(t, d, share, &s);
            }
    t->sum->intensity = t->sum->crystal + t->sum->background;
}

db_status db_trace_pixel(db_context *context, const db_trace *trace, size_t panel, int fast,
                         int slow, void (*sample)(void *user, const db_trace_sample *sample),
                         void *user, db_trace_sum *sum) {
    const db_detector *detector = &trace->experiment.detector;
    if (panel >= detector->panel_count || fast < 0 || slow < 0 ||
        fast >= detector->panels[panel].fast_pixels || slow >= detector->panels[panel].slow_pixels)
        return db_fail(context, DB_ERROR_USAGE, "trace: there is no pixel %d %d on panel %zu", fast,
                       slow, panel);
    memset(sum, 0, sizeof *sum);
    const tracer t = { trace, panel, sample, user, sum };
    trace_all(&t, fast, slow);
    return DB_OK;
}
