/* The physics of one sample, one pixel at a time. The oracle, traces and the reference's order of
 * summation use it. Include once per (REAL, DIRS), with LANES 1, after model/interface.h (or
 * model/model.h) and the other physics headers. */
#include "model/amplitude_box.h"
#include "model/halo_samples.h"
#include "model/parameter_slots.h"
#include "model/site_kinds.h"
#include "model/site_scattering.h"

#define site AD_NUM(site)
#define site_at AD_NUM(site_at)
#define layer_depth AD_NUM(layer_depth)
#define node_amplitude AD_NUM(node_amplitude)
#define node_square AD_NUM(node_square)
#define interpolated_amplitude AD_NUM(interpolated_amplitude)
#define lattice_amplitude_squared AD_NUM(lattice_amplitude_squared)
#define in_halo_basis AD_NUM(in_halo_basis)
#define from_halo_basis AD_NUM(from_halo_basis)
#define nearest_halo_node AD_NUM(nearest_halo_node)
#define halo_squares AD_NUM(halo_squares)
#define halo_rest_of AD_NUM(halo_rest_of)
#define sample_halo AD_NUM(sample_halo)
#define halo_square AD_NUM(halo_square)
#define amorphous_square AD_NUM(amorphous_square)

/* A point of a pixel in one layer of the sensor: position x (m), direction d, solid angle omega (sr),
 * part of the photons absorbed there (capture). On a curved panel depth moves no point, since rays
 * arrive along the normal. Source: docs/theory/detector.md, Pixel positions; docs/theory/pixel.md. */
typedef struct {
    vec3 x, d;
    num omega, capture;
} site;

/* Depth of a layer behind the point `front` of the panel, m along the normal: the mean depth of the
 * photons that the layer absorbs along the ray through its middle. */
AD_FN num layer_depth(const db_experiment *e, const interface_values *z,
                      const panel_interface *panel, vec3 front, int layer) {
    if (e->detector.layers_at_front) return n_scale(z->layer_step, layer);
    const vec3 middle =
        v3_add(front, v3_scale(panel->normal, n_scale(z->layer_step, layer + (REAL)0.5)));
    return absorption_depth(v3_dot(v3_unit(middle), panel->normal), z->layer_step, z->attenuation,
                            layer);
}

/* The point at (fast, slow) m from the corner of panel `number`. */
AD_FN site site_at(const db_experiment *e, const interface_values *z, size_t number, int layer,
                   lane fast, lane slow) {
    const panel_interface *panel = &z->panel[number];
    const double *size = e->detector.panels[number].pixel_size;
    const double *beam = e->beam.direction;
    const int sensor = e->detector.sensor_thickness != 0;
    num distance = panel->z, obliquity = n_constant(1);
    site s;
    if (e->detector.curved) {
        s.x = curved_position(panel->radius, panel->beam_fast, panel->beam_slow,
                              v3_passive(beam[0], beam[1], beam[2]), panel->fast, panel->slow, fast,
                              slow)
                  .x;
    } else {
        const vec3 front = pixel_position(panel->origin, panel->fast, panel->slow, fast, slow);
        const num depth = sensor ? layer_depth(e, z, panel, front, layer) : n_constant(0);
        s.x = v3_add(front, v3_scale(panel->normal, depth));
        distance = n_add(distance, depth);
        obliquity = v3_dot(v3_unit(s.x), panel->normal);
    }
    s.d = v3_unit(s.x);
    const num inverse = v3_inverse_length(s.x);
    s.omega = e->point_pixel ? point_solid_angle(inverse)
                             : solid_angle(inverse, distance, 1e-6 * size[0] * size[1]);
    s.capture =
        sensor ? capture_fraction(obliquity, z->layer_step, z->attenuation, layer) : n_constant(1);
    return s;
}

/* F_c of a node: from the list, else default_F. It has a slope if it is one of the parameters in
 * slots (may be NULL). */
AD_FN num node_amplitude(const db_structure_factors *f, const db_parameter_slots *slots,
                         const lane node[3]) {
    size_t index = 0;
    if (!f->amplitude) return n_constant(f->default_F);
    for (int j = 0; j < 3; j++) {
        const lane offset = node[j] - f->min[j];
        if (!(offset >= 0 && offset < f->extent[j])) return n_constant(f->default_F);
        index = index * (size_t)f->extent[j] + (size_t)offset;
    }
    const int slope =
        slots ? db_parameter_slope(slots,
                                   db_parameter_amplitude((int)node[0], (int)node[1], (int)node[2]))
              : -1;
    return slope < 0 ? n_constant(f->amplitude[index]) : n_seed(f->amplitude[index], slope);
}

