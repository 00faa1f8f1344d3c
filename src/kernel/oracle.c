#include "kernel/oracle.h"

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"

#include <math.h>

/* F_c of the node nearest to (h,k,l): a constant between the jumps. */
static double structure_factor(const db_structure_factors *f, const double node[3]) {
    if (!f->amplitude) return f->default_F;
    size_t index = 0;
    for (int j = 0; j < 3; j++) {
        const double offset = node[j] - f->min[j];
        if (!(offset >= 0 && offset < f->extent[j])) return f->default_F;
        index = index * (size_t)f->extent[j] + (size_t)offset;
    }
    return f->amplitude[index];
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
static num sample_intensity(const db_experiment *e, const db_dual_interface *z, size_t sample,
                            vec3 q) {
    const vec3 hkl = m3_apply(z->lattice, m3_apply(z->rotation[sample], q));
    const num h[3] = { hkl.x, hkl.y, hkl.z };
    double node[3];
    num offset[3];
    for (int j = 0; j < 3; j++) {
        node[j] = nearest_node(h[j].v);
        offset[j] = n_shift(h[j], -node[j]);
    }
    const double f = structure_factor(&e->structure_factors, node);
    return n_scale(lattice_amplitude_squared(e->crystal.shape, e->crystal.fudge, offset, z->cells),
                   f * f);
}

static num pixel_intensity(const db_experiment *e, const db_dual_interface *z, size_t p, int fast,
                           int slow) {
    const db_panel *panel = &e->detector.panels[p];
    const db_dual_panel_interface *placed = &z->panel[p];
    const size_t samples = (size_t)e->goniometer.phi_steps * (size_t)e->crystal.mosaic_domains;
    const double size_fast = panel->pixel_size[0] * 1e-3, size_slow = panel->pixel_size[1] * 1e-3;
    num total = n_constant(0);
    for (int i = 0; i < e->oversample; i++)
        for (int j = 0; j < e->oversample; j++) {
            const vec3 x = pixel_position(placed->origin, placed->fast, placed->slow,
                                          (fast + (j + 0.5) / e->oversample) * size_fast,
                                          (slow + (i + 0.5) / e->oversample) * size_slow);
            const vec3 d = v3_unit(x);
            num beam = n_constant(0);
            for (size_t n = 0; n < e->beam.source_count; n++) {
                const db_dual_source_interface *source = &z->source[n];
                const vec3 q = scattering_vector(d, source->kappa, source->s0);
                num sum = n_constant(0);
                for (size_t s = 0; s < samples; s++) sum = n_add(sum, sample_intensity(e, z, s, q));
                beam = n_add(
                    beam, n_mul(n_mul(source->weight, polarization_factor(d, source->polarization)),
                                sum));
            }
            const num omega = e->point_pixel ? point_solid_angle(x)
                                             : solid_angle(x, placed->z, size_fast * size_slow);
            total = n_add(total, n_mul(omega, beam));
        }
    return n_mul(z->scale, total);
}

void db_oracle_render(const db_experiment *experiment, const db_dual_interface *interface,
                      const db_region *regions, size_t region_count, const db_parameter *parameters,
                      size_t parameter_count, double *image, double *const *derivative) {
    for (size_t r = 0; r < region_count; r++) {
        const db_region *region = &regions[r];
        for (int slow = 0; slow < region->slow_count; slow++)
            for (int fast = 0; fast < region->fast_count; fast++) {
                const num pixel =
                    pixel_intensity(experiment, interface, region->panel, region->fast_start + fast,
                                    region->slow_start + slow);
                const size_t element =
                    region->offset + (size_t)slow * region->stride + (size_t)fast;
                image[element] = pixel.v;
                for (size_t k = 0; k < parameter_count; k++)
                    derivative[k][element] = pixel.d[parameters[k]];
            }
    }
}
