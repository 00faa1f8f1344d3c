/* The oracle of a plan, with its own input or with changed input. */
#include "engine/plan_oracle.h"

#include "base/threads.h"
#include "engine/execute.h"
#include "kernel/oracle.h"
#include "engine/spots.h"
#include "model/halo_samples.h"
#include <dualbragg/expert/oracle.h>

/* A tile's rows as a region of their own. */
static db_region rows_of(const db_plan *plan, const db_tile *tile) {
    db_region r = plan->tiles.regions[tile->region];
    r.offset += (size_t)tile->row_begin * r.stride;
    r.slow_start += tile->row_begin;
    r.slow_count = tile->row_end - tile->row_begin;
    return r;
}

static db_status render_tiles(const db_plan *plan, const db_oracle *oracle, double *image,
                              double *const *derivatives) {
    const long tiles = (long)plan->tiles.count;
    int failed = 0;
#if defined(_OPENMP)
    const int threads = db_threads_for(plan->context, tiles);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long t = 0; t < tiles; t++) {
        if (plan->spots) {
            if (db_oracle_render_spots(oracle, plan->tiles.regions, (size_t)t, image, derivatives))
                continue;
#if defined(_OPENMP)
#pragma omp atomic write
#endif
            failed = 1;
            continue;
        }
        const db_region rows = rows_of(plan, &plan->tiles.list[t]);
        db_oracle_render(oracle, &rows, 1, image, derivatives);
    }
    return failed ? db_fail_memory(plan->context, "the oracle") : DB_OK;
}

/* Function that changes interface values; called once for each set of DB_SLOPES_AT_ONCE parameters. */
typedef void (*interface_shake)(void *user, const db_experiment *experiment,
                                db_dual_interface *interface);

/* db_plan_oracle with input changed by `shake` (NULL: not changed). */
static db_status oracle_of_shaken(db_plan *plan, interface_shake shake, void *user, double *image,
                                  double *const *derivatives) {
    db_status status = DB_OK;
    DB_TRY(db_plan_need_parameters(plan));
    if (plan->spots) DB_TRY(db_spots_fill(plan));
    db_enter_stage(plan->context, "oracle");
    for (size_t first = 0; first < plan->parameters.count && status == DB_OK;
         first += DB_SLOPES_AT_ONCE) {
        const db_parameter_slots slots = db_parameters_at_once(&plan->parameters, first);
        const db_oracle oracle = { &plan->experiment,
                                   &plan->slopes.interface,
                                   &slots,
                                   &plan->values.curve.job,
                                   plan->spots ? &plan->job.spots : NULL,
                                   plan->job.spots.entry };
        db_model_dual(&plan->experiment, plan->values.directions, &slots, &plan->slopes.interface);
        if (shake) shake(user, &plan->experiment, &plan->slopes.interface);
        status = render_tiles(plan, &oracle, image, derivatives + first);
    }
    db_leave_stage(plan->context, "oracle");
    return status;
}

db_status db_plan_oracle(db_plan *plan, double *image, double *const *derivatives) {
    return oracle_of_shaken(plan, NULL, NULL, image, derivatives);
}

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

/* Changes numbers and slopes. index: 1 if Miller indices are computed from the numbers. */
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

static void shake_panel(shaker *s, int spots, db_dual_panel_interface *p) {
    shake_vector(s, 1, &p->origin);
    shake_vector(s, 1, &p->fast);
    shake_vector(s, 1, &p->slow);
    shake_vector(s, 1, &p->normal);
    shake(s, 0, &p->z, 1);
    shake(s, 1, &p->radius, 1);
    shake(s, 1, &p->beam_fast, 1);
    shake(s, 1, &p->beam_slow, 1);
    if (spots) shake(s, 1, p->spread, 6);
}

static void shake_source(shaker *s, db_dual_source_interface *source) {
    shake(s, 1, &source->kappa, 1);
    shake_vector(s, 1, &source->s0);
    shake(s, 0, source->polarization, 6);
    shake(s, 0, &source->weight, 1);
}

/* Changes the values of spots in closed form, all of which determine places and widths of spots. */
static void shake_spread(shaker *s, db_dual_spread_interface *z) {
    shake_matrix(s, &z->reciprocal);
    shake_matrix(s, &z->turn);
    shake_vector(s, 1, &z->spindle);
    for (int k = 0; k < DB_SPREAD_MODES; k++) shake_matrix(s, &z->mode[k]);
    const struct {
        db_dual *first;
        size_t count;
    } other[] = { { z->size, 6 },         { z->rotation, 6 },
                  { &z->strain, 1 },      { z->strain_direct, 3 },
                  { z->strain_shear, 3 }, { z->tail_variance, DB_SPREAD_TAILS + 1 },
                  { &z->bandwidth, 1 },   { z->divergence, 6 } };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        shake(s, 1, other[i].first, other[i].count);
    shake(s, 0, &z->volume, 1);
    shake(s, 0, z->tail_fraction, DB_SPREAD_TAILS + 1);
}

static void shake_interface(void *user, const db_experiment *e, db_dual_interface *z) {
    shaker *const s = user;
    const int spots = e->spread.spots == DB_SPOTS_CLOSED;
    const size_t samples = db_sample_count(e);
    shake_matrix(s, &z->lattice);
    for (size_t i = 0; i < samples; i++) shake_matrix(s, &z->rotation[i]);
    for (size_t i = 0; i < e->detector.panel_count; i++) shake_panel(s, spots, &z->panel[i]);
    for (size_t i = 0; i < e->beam.source_count; i++) shake_source(s, &z->source[i]);
    if (spots) shake_spread(s, &z->spread);
    shake(s, 0, z->cells, 3);
    if (db_has_halo(&e->crystal)) shake(s, 0, z->halo, DB_HALO_SLOPES);
    db_dual *const other[] = { &z->b_factor,    &z->scale, &z->layer_step,
                               &z->attenuation, &z->water, &z->molecules };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        shake(s, other[i] == &z->layer_step, other[i], 1);
}

db_status db_plan_probe_rounding(db_plan *plan, db_probed probed, unsigned number, double *image,
                                 double *const *derivatives) {
    shaker s = { probed, 0x9e3779b97f4a7c15U * (number + 1) };
    return oracle_of_shaken(plan, shake_interface, &s, image, derivatives);
}
