/* The model: parameters of an experiment -> interface values, written once in dual numbers of the
 * current width. model_plain.c includes it without slopes, model_dual.c with slopes by the requested
 * parameters.
 *
 * Source of the equations: docs/theory/crystal.md, beam.md and detector.md. Lengths inside:
 * angstrom for the crystal, metre for the detector. */
#include "base/degree.h"
#include "base/photon_energy.h"
#include "model/crystal_position.h"
#include "model/halo_samples.h"
#include "model/site_kinds.h"

static const double PARALLEL = 1e-12; /* squared sine between directions that count as parallel */

typedef struct {
    const db_experiment *experiment;
    const db_parameter_slots *slots; /* parameters with slopes; NULL: none */
} model_inputs;

static num parameter(const model_inputs *m, db_parameter p) {
    const double value = db_parameter_get(m->experiment, p);
    const int slope = m->slots ? db_parameter_slope(m->slots, p) : -1;
    return slope < 0 ? n_constant(value) : n_seed(value, slope);
}

static num radians(const model_inputs *m, db_parameter p) {
    return n_scale(parameter(m, p), DB_DEGREE);
}

static vec3 fixed(const double v[3]) { return v3_passive(v[0], v[1], v[2]); }

/* Real-space basis of the standard frame: c along z, b in the yz plane; rows a, b, c. Smooth for
 * every possible cell, no clamping (docs/theory/crystal.md, Unit cell). */
static mat3 cell_basis(num a, num b, num c, num alpha, num beta, num gamma) {
    const num zero = n_constant(0), cos_alpha = n_cos(alpha), sin_alpha = n_sin(alpha),
              cos_beta = n_cos(beta), cos_gamma = n_cos(gamma);
    const num a_y = n_div(n_sub(cos_gamma, n_mul(cos_alpha, cos_beta)), sin_alpha);
    /* the angles fix the direction cosines of a along z and y; the rest of its length lies along x */
    const num a_x = n_sqrt(n_shift(n_neg(n_add(n_sqr(a_y), n_sqr(cos_beta))), 1));
    return m3_rows(v3_make(n_mul(a, a_x), n_mul(a, a_y), n_mul(a, cos_beta)),
                   v3_make(zero, n_mul(b, sin_alpha), n_mul(b, cos_alpha)), v3_make(zero, zero, c));
}

/* The spindle's axis. Its two tilts are rotations about directions perpendicular to the axis: one across
 * the beam, one in the plane of axis and beam. */
static vec3 spindle_axis(const model_inputs *m) {
    const db_experiment *e = m->experiment;
    const vec3 axis = fixed(e->goniometer.spindle_axis);
    vec3 across = v3_cross(axis, fixed(e->beam.direction));
    if (!(v3_square(across).v > PARALLEL))
        across = v3_cross(axis, fixed(e->beam.polarization_axis));
    const vec3 across_unit = v3_unit(across);
    const mat3 tilt =
        m3_multiply(m3_rotation(across_unit, radians(m, DB_SPINDLE_TILT_BEAM)),
                    m3_rotation(v3_cross(across_unit, axis), radians(m, DB_SPINDLE_TILT_ACROSS)));
    return m3_apply(tilt, axis);
}

/* Setting of the goniometer: from the axes of the misset to the laboratory at spindle angle 0. */
static mat3 frame_turn(const model_inputs *m) {
    const double *const frame = m->experiment->crystal.misset_frame;
    return m3_rotation_xyz(n_constant(frame[0] * DB_DEGREE), n_constant(frame[1] * DB_DEGREE),
                           n_constant(frame[2] * DB_DEGREE));
}

/* Misset: rotations about the axes of its frame (misset_frame). */
static mat3 misset_turn(const model_inputs *m) {
    const double *const frame = m->experiment->crystal.misset_frame;
    const mat3 misset =
        m3_rotation_xyz(radians(m, DB_MISSET_X), radians(m, DB_MISSET_Y), radians(m, DB_MISSET_Z));
    if (frame[0] == 0 && frame[1] == 0 && frame[2] == 0) return misset;
    const mat3 turn = frame_turn(m);
    return m3_multiply(turn, m3_multiply(misset, m3_transpose(turn)));
}

/* From the standard frame to the laboratory at the first phi step: orientation, misset, then the
 * spindle (docs/theory/crystal.md, Misset and spindle). */
static mat3 crystal_turn(const model_inputs *m, vec3 axis) {
    const mat3 misset = misset_turn(m);
    const mat3 spindle = m3_rotation(axis, radians(m, DB_PHI));
    const double *given = m->experiment->crystal.orientation;
    const mat3 orientation = m3_rows(fixed(given), fixed(given + 3), fixed(given + 6));
    return m3_multiply(spindle, m3_multiply(misset, orientation));
}

static mat3 standard_basis(const model_inputs *m) {
    return cell_basis(parameter(m, DB_CELL_A), parameter(m, DB_CELL_B), parameter(m, DB_CELL_C),
                      radians(m, DB_CELL_ALPHA), radians(m, DB_CELL_BETA),
                      radians(m, DB_CELL_GAMMA));
}

/* Lattice vectors in the laboratory. turn: standard frame -> laboratory. */
static mat3 lattice_vectors(const model_inputs *m, mat3 turn) {
    return m3_multiply(standard_basis(m), m3_transpose(turn));
}

