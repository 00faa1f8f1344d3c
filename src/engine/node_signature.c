/* Signature of a pixel: a hash of the nearest nodes of all its samples. */
#include "engine/node_signature.h"

#include "base/photon_energy.h"
#include "base/threads.h"
#include "engine/node_hash.h"
#include "engine/spot_places.h"
#include "kernel/job.h"
#include "model/halo_samples.h"
#include "model/model.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"

#include <math.h>
#include <stdlib.h>

struct db_node_signer {
    db_context *context;
    db_mosaic_direction *directions;
    db_interface interface;
    size_t samples;
    int closed; /* 1: the hash is made of the spots that reach a pixel, not of samples */
    /* 1: part of the hash. Chosen at the start: there N is a whole number, which steps in N leave */
    int nearest_node, cube_of_nodes, inside_spot;
};

/* 1 if the interference function itself depends on which node is the nearest. */
static int shape_has_nodes(const db_crystal *crystal) {
    if (crystal->shape != DB_SHAPE_SQUARE) return 1;
    for (int i = 0; i < 3; i++)
        if (crystal->Ncells[i] != floor(crystal->Ncells[i])) return 1;
    return 0;
}

static void choose_parts(db_node_signer *signer, const db_experiment *e) {
    const db_structure_factors *f = &e->structure_factors;
    signer->cube_of_nodes = f->amplitude && f->interpolate;
    signer->nearest_node = shape_has_nodes(&e->crystal) || (f->amplitude && !signer->cube_of_nodes);
    signer->inside_spot = e->crystal.shape == DB_SHAPE_TOPHAT && !signer->closed;
}

db_status db_node_signer_create(db_context *context, const db_experiment *e,
                                db_node_signer **signer) {
    db_node_signer *made = calloc(1, sizeof *made);
    *signer = made;
    if (!made) return db_fail_memory(context, "the nodes of a check");
    made->context = context;
    made->samples = db_sample_count(e);
    made->closed = e->spread.spots == DB_SPOTS_CLOSED;
    choose_parts(made, e);
    made->directions = malloc((size_t)e->crystal.mosaic_domains * sizeof *made->directions);
    made->interface.rotation = malloc(made->samples * sizeof *made->interface.rotation);
    made->interface.panel = malloc(e->detector.panel_count * sizeof *made->interface.panel);
    made->interface.source = malloc(e->beam.source_count * sizeof *made->interface.source);
    if (!made->directions || !made->interface.rotation || !made->interface.panel ||
        !made->interface.source) {
        db_node_signer_destroy(signer);
        return db_fail_memory(context, "the nodes of a check");
    }
    db_mosaic_directions(e->crystal.mosaic_seed, e->crystal.mosaic_spread,
                         e->crystal.mosaic_domains, made->directions);
    return DB_OK;
}

void db_node_signer_destroy(db_node_signer **signer) {
    if (!*signer) return;
    free((*signer)->directions);
    free((*signer)->interface.rotation);
    free((*signer)->interface.panel);
    free((*signer)->interface.source);
    free(*signer);
    *signer = NULL;
}

int db_node_signature_matters(const db_experiment *experiment) {
    if (experiment->spread.spots == DB_SPOTS_CLOSED)
        return experiment->goniometer.phi_step != 0 || experiment->background.count > 0 ||
               experiment->structure_factors.sites || experiment->dmin > 0 ||
               db_has_halo(&experiment->crystal);
    return db_has_halo(&experiment->crystal) || shape_has_nodes(&experiment->crystal) ||
           experiment->structure_factors.amplitude || experiment->background.count > 0 ||
           experiment->dmin > 0;
}

static uint64_t mix_sample(uint64_t hash, const db_node_signer *signer, const db_experiment *e,
                           size_t sample, vec3 q) {
    const db_interface *z = &signer->interface;
    const vec3 hkl = m3_apply(z->lattice, m3_apply(z->rotation[sample], q));
    const num h[3] = { hkl.x, hkl.y, hkl.z };
    double g = 0;
    if (db_has_halo(&e->crystal)) {
        double node[3];
        nearest_halo_node(z->halo, hkl, node);
        for (int j = 0; j < 3; j++) hash = db_mix(hash, node[j]);
    }
    for (int j = 0; j < 3; j++) {
        const double node = nearest_node(h[j].v);
        if (signer->nearest_node) hash = db_mix(hash, node);
        if (signer->cube_of_nodes) hash = db_mix(hash, floor(h[j].v));
        g += spot_radius_axis(n_shift(h[j], -node), z->cells[j]).v;
    }
    return signer->inside_spot ? db_mix(hash, tophat_spot(n_constant(e->crystal.fudge * g)).v)
                               : hash;
}

