/* One sample after the other through the model and the physics of the pixel loop, in double
 * precision and without vectors (model.md 11.1). */
#include <dualbragg/pixel_trace.h>

#include "core/context_internal.h"
#include "model/model.h"

#include <stdlib.h>

struct db_trace {
    db_experiment experiment; /* own copy */
    db_interface model;
};

static db_status prepare(db_context *context, db_trace *trace) {
    const db_experiment *e = &trace->experiment;
    const size_t domains = (size_t)e->crystal.mosaic_domains;
    db_mosaic_direction *directions = calloc(domains, sizeof *directions);
    db_interface *m = &trace->model;
    m->rotation = calloc(domains * (size_t)e->goniometer.phi_steps, sizeof *m->rotation);
    m->panel = calloc(e->detector.panel_count, sizeof *m->panel);
    m->source = calloc(e->beam.source_count, sizeof *m->source);
    const int complete = directions && m->rotation && m->panel && m->source;
    if (complete) {
        db_mosaic_directions(e->crystal.mosaic_seed, e->crystal.mosaic_spread,
                             e->crystal.mosaic_domains, directions);
        db_model_plain(e, directions, m);
    }
    free(directions);
    return complete ? DB_OK : db_fail_memory(context, "the trace of a pixel");
}

db_status db_trace_create(db_context *context, const db_experiment *experiment, db_trace **trace) {
    *trace = NULL;
    DB_TRY(db_experiment_check(context, experiment));
    db_trace *made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(context, "the trace of a pixel");
    db_status status = db_experiment_copy(context, experiment, &made->experiment);
    if (status == DB_OK) status = prepare(context, made);
    if (status != DB_OK)
        db_trace_destroy(&made);
    else
        *trace = made;
    return status;
}

void db_trace_destroy(db_trace **trace) {
    if (!trace || !*trace) return;
    db_trace *const t = *trace;
    *trace = NULL;
    db_experiment_clear(&t->experiment);
    free(t->model.rotation);
    free(t->model.panel);
    free(t->model.source);
    free(t);
}

void db_trace_source(const db_trace *trace, size_t source, double direction[3], double *wavelength,
                     double *weight) {
    const db_source_interface *s = &trace->model.source[source];
    direction[0] = s->s0.x.v / s->kappa.v;
    direction[1] = s->s0.y.v / s->kappa.v;
    direction[2] = s->s0.z.v / s->kappa.v;
    *wavelength = 1 / s->kappa.v;
    *weight = s->weight.v;
}
