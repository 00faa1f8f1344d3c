/* The samples of a pixel, node by node: the physics of the pixel loop, in double precision and
 * without vectors (docs/theory/pixel.md, Sum over samples). */
#include "engine/node_samples.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"

/* A pixel, and the sums of the nodes near its samples. */
typedef struct pixel_nodes {
    const db_experiment *experiment;
    const db_interface *model;
    const db_matrix *lattice;
    db_node_sums *sums;
    size_t next, stride; /* samples next, next + stride, ... count */
    int failed;          /* 1: memory ran out */
} pixel_nodes;

/* Skips the next `count` samples and returns 1 if none of them counts. */
static int pass_nodes(pixel_nodes *t, size_t count) {
    if (t->next < count) return 0;
    t->next -= count;
    return 1;
}

static size_t crystal_samples(const db_experiment *e) { return db_sample_count(e); }

void db_node_lattices(const db_trace *trace, db_matrix *lattice) {
    const size_t count = crystal_samples(&trace->experiment);
    for (size_t k = 0; k < count; k++)
        lattice[k] = m3_multiply(trace->model.lattice, trace->model.rotation[k]);
}

/* Adds what all phi steps and domains scatter of one source at one q. The lattice changes little between neighbouring
 * samples, so that most samples have the node of the previous sample. */
static void add_crystal(pixel_nodes *t, size_t source, vec3 q, double factor) {
    const db_experiment *const e = t->experiment;
    const db_structure_factors *const f = &e->structure_factors;
    const size_t count = crystal_samples(e);
    for (; t->next < count && !t->failed; t->next += t->stride) {
        const vec3 hkl = m3_apply(t->lattice[t->next], q);
        const num h[3] = { hkl.x, hkl.y, hkl.z };
        double node[3];
        num offset[3];
        for (int j = 0; j < 3; j++) {
            node[j] = nearest_node(h[j].v);
            offset[j] = n_shift(h[j], -node[j]);
        }
        const double square = (f->amplitude && f->interpolate
                                   ? n_sqr(interpolated_amplitude(f, NULL, h))
                                   : node_square(f, NULL, t->model->site_curve, source, node))
                                  .v;
        if (square == 0) continue;
        const double shape =
            lattice_amplitude_squared(e->crystal.shape, e->crystal.fudge, offset, t->model->cells)
                .v;
        const int hkl_of_node[3] = { (int)node[0], (int)node[1], (int)node[2] };
        db_node_sum *const sum = db_node_sums_find(t->sums, hkl_of_node, 0);
        t->failed = !sum;
        if (sum) sum->photons += factor * square * shape;
    }
    t->next -= count;
}

/* Adds all sources at a point of a pixel. */
static void add_sources(pixel_nodes *t, const site *at) {
    const db_experiment *const e = t->experiment;
    for (size_t n = 0; n < e->beam.source_count; n++) {
        const db_source_interface *const source = &t->model->source[n];
        if (pass_nodes(t, crystal_samples(e))) continue;
        const vec3 q = scattering_vector(at->d, source->kappa, source->s0);
        const num square = v3_square(q);
        if (source->weight.v == 0 || !within_resolution(square.v, e->dmin)) {
            while (t->next < crystal_samples(e)) t->next += t->stride;
            t->next -= crystal_samples(e);
            continue;
        }
        add_crystal(t, n, q,
                    at->omega.v * at->capture.v * source->weight.v *
                        polarization_factor(at->d, source->polarization).v *
                        debye_waller_factor(square, t->model->b_factor).v);
    }
}

int db_node_samples(const db_trace *trace, const db_matrix *lattice, size_t panel, int fast,
                    int slow, size_t most, db_node_sums *nodes) {
    const db_experiment *const e = &trace->experiment;
    const double *const size = e->detector.panels[panel].pixel_size;
    const int sub = e->oversample,
              layers = e->detector.sensor_thickness != 0 ? e->detector.sensor_layers : 1;
    const size_t each = crystal_samples(e) * e->beam.source_count,
                 all = each * (size_t)layers * (size_t)(sub * sub),
                 stride = most && most < all ? (all + most - 1) / most : 1;
    /* neighbouring pixels begin with different samples */
    pixel_nodes t = {
        e, &trace->model, lattice, nodes, ((size_t)fast + 3 * (size_t)slow) % stride, stride, 0
    };
    for (int layer = 0; layer < layers; layer++)
        for (int i = 0; i < sub * sub && !t.failed; i++) {
            if (pass_nodes(&t, each)) continue;
            const int sub_fast = i % sub, sub_slow = i / sub;
            const site at =
                site_at(e, t.model, panel, layer, 1e-3 * size[0] * (fast + (sub_fast + 0.5) / sub),
                        1e-3 * size[1] * (slow + (sub_slow + 0.5) / sub));
            add_sources(&t, &at);
        }
    return !t.failed;
}
