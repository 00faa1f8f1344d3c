#include "kernel/oracle.h"

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"

#include <math.h>

typedef db_oracle oracle;

/* F_c of a node: the list's, with its own slope if it is among the parameters. */
static num listed(const oracle *o, const double node[3]) {
    const db_structure_factors *f = &o->experiment->structure_factors;
    if (!f->amplitude) return n_constant(f->default_F);
    size_t index = 0;
    for (int j = 0; j < 3; j++) {
        const double offset = node[j] - f->min[j];
        if (!(offset >= 0 && offset < f->extent[j])) return n_constant(f->default_F);
        index = index * (size_t)f->extent[j] + (size_t)offset;
    }
    const int slope =
        o->slots->count
            ? db_parameter_slope(o->slots,
                                 db_parameter_amplitude((int)node[0], (int)node[1], (int)node[2]))
            : -1;
    return slope < 0 ? n_constant(f->amplitude[index]) : n_seed(f->amplitude[index], slope);
}

/* F_c between the nodes. */
static num interpolated(const oracle *o, const num h[3]) {
    num weight[3][4], sum = n_constant(0);
    double origin[3];
    for (int j = 0; j < 3; j++) {
        origin[j] = floor(h[j].v);
        lagrange_weights(n_shift(h[j], -origin[j]), weight[j]);
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++) {
                const double node[3] = { origin[0] + a - 1, origin[1] + b - 1, origin[2] + c - 1 };
                const num product = n_mul(weight[0][a], n_mul(weight[1][b], weight[2][c]));
                sum = n_add(sum, n_mul(product, listed(o, node)));
            }
    return sum;
}

static num lattice_amplitude_squared(db_crystal_shape shape, double fudge, const num offset[3],
                                     const num cells[3]) {
    if (shape == DB_SHAPE_SQUARE) {
        num product = n_constant(1);
        for (int j = 0; j < 3; j++) {
            const sine_quotient axis = square_axis(offset[j], cells[j]);
            product = n_mul(product, square_factor(axis, 1 / axis.bottom.v));
        }
        return product;
    }
    num g = n_constant(0), volume = n_constant(1);
    for (int j = 0; j < 3; j++) {
        g = n_add(g, spot_radius_axis(offset[j], cells[j]));
        volume = n_mul(volume, n_sqr(cells[j]));
    }
    g = n_scale(g, fudge);
    return n_mul(volume, shape == DB_SHAPE_ROUND   ? round_spot(g)
                         : shape == DB_SHAPE_GAUSS ? gauss_spot(g)
                                                   : tophat_spot(g));
}

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
    const num f = e->structure_factors.amplitude && e->structure_factors.interpolate
                      ? interpolated(o, h)
                      : listed(o, node);
    return n_mul(n_sqr(f),
                 lattice_amplitude_squared(e->crystal.shape, e->crystal.fudge, offset, z->cells));
}

/* Crystal and background for one scattering vector. */
static num scattered(const oracle *o, vec3 q) {
    const db_experiment *e = o->experiment;
    const size_t samples = (size_t)e->goniometer.phi_steps * (size_t)e->crystal.mosaic_domains;
    const num square = v3_square(q);
    num sum = o->interface->water;
    if (o->curve->bins) {
        const db_kernel_amorphous *curve = o->curve;
        const num stol = n_scale(n_sqrt(square), 0.5);
        size_t interval = 0;
        while (stol.v >= curve->knot[interval + 1]) interval++;
        const num molecule =
            amorphous_intensity(n_shift(stol, -curve->knot[interval]), curve->cubic + 4 * interval);
        sum = n_add(sum, n_mul(o->interface->molecules, molecule));
    }
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
static num site_intensity(const oracle *o, size_t p, double fast, double slow, int layer) {
    const db_experiment *e = o->experiment;
    const db_panel *panel = &e->detector.panels[p];
    const db_dual_panel_interface *placed = &o->interface->panel[p];
    const double area = 1e-6 * panel->pixel_size[0] * panel->pixel_size[1];
    const int sensor = e->detector.sensor_thickness != 0;
    const double *b = e->beam.direction;
    num z = placed->z, depth = n_constant(0);
    vec3 x;
    if (e->detector.curved) {
        x = curved_position(placed->radius, placed->beam_fast, placed->beam_slow,
                            v3_passive(b[0], b[1], b[2]), placed->fast, placed->slow, fast, slow)
                .x;
    } else {
        if (sensor) depth = n_scale(o->interface->layer_step, layer);
        x = v3_add(pixel_position(placed->origin, placed->fast, placed->slow, fast, slow),
                   v3_scale(placed->normal, depth));
        z = n_add(z, depth);
    }
    const vec3 d = v3_unit(x);
    num intensity =
        n_mul(beam(o, d), e->point_pixel ? point_solid_angle(x) : solid_angle(x, z, area));
    if (sensor)
        intensity =
            n_mul(intensity,
                  capture_fraction(e->detector.curved ? n_constant(1) : v3_dot(d, placed->normal),
                                   o->interface->layer_step, o->interface->attenuation, layer));
    return intensity;
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
