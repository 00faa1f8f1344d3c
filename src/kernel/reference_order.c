#include "kernel/reference_order.h"

#include "model/model.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"

#include <math.h>

/* One pixel's sum as it grows, and the factors that are kept from the first sample that needed
 * them. */
typedef struct pixel {
    double sum, omega, capture, polarization;
    int omega_known, capture_known, polarization_known;
} pixel;

static vec3 fixed_vector(const double v[3]) { return v3_passive(v[0], v[1], v[2]); }

/* Place of a point of the panel (m from its corner) in a layer. The curved one turns the direct
 * beam by the laboratory y and z of the flat place, in this order. */
static vec3 place_of_point(const db_kernel_job *job, double fast, double slow, double depth) {
    const db_reference_mode *r = &job->reference->experiment->reference;
    const vec3 flat = v3_add(pixel_position(fixed_vector(r->origin), fixed_vector(r->fast_axis),
                                            fixed_vector(r->slow_axis), fast, slow),
                             v3_scale(fixed_vector(r->normal), n_constant(depth)));
    if (!job->curved) return flat;
    const vec3 beam = v3_scale(fixed_vector(job->beam_direction), n_constant(r->distance));
    const mat3 about_slow =
                   m3_rotation(fixed_vector(r->slow_axis), n_constant(flat.y.v / r->distance)),
               about_fast =
                   m3_rotation(fixed_vector(r->fast_axis), n_constant(flat.z.v / r->distance));
    return m3_apply(about_fast, m3_apply(about_slow, beam));
}

/* Interpolation is left to samples two nodes and more inside the box. */
static int deep_inside(const db_structure_factors *f, const num h[3]) {
    for (int j = 0; j < 3; j++)
        if (!(h[j].v >= f->min[j] + 2 && h[j].v <= f->min[j] + f->extent[j] - 3)) return 0;
    return 1;
}

/* F_latt^2, and whether F_latt is 0: the square may underflow. Gaussian and flat spots have the radius of a sphere in
 * reciprocal space, times the number of cells. */
static double spot_square(const db_kernel_job *job, const num offset[3], int *dark) {
    const db_crystal *c = &job->reference->experiment->crystal;
    const double volume = job->cells[0] * job->cells[1] * job->cells[2];
    const num cells[3] = { n_constant(job->cells[0]), n_constant(job->cells[1]),
                           n_constant(job->cells[2]) };
    if (c->shape == DB_SHAPE_SQUARE || c->shape == DB_SHAPE_ROUND) {
        const double square = lattice_amplitude_squared(c->shape, c->fudge, offset, cells).v;
        *dark = square == 0;
        return square;
    }
    const vec3 q = m3_apply_transposed(m3_passive(job->reference->reciprocal),
                                       v3_make(offset[0], offset[1], offset[2]));
    const num g = n_scale(v3_square(q), c->fudge * volume * volume);
    const double amplitude =
        volume * (c->shape == DB_SHAPE_GAUSS ? gauss_spot(n_scale(g, 0.5)) : tophat_spot(g)).v;
    *dark = amplitude == 0;
    return amplitude * amplitude;
}

/* F_c^2 F_latt^2. skipped: F_latt is 0. */
static double sample(const db_kernel_job *job, const double lattice[9], vec3 q, int *skipped) {
    const db_structure_factors *f = &job->reference->experiment->structure_factors;
    const vec3 hkl = m3_apply(m3_passive(lattice), q);
    const num h[3] = { hkl.x, hkl.y, hkl.z };
    double node[3];
    num offset[3];
    for (int j = 0; j < 3; j++) {
        node[j] = nearest_node(h[j].v);
        offset[j] = n_shift(h[j], -node[j]);
    }
    const double square = spot_square(job, offset, skipped);
    if (*skipped) return 0;
    const num amplitude = f->amplitude && f->interpolate && deep_inside(f, h)
                              ? interpolated_amplitude(f, NULL, h)
                              : node_amplitude(f, NULL, node);
    return n_sqr(amplitude).v * square;
}

/* After each sample the whole sum so far is multiplied by those factors that were asked for at
 * every sample. */
static void add_sample(const db_kernel_job *job, double term, pixel *p) {
    const db_reference_mode *r = &job->reference->experiment->reference;
    p->sum += term;
    if (r->oversample_thick) p->sum *= p->capture;
    if (r->oversample_polar) p->sum *= p->polarization;
    if (r->oversample_omega) p->sum *= p->omega;
}

