/* Bounds of the relative slope of one sample's scattering. */
#include "engine/slope_bound.h"

#include "base/threads.h"
#include "engine/spots.h"

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/spot.h"

#include <math.h>
#include <stdlib.h>

/* Factors of the shape on slopes of Miller indices, per cell, and of cell counts. */
typedef struct {
    double by_index, by_cells[3];
} shape_factors;

/* The factors of kernel/spot_cut.h; a Gaussian spot that is not cut off is steepest at 0.315. */
static shape_factors factors_of(const db_plan *plan) {
    const db_crystal *c = &plan->experiment.crystal;
    const double pi = acos(-1), root = sqrt(c->fudge), g = fmax(plan->job.cut, 0.315);
    shape_factors f = { c->shape == DB_SHAPE_SQUARE  ? pi * pi
                        : c->shape == DB_SHAPE_ROUND ? 2.8 * pi * root
                                                     : 4 / 0.63 * root * sqrt(g),
                        { 0 } };
    for (int j = 0; j < 3; j++)
        f.by_cells[j] = c->shape == DB_SHAPE_SQUARE  ? pi
                        : c->shape == DB_SHAPE_ROUND ? 2 / c->Ncells[j] + 1.4 * pi * root
                                                     : (2 + 4 / 0.63 * g) / c->Ncells[j];
    return f;
}

static double logarithmic(double slope, double value) {
    return slope == 0 ? 0 : value == 0 ? INFINITY : fabs(slope / value);
}

static double of_sample(const db_plan *plan, const shape_factors *f, num u, const num h[3], int p) {
    const double *n = plan->experiment.crystal.Ncells;
    double sum = logarithmic(u.d[p], u.v);
    for (int j = 0; j < 3; j++)
        /* interpolated factors: 3.2, the slope of their square by h in parts of its bound */
        sum += (f->by_index * n[j] + (plan->job.interpolate ? 3.2 : 0)) * fabs(h[j].d[p]) +
               f->by_cells[j] * fabs(plan->slopes.interface.cells[j].d[p]);
    return sum;
}

typedef struct {
    const db_plan *plan;
    const db_parameter_slots *slots;
    shape_factors factors;
} bounded;

/* The relative slope of a structure factor's square by the factor itself. */
static double of_amplitude(const db_plan *plan, db_parameter parameter) {
    if (!(db_parameter_moves(&plan->experiment, parameter) & DB_MOVES_AMPLITUDE)) return 0;
    return plan->job.interpolate ? INFINITY
                                 : logarithmic(2, db_parameter_get(&plan->experiment, parameter));
}

/* Bounds of a tile's spots, for some parameters: slopes that do not depend on the pixel, and the largest |W|, the
 * factor of the direction's own slope. */
typedef struct {
    double slope[DB_SLOPES_AT_ONCE], white;
} tile_bound;

static double square_of(const double v[3]) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

static void slopes_of(const vec3 *v, int p, double out[3]) {
    out[0] = v->x.d[p];
    out[1] = v->y.d[p];
    out[2] = v->z.d[p];
}

/* |d ln I/dp| of a spot: with z = W (d - c) it is at most |d ln A| + force |dz|, dz = dW W^-1 z -
 * W dc, where |z| and the force, the slope of ln I by z, are at most the root of the largest cut
 * (and one more at an end of the range, which moves by itself). */
static double of_spot(const spot_values *s, double reach, int p) {
    double by_white[9], shift[3], whole[3] = { 0 }, square = 0;
    double centre[3];
    for (int i = 0; i < 3; i++) slopes_of(&s->white.r[i], p, by_white + 3 * i);
    slopes_of(&s->centre, p, centre);
    for (int i = 0; i < 3; i++) {
        const vec3 *w = &s->white.r[i];
        shift[i] = w->x.v * centre[0] + w->y.v * centre[1] + w->z.v * centre[2];
        const double *d = by_white + 3 * i;
        whole[0] = d[0] * s->root.r[0].x.v + d[1] * s->root.r[1].x.v + d[2] * s->root.r[2].x.v;
        whole[1] = d[0] * s->root.r[0].y.v + d[1] * s->root.r[1].y.v + d[2] * s->root.r[2].y.v;
        whole[2] = d[0] * s->root.r[0].z.v + d[1] * s->root.r[1].z.v + d[2] * s->root.r[2].z.v;
        square += square_of(whole);
    }
    double moved = reach * sqrt(square) + sqrt(square_of(shift));
    /* an end farther off does not matter to the pixels that see the spot */
    if (fabs(s->from.v) < 2 * reach) moved += fabs(s->from.d[p]);
    if (fabs(s->to.v) < 2 * reach) moved += fabs(s->to.d[p]);
    return logarithmic(s->amplitude.d[p], s->amplitude.v) + reach * moved;
}