/* Mixes in the side of the resolution limit, and the interval of the amorphous amplitudes. The direct beam
 * counts as an interval of its own, since the amplitudes have a tip there. */
static uint64_t mix_resolution(uint64_t hash, const db_experiment *e, vec3 q) {
    const double square = v3_square(q).v, stol = resolution(v3_square(q)).v;
    double interval = stol > 0 ? 0 : -1;
    for (size_t i = 0; i < e->background.count && stol >= e->background.stol[i]; i++) interval++;
    return db_mix(db_mix(hash, within_resolution(square, e->dmin)), interval);
}

/* Mixes in the interval of each curve that contains the energy. */
static uint64_t mix_curves(uint64_t hash, const db_experiment *e, double energy) {
    const db_site_kinds *const sites = e->structure_factors.sites;
    for (int k = 0; k < db_site_count(&e->structure_factors); k++) {
        const db_site_kind *const kind = &sites->kind[k];
        double below = 0;
        for (size_t i = 0; i < kind->count && kind->energy[i] <= energy; i++) below++;
        hash = db_mix(hash, below);
    }
    return hash;
}

static uint64_t mix_direction(uint64_t hash, const db_node_signer *signer, const db_experiment *e,
                              vec3 d) {
    for (size_t n = 0; n < e->beam.source_count; n++) {
        const db_source_interface *source = &signer->interface.source[n];
        const vec3 q = scattering_vector(d, source->kappa, source->s0);
        hash = mix_resolution(hash, e, q);
        hash = mix_curves(hash, e, DB_EV_ANGSTROM * source->kappa.v);
        if (signer->closed && !db_has_halo(&e->crystal)) continue;
        for (size_t s = 0; s < signer->samples; s++) hash = mix_sample(hash, signer, e, s, q);
    }
    return hash;
}

static uint64_t pixel_signature(const db_node_signer *signer, const db_experiment *e, size_t p,
                                int fast, int slow) {
    const db_panel *panel = &e->detector.panels[p];
    const int layers = e->detector.sensor_thickness != 0 ? e->detector.sensor_layers : 1;
    const double pixel_fast = panel->pixel_size[0] * 1e-3, pixel_slow = panel->pixel_size[1] * 1e-3;
    uint64_t hash = 0;
    for (int i = 0; i < e->oversample; i++)
        for (int j = 0; j < e->oversample; j++)
            for (int layer = 0; layer < layers; layer++) {
                const site at = site_at(e, &signer->interface, p, layer,
                                        (fast + (j + 0.5) / e->oversample) * pixel_fast,
                                        (slow + (i + 0.5) / e->oversample) * pixel_slow);
                hash = mix_direction(hash, signer, e, at.d);
            }
    return hash;
}

static void sign_region(const db_node_signer *signer, const db_experiment *e, const db_region *r,
                        uint64_t *signature) {
    for (int slow = 0; slow < r->slow_count; slow++)
        for (int fast = 0; fast < r->fast_count; fast++)
            signature[r->offset + (size_t)slow * r->stride + (size_t)fast] =
                pixel_signature(signer, e, r->panel, r->fast_start + fast, r->slow_start + slow);
}

db_status db_node_signature(db_node_signer *signer, const db_experiment *experiment,
                            const db_region *regions, size_t region_count, uint64_t *signature) {
    db_model_plain(experiment, signer->directions, &signer->interface);
    const long count = (long)region_count;
#if defined(_OPENMP)
    const int threads = db_threads_for(signer->context, count);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long r = 0; r < count; r++) sign_region(signer, experiment, &regions[r], signature);
    if (!signer->closed) return DB_OK;
    return db_spots_sign(signer->context, experiment, regions, region_count, signature);
}