/* Tilt of the beam: a rotation about the polarization axis, then one about beam x polarization. */
static mat3 beam_tilt(const model_inputs *m) {
    const db_beam *beam = &m->experiment->beam;
    const vec3 horizontal = fixed(beam->polarization_axis),
               vertical = v3_unit(v3_cross(fixed(beam->direction), horizontal));
    return m3_multiply(m3_rotation(vertical, n_scale(parameter(m, DB_BEAM_HORIZONTAL), 1e-3)),
                       m3_rotation(horizontal, n_scale(parameter(m, DB_BEAM_VERTICAL), 1e-3)));
}

/* Reciprocal vectors of the standard frame, rows a*, b*, c*, and the volume of their cell. */
static mat3 reciprocal_vectors(mat3 basis, num *volume) {
    const vec3 bc = v3_cross(basis.r[1], basis.r[2]);
    const num inverse = n_div(n_constant(1), v3_dot(basis.r[0], bc));
    *volume = inverse;
    return m3_rows(v3_scale(bc, inverse), v3_scale(v3_cross(basis.r[2], basis.r[0]), inverse),
                   v3_scale(v3_cross(basis.r[0], basis.r[1]), inverse));
}

/* Adds s (u v^T + v u^T)/2 to a symmetric tensor. */
static void add_product(num tensor[6], vec3 u, vec3 v, num s) {
    const num a[3] = { u.x, u.y, u.z }, b[3] = { v.x, v.y, v.z };
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++) {
        const num twice = n_add(n_mul(a[first[n]], b[second[n]]), n_mul(a[second[n]], b[first[n]]));
        tensor[n] = n_add(tensor[n], n_mul(n_scale(twice, 0.5), s));
    }
}

/* Size of a block. Its transform around a node is N^2 exp(-x^T S^-1 x/2), with covariance S_ij = w^2 rho_ij
 * /(N_i N_j) in Miller indices, correlations rho and N = N_a N_b N_c/sqrt(det rho). Shape GAUSS has the w
 * of kernel/lattice.h. The square shape has w = 1/sqrt(2 pi), which keeps its peak and its integral
 * (docs/theory/spots.md, Size of a block). */
static void block_size(const model_inputs *m, num cell_volume, spread_interface *out) {
    const db_crystal *crystal = &m->experiment->crystal;
    const double square = crystal->shape == DB_SHAPE_GAUSS ? 0.63 / 4 / crystal->fudge
                                                           : 0.5 / 3.141592653589793238462643;
    const num n[3] = { parameter(m, DB_CELLS_A), parameter(m, DB_CELLS_B),
                       parameter(m, DB_CELLS_C) };
    const num c[3] = { parameter(m, DB_SIZE_BC), parameter(m, DB_SIZE_CA),
                       parameter(m, DB_SIZE_AB) };
    const num zero = n_constant(0), one = n_constant(1);
    num inverse[3], tensor[6] = { zero, zero, zero, zero, zero, zero };
    vec3 axis[3];
    for (int i = 0; i < 3; i++) {
        inverse[i] = n_div(one, n[i]);
        axis[i] = v3_scale(out->reciprocal.r[i], inverse[i]);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        add_product(tensor, axis[i], axis[i], n_constant(square));
        add_product(tensor, axis[j], axis[k], n_scale(c[i], 2 * square));
    }
    for (int i = 0; i < 6; i++) out->size[i] = tensor[i];
    const num determinant =
        n_add(n_shift(n_neg(n_add(n_sqr(c[0]), n_add(n_sqr(c[1]), n_sqr(c[2])))), 1),
              n_scale(n_mul(c[0], n_mul(c[1], c[2])), 2));
    const num cells = n_mul(n[0], n_mul(n[1], n[2]));
    out->volume =
        n_scale(n_mul(n_mul(cells, cell_volume), n_rsqrt(determinant)), square * sqrt(square));
}

/* How lattices of blocks differ: rotations, strains, modes, tails. */
static void block_lattices(const model_inputs *m, spread_interface *out) {
    static const db_parameter rotation[6] = { DB_MOSAIC_XX, DB_MOSAIC_YY, DB_MOSAIC_ZZ,
                                              DB_MOSAIC_XY, DB_MOSAIC_ZX, DB_MOSAIC_YZ };
    for (int i = 0; i < 6; i++) {
        const num total = i < 3 ? n_add(parameter(m, rotation[i]), parameter(m, DB_MOSAIC_VARIANCE))
                                : parameter(m, rotation[i]);
        out->rotation[i] = n_scale(total, DB_DEGREE * DB_DEGREE);
    }
    static const db_parameter direct[3] = { DB_STRAIN_XX, DB_STRAIN_YY, DB_STRAIN_ZZ },
                              shear[3] = { DB_STRAIN_YZ, DB_STRAIN_ZX, DB_STRAIN_XY };
    for (int i = 0; i < 3; i++) {
        out->strain_direct[i] = n_scale(parameter(m, direct[i]), 1e-6);
        out->strain_shear[i] = n_scale(parameter(m, shear[i]), 1e-6);
    }
    out->strain = n_scale(parameter(m, DB_STRAIN_VARIANCE), 1e-6);
    for (int k = 0; k < DB_SPREAD_MODES; k++) {
        const int first = (int)DB_MODE1_XX + 9 * k;
        num e[9];
        for (int i = 0; i < 9; i++)
            e[i] = n_scale(parameter(m, (db_parameter)((int)first + i)), 1e-3);
        out->mode[k] = m3_rows(v3_make(e[0], e[1], e[2]), v3_make(e[3], e[4], e[5]),
                               v3_make(e[6], e[7], e[8]));
    }
    out->tail_fraction[0] = out->tail_variance[0] = n_constant(1);
    for (int i = 0; i < DB_SPREAD_TAILS; i++) {
        const int exists = i < m->experiment->spread.tails;
        const num part =
            exists ? parameter(m, (db_parameter)((int)DB_TAIL_FRACTION_1 + 2 * i)) : n_constant(0);
        out->tail_fraction[0] = n_sub(out->tail_fraction[0], part);
        out->tail_fraction[1 + i] = part;
        out->tail_variance[1 + i] =
            n_sqr(parameter(m, (db_parameter)((int)DB_TAIL_WIDTH_1 + 2 * i)));
    }
}

