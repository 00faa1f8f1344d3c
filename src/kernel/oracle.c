#include "kernel/oracle.h"

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"

#include <math.h>

typedef db_oracle oracle;

/* F_c^2 F_latt^2 of one sample. */
static num sample_intensity(const oracle *o, size_t sample, vec3 q) {
    const db_experiment *e = o->experiment;
    const db_dual_interface *z = o->interface;
    const vec3 hkl = m3_apply(z->lattice, m3_apply(z->rotation[sample], q));
    const num h[3] = { hkl.x, hkl.y, hkl.z };
    double node[3];
    num offset[3];
    for (int j = 0; j < 3; j++) {
        node[j] = nearest_node(h[j].v);
        offset[j] = n_shift(h[j], -node[j]);
    }
    const db_structure_factors *f = &e->structure_factors;
    const num amplitude = f->amplitude && f->interpolate ? interpolated_amplitude(f, o->slots, h)
                                                         : node_amplitude(f, o->slots, node);
    return n_mul(n_sqr(amplitude),
                 lattice_amplitude_squared(e->crystal.shape, e->crystal.fudge, offset, z->cells));
}

/* Crystal and background for one scattering vector. */
static num scattered(const oracle *o, vec3 q) {
    const db_experiment *e = o->experiment;
    const size_t samples = (size_t)e->goniometer.phi_steps * (size_t)e->crystal.mosaic_domains;
    const num square = v3_square(q);
    num sum = o->interface->water;
    if (o->curve->bins)
        sum = n_add(sum, n_mul(o->interface->molecules,
                               amorphous_square(o->curve, n_scale(n_sqrt(square), 0.5))));
    if (e->d_min > 0 && square.v * e->d_min * e->d_min > 1) return sum;
    for (size_t s = 0; s < samples; s++) sum = n_add(sum, sample_intensity(o, s, q));
    return sum;
}

/* All sources for one direction. */
static num beam(const oracle *o, vec3 d) {
    num sum = n_constant(0);
    for (size_t n = 0; n < o->experiment->beam.source_count; n++) {
        const db_dual_source_interface *source = &o->interface->source[n];
        const vec3 q = scattering_vector(d, source->kappa, source->s0);
        sum = n_add(sum, n_mul(n_mul(source->weight, polarization_factor(d, source->polarization)),
                               scattered(o, q)));
    }
    return sum;
}

/* One point of a pixel (m, from the panel's corner) in one layer. */
static num site_intensity(const oracle *o, size_t panel, double fast, double slow, int layer) {
    const site s = site_at(o->experiment, o->interface, panel, layer, fast, slow);
    return n_mul(beam(o, s.d), n_mul(s.omega, s.capture));
}

static num pixel_intensity(const oracle *o, size_t p, int fast, int slow) {
    const db_experiment *e = o->experiment;
    const db_panel *panel = &e->detector.panels[p];
    const double size_fast = panel->pixel_size[0] * 1e-3, size_slow = panel->pixel_size[1] * 1e-3;
    const int layers = e->detector.sensor_thickness != 0 ? e->detector.sensor_layers : 1;
    num total = n_constant(0);
    for (int i = 0; i < e->oversample; i++)
        for (int j = 0; j < e->oversample; j++)
            for (int layer = 0; layer < layers; layer++)
                total = n_add(
                    total, site_intensity(o, p, (fast + (j + 0.5) / e->oversample) * size_fast,
                                          (slow + (i + 0.5) / e->oversample) * size_slow, layer));
    return n_mul(o->interface->scale, total);
}

void db_oracle_render(const oracle *o, const db_region *regions, size_t region_count,
                      const db_parameter *parameters, size_t parameter_count, double *image,
                      double *const *derivative) {
    for (size_t r = 0; r < region_count; r++) {
        const db_region *region = &regions[r];
        for (int slow = 0; slow < region->slow_count; slow++)
            for (int fast = 0; fast < region->fast_count; fast++) {
                const num pixel = pixel_intensity(o, region->panel, region->fast_start + fast,
                                                  region->slow_start + slow);
                const size_t element =
                    region->offset + (size_t)slow * region->stride + (size_t)fast;
                image[element] = pixel.v;
                for (size_t k = 0; k < parameter_count; k++)
                    derivative[k][element] = pixel.d[db_parameter_slope(o->slots, parameters[k])];
            }
    }
}