static tile_bound bound_spots(const bounded *b, size_t tile) {
    const db_plan *plan = b->plan;
    const db_kernel_spots *spots = &plan->job.spots;
    tile_bound t = { 0 };
    for (uint32_t i = spots->first[tile]; i < spots->first[tile + 1]; i++) {
        const db_spot_entry *entry = &plan->job.spots.entry[spots->number[i]];
        const spot_values s =
            spot_at(&plan->experiment, &plan->slopes.interface, b->slots, &entry->name);
        const double reach = sqrt(entry->cut) + (entry->name.passage.moves ? 1 : 0);
        double square = 0;
        for (int k = 0; k < 9; k++) square += pow(spots->spot[spots->number[i]].white[k], 2);
        t.white = fmax(t.white, reach * sqrt(square));
        for (int p = 0; p < b->slots->count; p++)
            t.slope[p] = fmax(t.slope[p], of_spot(&s, reach, p));
    }
    return t;
}

/* Adds the slopes at a point of a pixel: of its tile's spots; spots NULL: of samples. */
static void add_site(const bounded *b, size_t panel, int layer, double fast, double slow,
                     const tile_bound *spots, double worst[DB_SLOPES_AT_ONCE]) {
    const db_plan *plan = b->plan;
    const site s = site_at(&plan->experiment, &plan->slopes.interface, panel, layer, fast, slow);
    for (size_t n = 0; n < plan->experiment.beam.source_count; n++) {
        const source_interface *source = &plan->slopes.interface.source[n];
        const vec3 q = scattering_vector(s.d, source->kappa, source->s0);
        num u = n_mul(n_mul(s.omega, s.capture), plan->slopes.interface.scale);
        u = n_mul(u, polarization_factor(s.d, source->polarization));
        u = n_mul(u, debye_waller_factor(v3_square(q), plan->slopes.interface.b_factor));
        for (int p = 0; p < b->slots->count && spots; p++) {
            double d[3];
            slopes_of(&s.d, p, d);
            worst[p] = fmax(worst[p], logarithmic(u.d[p], u.v) + spots->slope[p] +
                                          spots->white * sqrt(square_of(d)));
        }
        if (spots) continue;
        u = n_mul(u, source->weight);
        for (size_t sample = 0; sample < plan->values.sample_count; sample++) {
            const vec3 hkl = m3_apply(plan->slopes.interface.lattice,
                                      m3_apply(plan->slopes.interface.rotation[sample], q));
            const num h[3] = { hkl.x, hkl.y, hkl.z };
            for (int p = 0; p < b->slots->count; p++)
                worst[p] = fmax(worst[p], of_sample(plan, &b->factors, u, h, p));
        }
    }
}

static void add_pixel(const bounded *b, const db_region *r, int fast, int slow,
                      const tile_bound *spots, double worst[DB_SLOPES_AT_ONCE]) {
    const db_kernel_job *job = &b->plan->job;
    const double *size = job->panel[r->panel].pixel_size;
    for (int p = 0; p < DB_SLOPES_AT_ONCE; p++) worst[p] = 0;
    for (int i = 0; i < job->oversample; i++)
        for (int j = 0; j < job->oversample; j++)
            for (int layer = 0; layer < (spots ? 1 : job->layers); layer++)
                add_site(b, r->panel, layer,
                         (r->fast_start + fast + (j + 0.5) * job->sub_pixel) * size[0],
                         (r->slow_start + slow + (i + 0.5) * job->sub_pixel) * size[1], spots,
                         worst);
}

static void bound_tile(const bounded *b, const db_tile *tile, double *const *bound) {
    const db_region *r = &b->plan->tiles.regions[tile->region];
    const tile_bound spots = b->plan->spots ? bound_spots(b, tile->region) : (tile_bound){ 0 };
    for (int slow = tile->row_begin; slow < tile->row_end; slow++)
        for (int fast = 0; fast < r->fast_count; fast++) {
            double worst[DB_SLOPES_AT_ONCE];
            add_pixel(b, r, fast, slow, b->plan->spots ? &spots : NULL, worst);
            const size_t i = r->offset + (size_t)slow * r->stride + (size_t)fast;
            for (int p = 0; p < b->slots->count; p++)
                bound[p][i] =
                    worst[p] + (b->plan->spots ? 0 : of_amplitude(b->plan, b->slots->parameter[p]));
        }
}

db_status db_plan_slope_bounds(db_plan *plan, double *const *bound) {
    if (plan->spots) DB_TRY(db_spots_fill(plan));
    for (size_t first = 0; first < plan->parameters.count; first += DB_SLOPES_AT_ONCE) {
        const db_parameter_slots slots = db_parameters_at_once(&plan->parameters, first);
        const bounded b = { plan, &slots, factors_of(plan) };
        const long tiles = (long)plan->tiles.count;
        db_model_dual(&plan->experiment, plan->values.directions, &slots, &plan->slopes.interface);
#if defined(_OPENMP)
        const int threads = db_threads_for(plan->context, tiles);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
        for (long t = 0; t < tiles; t++) bound_tile(&b, &plan->tiles.list[t], bound + first);
    }
    return DB_OK;
}