/* Covariance tensor of vectors across the beam, from variances along its horizontal and vertical and
 * their covariance (parameters id). */
static void across_beam(vec3 horizontal, vec3 vertical, const db_parameter id[3],
                        const model_inputs *m, double unit, num tensor[6]) {
    for (int i = 0; i < 6; i++) tensor[i] = n_constant(0);
    add_product(tensor, horizontal, horizontal, n_scale(parameter(m, id[0]), unit));
    add_product(tensor, vertical, vertical, n_scale(parameter(m, id[1]), unit));
    add_product(tensor, horizontal, vertical, n_scale(parameter(m, id[2]), 2 * unit));
}

/* 1: one of `count` parameters, from `first` on in the table, is not 0 or has a slope. */
static int in_use(const model_inputs *m, db_parameter first, int count) {
    for (int i = 0; i < count; i++) {
        const db_parameter p = (db_parameter)((int)first + i);
        if (db_parameter_get(m->experiment, p) != 0 ||
            (m->slots && db_parameter_slope(m->slots, p) >= 0))
            return 1;
    }
    return 0;
}

static int parts_in_use(const model_inputs *m) {
    int parts = 0;
    if (in_use(m, DB_MOSAIC_VARIANCE, 1) || in_use(m, DB_MOSAIC_XX, 6)) parts |= DB_PART_ROTATION;
    if (in_use(m, DB_STRAIN_VARIANCE, 1)) parts |= DB_PART_STRAIN;
    if (in_use(m, DB_STRAIN_XX, 6)) parts |= DB_PART_STRAIN_TENSOR;
    for (int k = 0; k < DB_SPREAD_MODES; k++)
        if (in_use(m, (db_parameter)((int)DB_MODE1_XX + 9 * k), 9)) parts |= DB_PART_MODE << k;
    return parts;
}

/* Covariance of the places of photons on a panel: footprint of the lit crystal, point spread of the
 * detector, and the uniform distribution over a (sub-)pixel. */
static void panel_spread(const model_inputs *m, const db_panel *own, const num footprint[6],
                         panel_interface *panel) {
    const double part = 1e-3 / m->experiment->oversample, even = 1.0 / 12;
    const double fast = own->pixel_size[0] * part, slow = own->pixel_size[1] * part;
    for (int i = 0; i < 6; i++) panel->spread[i] = footprint[i];
    add_product(panel->spread, panel->fast, panel->fast,
                n_affine(parameter(m, DB_POINT_SPREAD_FF), 1e-6, even * fast * fast));
    add_product(panel->spread, panel->slow, panel->slow,
                n_affine(parameter(m, DB_POINT_SPREAD_SS), 1e-6, even * slow * slow));
    add_product(panel->spread, panel->fast, panel->slow,
                n_scale(parameter(m, DB_POINT_SPREAD_FS), 2e-6));
}

/* Values that spots in closed form depend on (docs/theory/spots.md). */
static void closed_spots(const model_inputs *m, vec3 spindle, mat3 turn, interface_values *z) {
    const db_experiment *e = m->experiment;
    spread_interface *const out = &z->spread;
    num cell_volume, footprint[6];
    out->parts = parts_in_use(m);
    out->reciprocal = reciprocal_vectors(standard_basis(m), &cell_volume);
    out->turn = turn;
    out->spindle = spindle;
    block_size(m, cell_volume, out);
    block_lattices(m, out);
    const vec3 beam = fixed(e->beam.direction),
               across = v3_unit(v3_cross(beam, fixed(e->beam.polarization_axis)));
    const mat3 tilt = beam_tilt(m);
    const vec3 horizontal = m3_apply(tilt, v3_cross(across, beam)),
               vertical = v3_neg(m3_apply(tilt, across));
    static const db_parameter of_direction[3] = { DB_DIVERGENCE_HH, DB_DIVERGENCE_VV,
                                                  DB_DIVERGENCE_HV },
                              of_place[3] = { DB_FOOTPRINT_HH, DB_FOOTPRINT_VV, DB_FOOTPRINT_HV };
    across_beam(horizontal, vertical, of_direction, m, 1e-6, out->divergence);
    across_beam(horizontal, vertical, of_place, m, 1e-6, footprint);
    out->bandwidth = n_scale(parameter(m, DB_BANDWIDTH_VARIANCE), 1e-6);
    for (size_t p = 0; p < e->detector.panel_count; p++)
        panel_spread(m, &e->detector.panels[p], footprint, &z->panel[p]);
}

/* Rotation of a mosaic domain about a random axis of the laboratory (docs/theory/crystal.md, Mosaic
 * domains). An anisotropic spread has one cap for each component of the rotation vector along the
 * crystal's axes, which `turn` takes to the laboratory. */