static void add_source(const db_kernel_job *job, size_t source, vec3 d, int at_rest, pixel *p) {
    const db_experiment *e = job->reference->experiment;
    const db_kernel_source_double *s = &job->source_double[source];
    const vec3 q = scattering_vector(d, n_constant(s->kappa), fixed_vector(s->s0));
    if (!within_resolution(v3_square(q).v, e->dmin)) return;
    if (!p->polarization_known || e->reference.oversample_polar) {
        num tensor[6];
        for (int n = 0; n < 6; n++) tensor[n] = n_constant(s->polarization[n]);
        p->polarization = polarization_factor(d, tensor).v;
        p->polarization_known = 1;
    }
    const int domains = e->crystal.mosaic_domains;
    for (int i = 0; i < e->goniometer.phi_steps; i++) {
        const int step = at_rest && i == 0 ? 0 : job->reference->phi_step[i];
        for (int m = 0; m < domains; m++) {
            const size_t number = (size_t)step * (size_t)domains + (size_t)m;
            int skipped;
            const double term = sample(job, job->sample_double[number].lattice, q, &skipped);
            if (!skipped || job->reference->background > 0) add_sample(job, term, p);
        }
    }
}

/* One sub-pixel in one layer. */
static void add_place(const db_kernel_job *job, vec3 x, int layer, int at_rest, pixel *p) {
    const db_experiment *e = job->reference->experiment;
    const db_reference_mode *r = &e->reference;
    const vec3 d = v3_unit(x);
    if (!p->omega_known || r->oversample_omega) {
        const double size = job->panel[0].pixel_size[0];
        const num inverse = v3_inverse_length(x);
        p->omega = job->point_pixel
                       ? point_solid_angle(inverse).v
                       : solid_angle(inverse, n_constant(r->close_distance), size * size).v;
        p->omega_known = 1;
    }
    if (job->sensor && (!p->capture_known || r->oversample_thick)) {
        p->capture =
            capture_fraction(v3_dot(d, fixed_vector(r->normal)), n_constant(job->layer_step),
                             n_constant(job->attenuation), layer)
                .v;
        p->capture_known = 1;
    }
    for (size_t j = 0; j < job->source_count; j++) add_source(job, j, d, at_rest && j == 0, p);
}

/* first: 1 for the pixel that the reference begins with, before any cell vectors can be stale. */
static double pixel_value(const db_kernel_job *job, int fast, int slow, int first) {
    const db_experiment *e = job->reference->experiment;
    const db_reference_mode *r = &e->reference;
    const double step = job->panel[0].pixel_size[0] / job->oversample;
    /* without polarization the factor is 1, unless it is taken at every sample */
    pixel p = { job->reference->background, 0, 1, e->beam.polarized ? 0 : 1, 0, 0,
                !e->beam.polarized };
    for (int layer = 0; layer < job->layers; layer++) {
        p.capture_known = 0;
        for (int i = 0; i < job->oversample; i++)
            for (int j = 0; j < job->oversample; j++)
                add_place(job,
                          place_of_point(job, (fast * job->oversample + j + 0.5) * step,
                                         (slow * job->oversample + i + 0.5) * step,
                                         layer * job->layer_step),
                          layer, first && layer + i + j == 0, &p);
    }
    double value = job->reference->fluence * p.sum / job->reference->steps;
    if (!r->oversample_thick) value *= p.capture;
    if (!r->oversample_polar) value *= p.polarization;
    if (!r->oversample_omega) value *= p.omega;
    return value;
}

static void render_tile(const db_kernel_job *job, const db_tile *tile) {
    const db_region *region = &job->region[tile->region];
    for (int row = tile->row_begin; row < tile->row_end; row++)
        for (int column = 0; column < region->fast_count; column++) {
            const double value =
                pixel_value(job, region->fast_start + column, region->slow_start + row,
                            tile->region == 0 && row == 0 && column == 0);
            const size_t element = region->offset + (size_t)row * region->stride + (size_t)column;
            if (job->pixel_type == DB_FLOAT32)
                ((float *)job->image)[element] = (float)value;
            else
                ((double *)job->image)[element] = value;
        }
}

void db_kernel_reference_order(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                               double *sums, void *room) {
    (void)sums, (void)room;
    for (size_t t = 0; t < tiles; t++) render_tile(job, &tile[t]);
}