/* F_c^2 of a node in one source's beam. curve: [sources][kinds][2], f' and f'' of kinds of sites. */
AD_FN num node_square(const db_structure_factors *f, const db_parameter_slots *slots,
                      const num *curve, size_t source, const lane node[3]) {
    const int kinds = db_site_count(f);
    if (!kinds) return n_sqr(node_amplitude(f, slots, node));
    const int at[3] = { (int)node[0], (int)node[1], (int)node[2] };
    size_t entry;
    if (!db_amplitude_entry(f, at, &entry))
        return n_constant((lane)f->default_F * (lane)f->default_F);
    lane part[DB_MOST_SITE_PART] = { 0 };
    for (size_t i = 0; i < db_site_part(kinds); i++)
        part[i] = (lane)f->sites->part[entry * db_site_part(kinds) + i];
    return site_square(kinds, part, curve + 2 * (size_t)kinds * source);
}

/* F_c between nodes: the cubic through four nodes along each axis. */
AD_FN num interpolated_amplitude(const db_structure_factors *f, const db_parameter_slots *slots,
                                 const num h[3]) {
    num weight[3][4], sum = n_constant(0);
    lane origin[3];
    for (int j = 0; j < 3; j++) {
        origin[j] = l_rint(h[j].v);
        if (origin[j] > h[j].v) origin[j] -= 1;
        lagrange_weights(n_shift(h[j], -origin[j]), weight[j]);
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++) {
                const lane node[3] = { origin[0] + a - 1, origin[1] + b - 1, origin[2] + c - 1 };
                const num product = n_mul(weight[0][a], n_mul(weight[1][b], weight[2][c]));
                sum = n_add(sum, n_mul(product, node_amplitude(f, slots, node)));
            }
    return sum;
}

/* F_latt^2 at an offset (in Miller indices) from the nearest node. */
AD_FN num lattice_amplitude_squared(db_crystal_shape shape, double fudge, const num offset[3],
                                    const num cells[3]) {
    num g = n_constant(0), product = n_constant(1);
    if (shape == DB_SHAPE_SQUARE) {
        for (int j = 0; j < 3; j++) {
            const sine_quotient axis = square_axis(offset[j], cells[j]);
            product = n_mul(product, square_factor(axis, 1 / axis.bottom.v));
        }
        return product;
    }
    for (int j = 0; j < 3; j++) {
        g = n_add(g, spot_radius_axis(offset[j], cells[j]));
        product = n_mul(product, n_sqr(cells[j]));
    }
    g = n_scale(g, fudge);
    return n_mul(product, shape == DB_SHAPE_ROUND   ? round_spot(g)
                          : shape == DB_SHAPE_GAUSS ? gauss_spot(g)
                                                    : tophat_spot(g));
}

/* Miller indices in the basis of the halo. */
AD_FN vec3 in_halo_basis(const num halo[DB_HALO_NUMBERS], vec3 h) {
    const num *const inverse = halo + DB_HALO_INVERSE;
    return m3_apply(m3_rows(v3_make(inverse[0], inverse[1], inverse[2]),
                            v3_make(inverse[3], inverse[4], inverse[5]),
                            v3_make(inverse[6], inverse[7], inverse[8])),
                    h);
}

/* Miller indices of a node, given its numbers in the basis of the halo. */
AD_FN void from_halo_basis(const num halo[DB_HALO_NUMBERS], const lane number[3], lane node[3]) {
    const num *const basis = halo + DB_HALO_BASIS;
    for (int c = 0; c < 3; c++)
        node[c] = basis[c].v * number[0] + basis[3 + c].v * number[1] + basis[6 + c].v * number[2];
}

/* The node in the middle of those that are summed. */
AD_FN void nearest_halo_node(const num halo[DB_HALO_NUMBERS], vec3 h, lane node[3]) {
    const vec3 place = in_halo_basis(halo, h);
    const lane number[3] = { nearest_node(place.x.v), nearest_node(place.y.v),
                             nearest_node(place.z.v) };
    from_halo_basis(halo, number, node);
}