static mat3 mosaic_rotation(const model_inputs *m, const db_mosaic_direction *direction,
                            mat3 turn) {
    const vec3 axis = fixed(direction->axis);
    if (!m->experiment->crystal.mosaic_anisotropic)
        return m3_rotation(axis, n_scale(radians(m, DB_MOSAIC_SPREAD), direction->fraction));
    const vec3 of_cap = m3_apply_transposed(turn, v3_scale(axis, n_constant(direction->fraction)));
    const vec3 in_crystal =
        v3_make(n_mul(of_cap.x, radians(m, DB_MOSAIC_A)), n_mul(of_cap.y, radians(m, DB_MOSAIC_B)),
                n_mul(of_cap.z, radians(m, DB_MOSAIC_C)));
    return m3_rotation_vector(m3_apply(turn, in_crystal));
}

/* Rotations of the samples, transposed: first the spindle's further steps, then the mosaic domain
 * (docs/theory/crystal.md, Samples). */
static void sample_rotations(const model_inputs *m, const db_mosaic_direction *directions,
                             vec3 axis, mat3 turn, mat3 *rotation) {
    const db_experiment *e = m->experiment;
    const int domains = e->crystal.mosaic_domains;
    for (int i = 0; i < e->goniometer.phi_steps; i++) {
        const double angle = i * e->goniometer.phi_step * DB_DEGREE;
        const mat3 spindle = m3_rotation(axis, n_constant(angle));
        const mat3 now = m3_multiply(spindle, turn);
        for (int k = 0; k < domains; k++) {
            const mat3 mosaic = mosaic_rotation(m, &directions[k], now);
            rotation[i * domains + k] = m3_transpose(m3_multiply(mosaic, spindle));
        }
    }
}

/* Rotations of the halo beside spots in closed form: the middles of equal parts of the crystal's
 * rotation. (The spots themselves have a formula for the rotation.) */
static void halo_rotations(const model_inputs *m, vec3 axis, mat3 *rotation) {
    const db_goniometer *g = &m->experiment->goniometer;
    const size_t count = db_sample_count(m->experiment);
    const double part = g->phi_step * g->phi_steps * DB_DEGREE / (double)count;
    for (size_t i = 0; i < count; i++)
        rotation[i] = m3_transpose(m3_rotation(axis, n_constant(((double)i + 0.5) * part)));
}

/* The vectors 2 pi along[i] times the components of a*, b*, c* in the standard frame. */
static void halo_vectors(mat3 reciprocal, const num along[3], vec3 scaled[3]) {
    const double two_pi = 2 * 3.141592653589793238462643;
    for (int i = 0; i < 3; i++) {
        const vec3 r = reciprocal.r[i];
        scaled[i] =
            v3_make(n_scale(n_mul(r.x, along[0]), two_pi), n_scale(n_mul(r.y, along[1]), two_pi),
                    n_scale(n_mul(r.z, along[2]), two_pi));
    }
}

static vec3 halo_combined(const vec3 v[3], const double by[3]) {
    vec3 sum = v3_scale(v[0], n_constant(by[0]));
    for (int i = 1; i < 3; i++) sum = v3_add(sum, v3_scale(v[i], n_constant(by[i])));
    return sum;
}

/* Makes a vector of the basis shorter by others of it, the one that this shortens most. Only if that is to
 * 0.8 of its square, and clearly better than another way: rounding must not choose. Returns 1 if it did. */
static int shorten_halo_basis(const vec3 v[3], double basis[3][3]) {
    vec3 w[3];
    double best = 0.8, shorter[3];
    int which = -1;
    for (int i = 0; i < 3; i++) w[i] = halo_combined(v, basis[i]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double ii = (double)v3_square(w[i]).v, ij = (double)v3_dot(w[i], w[j]).v,
                     ik = (double)v3_dot(w[i], w[k]).v, jj = (double)v3_square(w[j]).v,
                     jk = (double)v3_dot(w[j], w[k]).v, kk = (double)v3_square(w[k]).v,
                     area = jj * kk - jk * jk;
        for (int n = 0; n < 4; n++) {
            const double p = floor((ik * jk - ij * kk) / area) + n / 2,
                         q = floor((ij * jk - ik * jj) / area) + n % 2;
            double sum[3];
            for (int c = 0; c < 3; c++) sum[c] = basis[i][c] + p * basis[j][c] + q * basis[k][c];
            const double square = (double)v3_square(halo_combined(v, sum)).v;
            if (!(square < best * ii)) continue;
            best = 0.999 * square / ii;
            which = i;
            memcpy(shorter, sum, sizeof sum);
        }
    }
    if (which >= 0) memcpy(basis[which], shorter, sizeof shorter);
    return which >= 0;
}

static void swap_halo_axes(double basis[3][3], vec3 w[3], int i, int j) {
    const vec3 vector = w[i];
    w[i] = w[j];
    w[j] = vector;
    for (int c = 0; c < 3; c++) {
        const double index = basis[i][c];
        basis[i][c] = basis[j][c];
        basis[j][c] = index;
    }
}

/* A basis of short vectors, softest axis first: the shortest, then the one with the shorter component across
 * it. w: its vectors. */
