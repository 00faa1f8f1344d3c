#include "engine/rounding_probe.h"

#include "engine/plan_oracle.h"

typedef struct {
    db_probed probed;
    uint64_t state;
} shaker;

/* +1 or -1 (xorshift64). */
static double sign(shaker *s) {
    s->state ^= s->state << 13;
    s->state ^= s->state >> 7;
    s->state ^= s->state << 17;
    return s->state >> 63 ? 1 : -1;
}

/* index: 1 if the number has a part in Miller indices. */
static void shake(shaker *s, int index, db_dual *number, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double change = DB_PROBE_CHANGE * sign(s);
        if (!index || s->probed == DB_PROBE_INDICES) number[i].v *= 1 + change;
        for (int k = 0; k < DB_SLOPES_AT_ONCE; k++) number[i].d[k] *= 1 + DB_PROBE_CHANGE * sign(s);
    }
}

static void shake_vector(shaker *s, int index, db_dual_vector *v) {
    shake(s, index, &v->x, 1);
    shake(s, index, &v->y, 1);
    shake(s, index, &v->z, 1);
}

static void shake_matrix(shaker *s, db_dual_matrix *m) {
    for (int r = 0; r < 3; r++) shake_vector(s, 1, &m->r[r]);
}

static void shake_panel(shaker *s, db_dual_panel_interface *p) {
    shake_vector(s, 1, &p->origin);
    shake_vector(s, 1, &p->fast);
    shake_vector(s, 1, &p->slow);
    shake_vector(s, 1, &p->normal);
    shake(s, 0, &p->z, 1);
    shake(s, 1, &p->radius, 1);
    shake(s, 1, &p->beam_fast, 1);
    shake(s, 1, &p->beam_slow, 1);
}

static void shake_source(shaker *s, db_dual_source_interface *source) {
    shake(s, 1, &source->kappa, 1);
    shake_vector(s, 1, &source->s0);
    shake(s, 0, source->polarization, 6);
    shake(s, 0, &source->weight, 1);
}

static void shake_interface(void *user, const db_experiment *e, db_dual_interface *z) {
    shaker *const s = user;
    const size_t samples = (size_t)e->goniometer.phi_steps * (size_t)e->crystal.mosaic_domains;
    shake_matrix(s, &z->lattice);
    for (size_t i = 0; i < samples; i++) shake_matrix(s, &z->rotation[i]);
    for (size_t i = 0; i < e->detector.panel_count; i++) shake_panel(s, &z->panel[i]);
    for (size_t i = 0; i < e->beam.source_count; i++) shake_source(s, &z->source[i]);
    shake(s, 0, z->cells, 3);
    db_dual *const other[] = { &z->b_factor,    &z->scale, &z->layer_step,
                               &z->attenuation, &z->water, &z->molecules };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        shake(s, other[i] == &z->layer_step, other[i], 1);
}

db_status db_plan_probe_rounding(db_plan *plan, db_probed probed, unsigned number, double *image,
                                 double *const *derivatives) {
    shaker s = { probed, 0x9e3779b97f4a7c15U * (number + 1) };
    return db_plan_oracle_shaken(plan, shake_interface, &s, image, derivatives);
}