/* y of the layers about a node: [0] that of nodes, [1] of rods, [2] of sheets. offset: in the halo's basis. */
AD_FN void halo_squares(const num c[6], vec3 offset, num y[3]) {
    const num sheet = n_mul(c[5], offset.z),
              rod = n_add(n_mul(c[3], offset.y), n_mul(c[4], offset.z)),
              node =
                  n_add(n_mul(c[0], offset.x), n_add(n_mul(c[1], offset.y), n_mul(c[2], offset.z)));
    y[2] = n_shift(n_sqr(sheet), 1);
    y[1] = n_add(n_sqr(rod), y[2]);
    y[0] = n_add(n_sqr(node), y[1]);
}

/* The sheet, rod and node that a step leads to: the first node of a sheet or rod counts it. */
AD_FN num halo_rest_of(const num halo[DB_HALO_NUMBERS], int i, const num y[3]) {
    const num *const until = halo + DB_HALO_UNTIL;
    num rest = n_neg(halo_part(3, y[0], until[0]));
    if (i % 3 == 0)
        rest = n_add(rest, n_mul(halo[DB_HALO_ROD], n_sub(halo_part(2, y[1], until[0]),
                                                          halo_part(2, y[1], until[1]))));
    if (i % 9 == 0)
        rest = n_add(rest, n_mul(halo[DB_HALO_SHEET], n_sub(halo_part(1, y[2], until[1]),
                                                            halo_part(1, y[2], until[2]))));
    return rest;
}

/* Diffuse halo of one sample: the sum of F_c^2 times the halo's profile over the nearest node and its
 * neighbours, and what other nodes add, with the mean F_c^2 of these. */
AD_FN num sample_halo(const db_structure_factors *f, const interface_values *z,
                      const db_parameter_slots *slots, size_t sample, vec3 q) {
    const num *const halo = z->halo;
    const vec3 h = m3_apply(z->lattice, m3_apply(z->rotation[sample], q)),
               place = in_halo_basis(halo, h);
    num sum = n_constant(0), squares = n_constant(0), rest = halo[DB_HALO_EVEN];
    for (int i = 0; i < DB_HALO_NODES; i++) {
        const lane step[3] = { nearest_node(place.x.v) + (i % 3 - DB_HALO_REACH),
                               nearest_node(place.y.v) + (i / 3 % 3 - DB_HALO_REACH),
                               nearest_node(place.z.v) + (i / 9 - DB_HALO_REACH) };
        lane node[3];
        num y[3];
        from_halo_basis(halo, step, node);
        halo_squares(halo + DB_HALO_C,
                     v3_make(n_shift(place.x, -step[0]), n_shift(place.y, -step[1]),
                             n_shift(place.z, -step[2])),
                     y);
        const num square = n_sqr(node_amplitude(f, slots, node));
        rest = n_add(rest, halo_rest_of(halo, i, y));
        squares = n_add(squares, square);
        sum = n_add(sum, n_mul(square, halo_profile(y[0])));
    }
    sum = n_add(sum, n_mul(n_scale(squares, (REAL)1 / DB_HALO_NODES), rest));
    return n_mul(sum, halo_form(z->halo + DB_HALO_U, h));
}

/* Diffuse halo of all samples, on the scale of F_c^2 F_latt^2. */
AD_FN num halo_square(const db_experiment *e, const interface_values *z,
                      const db_parameter_slots *slots, vec3 q) {
    const size_t samples = db_has_halo(&e->crystal) ? db_sample_count(e) : 0;
    num sum = n_constant(0);
    for (size_t s = 0; s < samples; s++)
        sum = n_add(sum, sample_halo(&e->structure_factors, z, slots, s, q));
    return samples ? n_mul(sum, z->halo[DB_HALO_DENSITY]) : sum;
}

/* sign(F) F^2 of a molecule of amorphous matter at stol = sin(theta)/lambda. */
AD_FN num amorphous_square(const db_kernel_amorphous *curve, num stol) {
    size_t interval = 0;
    while (stol.v >= curve->knot[interval + 1]) interval++;
    lane cubic[4];
    for (int i = 0; i < 4; i++) cubic[i] = curve->cubic[4 * interval + (size_t)i];
    return amorphous_intensity(n_shift(stol, -curve->knot[interval]), cubic);
}