static void halo_basis(const vec3 v[3], double basis[3][3], vec3 w[3]) {
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++) basis[i][c] = i == c;
    for (int turn = 0; turn < 200 && shorten_halo_basis(v, basis); turn++) continue;
    for (int i = 0; i < 3; i++) w[i] = halo_combined(v, basis[i]);
    for (int i = 1; i < 3; i++)
        if (v3_square(w[i]).v < v3_square(w[0]).v) swap_halo_axes(basis, w, 0, i);
    if (v3_square(v3_cross(w[0], w[2])).v < v3_square(v3_cross(w[0], w[1])).v)
        swap_halo_axes(basis, w, 1, 2);
}

/* Mean of 1/x, nearly that of the smallest x; a smooth function also where two are equal. */
static num halo_softest(const num *x, int count) {
    num above = n_constant(0), below = n_constant(0);
    for (int i = 0; i < count; i++) {
        const num inverse = n_div(n_constant(1), x[i]), fourth = n_sqr(n_sqr(inverse));
        above = n_add(above, n_mul(fourth, inverse));
        below = n_add(below, fourth);
    }
    return n_div(above, below);
}

static num halo_lesser(num a, num b) { return a.v < b.v ? a : b; }

/* C and what nodes beyond add, in the basis w. A sum over an axis becomes an integral below the t at which its
 * terms are exp(-2 n^2) to exp(-2.4 n^2): nodes out of sight then have less than e^-4 of a peak, and no cosine of
 * the sum more than 2 e^-4. Where axes are about equally soft the next limit is no lower, and nothing is between. */
static void halo_layers(const vec3 w[3], num halo[DB_HALO_NUMBERS]) {
    const num square[3] = { v3_square(w[0]), v3_square(w[1]), v3_square(w[2]) };
    num *const c = halo + DB_HALO_C, *const until = halo + DB_HALO_UNTIL;
    const num pi = n_constant((REAL)3.141592653589793238462643383279502884L);
    c[0] = n_sqrt(square[0]);
    c[1] = n_div(v3_dot(w[0], w[1]), c[0]);
    c[2] = n_div(v3_dot(w[0], w[2]), c[0]);
    const num across[2] = { n_sub(square[1], n_sqr(c[1])), n_sub(square[2], n_sqr(c[2])) };
    c[3] = n_sqrt(across[0]);
    c[4] = n_div(n_sub(v3_dot(w[1], w[2]), n_mul(c[1], c[2])), c[3]);
    const num normal = n_sub(across[1], n_sqr(c[4]));
    c[5] = n_sqrt(normal);
    until[0] = n_scale(halo_softest(square, 3), 2);
    until[1] = halo_lesser(until[0], n_scale(halo_softest(across, 2), (REAL)2.2));
    until[2] = halo_lesser(until[1], n_scale(halo_softest(&normal, 1), (REAL)2.4));
    halo[DB_HALO_ROD] = n_div(n_sqrt(pi), c[0]);
    halo[DB_HALO_SHEET] = n_div(pi, n_mul(c[0], c[3]));
    halo[DB_HALO_EVEN] =
        n_div(n_mul(n_sqr(pi), n_erf(n_sqrt(until[2]))), n_mul(n_mul(c[0], c[3]), c[5]));
}

/* The diffuse halo (docs/theory/halo.md). */
static void diffuse_halo(const model_inputs *m, num halo[DB_HALO_NUMBERS]) {
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    const db_experiment *e = m->experiment;
    const int each = e->crystal.diffuse_anisotropic;
    num sigma[3], gamma[3], volume;
    vec3 scaled[3], w[3];
    double basis[3][3];
    for (int i = 0; i < 3; i++) {
        sigma[i] =
            parameter(m, each ? (db_parameter)((int)DB_DIFFUSE_SIGMA_A + i) : DB_DIFFUSE_SIGMA);
        gamma[i] =
            parameter(m, each ? (db_parameter)((int)DB_DIFFUSE_GAMMA_A + i) : DB_DIFFUSE_GAMMA);
    }
    const mat3 reciprocal = reciprocal_vectors(standard_basis(m), &volume);
    halo_vectors(reciprocal, sigma, scaled);
    for (int n = 0; n < 6; n++) halo[DB_HALO_U + n] = v3_dot(scaled[first[n]], scaled[second[n]]);
    halo_vectors(reciprocal, gamma, scaled);
    halo_basis(scaled, basis, w);
    halo_layers(w, halo);
    for (int i = 0; i < 3; i++) {
        const double *const j = basis[(i + 1) % 3], *const k = basis[(i + 2) % 3];
        const double across[3] = { j[1] * k[2] - j[2] * k[1], j[2] * k[0] - j[0] * k[2],
                                   j[0] * k[1] - j[1] * k[0] },
                     volume_of_basis = /* 1 or -1 */
                     basis[i][0] * across[0] + basis[i][1] * across[1] + basis[i][2] * across[2];
        for (int c = 0; c < 3; c++) {
            halo[DB_HALO_BASIS + 3 * i + c] = n_constant(basis[i][c]);
            halo[DB_HALO_INVERSE + 3 * i + c] = n_constant(across[c] * volume_of_basis);
        }
    }
    const num cells = n_mul(parameter(m, DB_CELLS_A),
                            n_mul(parameter(m, DB_CELLS_B), parameter(m, DB_CELLS_C))),
              length = n_mul(gamma[0], n_mul(gamma[1], gamma[2]));
    /* closed form: each orientation of the halo has an equal share (with sampled spots the overall scale
     * contains the division) */
    const double share = e->spread.spots == DB_SPOTS_CLOSED ? 1 / (double)db_sample_count(e) : 1;
    halo[DB_HALO_DENSITY] =
        n_scale(n_mul(cells, n_mul(length, volume)), 8 * 3.141592653589793238462643 * share);
}

/* Tensor W of a ray that travels along the polarization axis, where the field has no component. It is the
 * tensor of unpolarized light. In the reference's arithmetic all scattering of polarized light then lies
 * along the field. */
static void undirected_tensor(const db_experiment *e, vec3 incident, num tensor[6]) {
    const num i[3] = { incident.x, incident.y, incident.z };
    const double k = e->reference.on ? e->beam.polarization : 0;
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++)
        tensor[n] = n_shift(n_scale(n_mul(i[first[n]], i[second[n]]), 1 + k), n < 3 ? -k : 0);
}

/* Kahn's polarization factor as a quadratic form of the outgoing direction (docs/theory/pixel.md,
 * Polarization): with E and B the field directions, P = (1 + (d.i)^2 - K ((d.E)^2 - (d.B)^2))/2 =
 * (1 + d.W d)/2. Without polarization W = 1: P = 1. */
static void polarization_tensor(const model_inputs *m, vec3 incident, num tensor[6]) {
    const db_experiment *e = m->experiment;
    if (!e->beam.polarized) {
        for (int i = 0; i < 6; i++) tensor[i] = n_constant(i < 3);
        return;
    }
    const num k = parameter(m, DB_POLARIZATION);
    const vec3 across = v3_cross(fixed(e->beam.polarization_axis), incident);
    if (!(v3_square(across).v > 1e-24)) {
        undirected_tensor(e, incident, tensor);
        return;
    }
    const vec3 magnetic = v3_unit(across);
    const vec3 electric = v3_unit(v3_cross(incident, magnetic));
    const num i[3] = { incident.x, incident.y, incident.z },
              f[3] = { electric.x, electric.y, electric.z },
              g[3] = { magnetic.x, magnetic.y, magnetic.z };
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++) {
        const int p = first[n], q = second[n];
        tensor[n] = n_sub(n_mul(i[p], i[q]), n_mul(k, n_sub(n_mul(f[p], f[q]), n_mul(g[p], g[q]))));
    }
}

/* Mean wavelength of the sources over the beam's wavelength. */
static num mean_ratio(const model_inputs *m) {
    const db_beam *beam = &m->experiment->beam;
    num sum = n_constant(0), total = n_constant(0);
    for (size_t j = 0; j < beam->source_count; j++) {
        const num weight = parameter(m, db_parameter_source_weight(j));
        sum = n_add(sum, n_scale(weight, beam->sources[j].wavelength_ratio));
        total = n_add(total, weight);
    }
    return n_div(sum, total);
}

/* Wavelength of a source: the spectrum is stretched about its mean, then dispersion is applied. */
static num source_wavelength(const model_inputs *m, const db_source *s, num mean) {
    const num wavelength = parameter(m, DB_WAVELENGTH), dispersion = parameter(m, DB_DISPERSION),
              widening = n_shift(parameter(m, DB_SPECTRUM_STRETCH), -1);
    const num from_mean = n_shift(n_neg(mean), s->wavelength_ratio);
    const num ratio = n_shift(n_mul(widening, from_mean), s->wavelength_ratio);
    return n_mul(n_mul(wavelength, ratio), n_shift(n_scale(dispersion, s->spread[2]), 1));
}

/* Sources: divergence (the vertical angle about the polarization axis first, then the horizontal
 * one about beam x polarization), then the tilt of the whole beam about the same axes
 * (docs/theory/beam.md, Sources). */
static void beam_sources(const model_inputs *m, source_interface *source) {
    const db_experiment *e = m->experiment;
    const vec3 horizontal = fixed(e->beam.polarization_axis),
               vertical = v3_unit(v3_cross(fixed(e->beam.direction), horizontal));
    const mat3 tilt = beam_tilt(m);
    const num mean = mean_ratio(m),
              horizontal_range = n_scale(parameter(m, DB_DIVERGENCE_HORIZONTAL), 1e-3),
              vertical_range = n_scale(parameter(m, DB_DIVERGENCE_VERTICAL), 1e-3);
    num total = n_constant(0);
    for (size_t j = 0; j < e->beam.source_count; j++) {
        source[j].weight = parameter(m, db_parameter_source_weight(j));
        total = n_add(total, source[j].weight);
    }
    for (size_t j = 0; j < e->beam.source_count; j++) {
        const db_source *s = &e->beam.sources[j];
        const vec3 diverged =
            m3_apply(m3_rotation(vertical, n_scale(horizontal_range, s->spread[0])),
                     m3_apply(m3_rotation(horizontal, n_scale(vertical_range, s->spread[1])),
                              fixed(s->direction)));
        const vec3 incident = m3_apply(tilt, diverged);
        source[j].kappa = n_div(n_constant(1), source_wavelength(m, s, mean));
        source[j].s0 = v3_scale(incident, source[j].kappa);
        polarization_tensor(m, incident, source[j].polarization);
        source[j].weight = n_div(source[j].weight, total);
    }
}

/* f' and f'' of each kind of sites at a photon energy: straight lines between the points of the kind's
 * curve, constant beyond its ends (docs/theory/anomalous.md, Curves). */
static void site_curves(const model_inputs *m, num kappa, num *out) {
    const db_site_kinds *const sites = m->experiment->structure_factors.sites;
    const num energy = n_scale(kappa, DB_EV_ANGSTROM);
    for (int k = 0; k < sites->count; k++) {
        const db_site_kind *const kind = &sites->kind[k];
        size_t low = 0, high = kind->count - 1; /* interval of the energy, found by bisection */
        while (high - low > 1) {
            const size_t middle = low + (high - low) / 2;
            if (kind->energy[middle] <= energy.v)
                low = middle;
            else
                high = middle;
        }
        num part = n_scale(n_shift(energy, -kind->energy[low]),
                           1 / (kind->energy[high] - kind->energy[low]));
        if (part.v < 0 || part.v > 1) part = n_constant(part.v < 0 ? 0 : 1);
        for (int second = 0; second < 2; second++) {
            const num from = parameter(m, db_parameter_site_curve(k, second, low)),
                      to = parameter(m, db_parameter_site_curve(k, second, high));
            out[2 * k + second] = n_add(from, n_mul(part, n_sub(to, from)));
        }
    }
}

/* Panel motion, the same for all panels but each in its own frame: a rotation and a shift (m), in
 * components along fast, slow and normal. */
typedef struct {
    vec3 by_fast, by_slow, by_normal; /* change of each axis by the rotation */
    vec3 shift;
} own_motion;

static own_motion panel_motion(const model_inputs *m) {
    const mat3 columns =
        m3_transpose(m3_rotation_xyz(radians(m, DB_PANEL_TURN_FAST), radians(m, DB_PANEL_TURN_SLOW),
                                     radians(m, DB_PANEL_TURN_NORMAL)));
    const mat3 one = m3_identity();
    own_motion own;
    own.by_fast = v3_sub(columns.r[0], one.r[0]);
    own.by_slow = v3_sub(columns.r[1], one.r[1]);
    own.by_normal = v3_sub(columns.r[2], one.r[2]);
    own.shift = v3_make(n_scale(parameter(m, DB_PANEL_SHIFT_FAST), 1e-3),
                        n_scale(parameter(m, DB_PANEL_SHIFT_SLOW), 1e-3),
                        n_scale(parameter(m, DB_PANEL_SHIFT_NORMAL), 1e-3));
    return own;
}

/* A vector of the plate's frame, from components in a panel's own. */
static vec3 from_own(const db_panel *p, vec3 own) {
    const double *f = p->fast_axis;
    const double *s = p->slow_axis;
    const double *n = p->normal;
    num r[3];
    for (int i = 0; i < 3; i++)
        r[i] = n_add(n_scale(own.x, f[i]), n_add(n_scale(own.y, s[i]), n_scale(own.z, n[i])));
    return v3_make(r[0], r[1], r[2]);
}

/* Change of a panel's corner by the motion, a rotation about the panel's centre and a shift. */
static vec3 corner_motion(const db_panel *p, const own_motion *m) {
    const double half_fast = 0.5e-3 * p->fast_pixels * p->pixel_size[0],
                 half_slow = 0.5e-3 * p->slow_pixels * p->pixel_size[1];
    const vec3 turned = v3_add(v3_scale(m->by_fast, n_constant(half_fast)),
                               v3_scale(m->by_slow, n_constant(half_slow)));
    return from_own(p, v3_sub(m->shift, turned));
}

/* The detector plate and its panels in the laboratory (docs/theory/detector.md, Placement). */
static void detector_panels(const model_inputs *m, panel_interface *panel) {
    const db_experiment *e = m->experiment;
    const db_detector *d = &e->detector;
    const vec3 beam = fixed(e->beam.direction);
    const mat3 turn = m3_rotation_xyz(radians(m, DB_DETECTOR_ROTX), radians(m, DB_DETECTOR_ROTY),
                                      radians(m, DB_DETECTOR_ROTZ));
    const mat3 swing =
        m3_multiply(m3_rotation(fixed(d->twotheta_axis), radians(m, DB_TWOTHETA)), turn);
    const vec3 fast = m3_apply(swing, fixed(d->fast_axis)),
               slow = m3_apply(swing, fixed(d->slow_axis)),
               normal = m3_apply(swing, fixed(d->normal));
    /* obliquity of the plate to the beam before the two-theta swing */
    const num ratio = v3_dot(beam, m3_apply(turn, fixed(d->normal)));
    const num given = n_scale(parameter(m, DB_DISTANCE), 1e-3);
    const num along_beam = d->distance_is_close ? n_div(given, ratio) : given;
    const num along_normal = d->distance_is_close ? given : n_mul(given, ratio);
    const num centre_fast = n_scale(parameter(m, DB_BEAM_FAST), 1e-3),
              centre_slow = n_scale(parameter(m, DB_BEAM_SLOW), 1e-3);
    const vec3 hub =
        d->pivot == DB_PIVOT_BEAM ? v3_scale(beam, along_beam) : v3_scale(normal, along_normal);
    const vec3 plate =
        v3_sub(hub, v3_add(v3_scale(fast, centre_fast), v3_scale(slow, centre_slow)));
    const mat3 axes = m3_rows(fast, slow, normal);
    const own_motion motion = panel_motion(m);
    for (size_t p = 0; p < d->panel_count; p++) {
        const db_panel *own = &d->panels[p];
        const vec3 offset =
            v3_add(v3_passive(own->origin[0] * 1e-3, own->origin[1] * 1e-3, own->origin[2] * 1e-3),
                   corner_motion(own, &motion));
        const vec3 own_fast = v3_add(fixed(own->fast_axis), from_own(own, motion.by_fast)),
                   own_slow = v3_add(fixed(own->slow_axis), from_own(own, motion.by_slow)),
                   own_normal = v3_add(fixed(own->normal), from_own(own, motion.by_normal));
        panel[p].origin = v3_add(plate, m3_apply_transposed(axes, offset));
        panel[p].fast = m3_apply_transposed(axes, own_fast);
        panel[p].slow = m3_apply_transposed(axes, own_slow);
        panel[p].normal = m3_apply_transposed(axes, own_normal);
        panel[p].z = v3_dot(panel[p].origin, panel[p].normal);
        panel[p].radius = n_div(panel[p].z, v3_dot(beam, panel[p].normal));
        const vec3 spot = v3_sub(v3_scale(beam, panel[p].radius), panel[p].origin);
        panel[p].beam_fast = v3_dot(spot, panel[p].fast);
        panel[p].beam_slow = v3_dot(spot, panel[p].slow);
    }
}

/* Position of the crystal (m) in the middle of the exposure (docs/theory/detector.md, A crystal off the
 * origin). */
static vec3 crystal_position(const model_inputs *m, vec3 axis) {
    const vec3 at_rest = v3_make(n_scale(parameter(m, DB_CRYSTAL_X), 1e-3),
                                 n_scale(parameter(m, DB_CRYSTAL_Y), 1e-3),
                                 n_scale(parameter(m, DB_CRYSTAL_Z), 1e-3));
    const num angle =
        n_shift(radians(m, DB_PHI), db_to_middle_of_exposure(m->experiment) * DB_DEGREE);
    return m3_apply(m3_rotation(axis, angle), m3_apply(frame_turn(m), at_rest));
}

/* The panels as the crystal sees them: flat ones, whose curvature does not count. */
static void panels_from_crystal(const model_inputs *m, vec3 axis, panel_interface *panel) {
    detector_panels(m, panel);
    if (!in_use(m, DB_CRYSTAL_X, 3)) return;
    const vec3 place = crystal_position(m, axis);
    for (size_t p = 0; p < m->experiment->detector.panel_count; p++) {
        panel[p].origin = v3_sub(panel[p].origin, place);
        panel[p].z = n_sub(panel[p].z, v3_dot(place, panel[p].normal));
    }
}

/* Layers of the sensor, which fill its thickness (docs/theory/detector.md, Sensor). */
static void sensor_layers(const model_inputs *m, interface_values *out) {
    const db_experiment *e = m->experiment;
    const db_detector *d = &e->detector;
    out->layer_step = n_scale(parameter(m, DB_SENSOR_THICKNESS), 1e-6 / d->sensor_layers);
    out->attenuation = d->sensor_thickness == 0
                           ? n_constant(0)
                           : n_div(n_constant(1e6), parameter(m, DB_ATTENUATION_DEPTH));
}

/* Scattering without a lattice (docs/theory/pixel.md): a cube of water, with an amplitude of 2.57
 * electrons a molecule in all directions, and the number of molecules in an amorphous layer. */
static void lattice_free_matter(const model_inputs *m, interface_values *out) {
    const db_experiment *e = m->experiment;
    const db_background *b = &e->background;
    const double samples = (double)e->goniometer.phi_steps * e->crystal.mosaic_domains;
    const double density = 1e6, molar_mass = 18; /* g/m^3, g/mol */
    const num edge = n_scale(parameter(m, DB_WATER_SIZE), 1e-6);
    out->water = n_scale(n_mul(edge, n_sqr(edge)),
                         samples * 2.57 * 2.57 * (density * DB_AVOGADRO / molar_mass));
    const double per_thickness =
        b->count == 0 ? 0 : 1e-9 * b->area * (1e6 * b->density) * DB_AVOGADRO / b->molecular_weight;
    out->molecules = n_scale(parameter(m, DB_AMORPHOUS_THICKNESS), samples * per_thickness);
}

static void model_interface(const db_experiment *e, const db_mosaic_direction *directions,
                            const db_parameter_slots *slots, interface_values *out) {
    const model_inputs inputs = { e, slots }, *m = &inputs;
    const vec3 axis = spindle_axis(m);
    const mat3 turn = crystal_turn(m, axis);
    out->lattice = lattice_vectors(m, turn);
    if (e->spread.spots == DB_SPOTS_CLOSED)
        halo_rotations(m, axis, out->rotation);
    else
        sample_rotations(m, directions, axis, turn, out->rotation);
    if (db_has_halo(&e->crystal)) diffuse_halo(m, out->halo);
    out->cells[0] = parameter(m, DB_CELLS_A);
    out->cells[1] = parameter(m, DB_CELLS_B);
    out->cells[2] = parameter(m, DB_CELLS_C);
    out->b_factor = parameter(m, DB_B_FACTOR);
    const double samples =
        (double)e->goniometer.phi_steps * e->crystal.mosaic_domains * e->oversample * e->oversample;
    out->scale = n_scale(parameter(m, DB_SCALE), DB_THOMSON_R2 * e->beam.fluence / samples);
    sensor_layers(m, out);
    lattice_free_matter(m, out);
    panels_from_crystal(m, axis, out->panel);
    beam_sources(m, out->source);
    const int kinds = db_site_count(&e->structure_factors);
    for (size_t j = 0; kinds && out->site_curve && j < e->beam.source_count; j++)
        site_curves(m, out->source[j].kappa, out->site_curve + 2 * (size_t)kinds * j);
    if (e->spread.spots == DB_SPOTS_CLOSED) closed_spots(m, axis, turn, out);
}
