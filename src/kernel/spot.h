/* The spot of a reflection in closed form: a Gaussian of the direction of scattering. Include
 * once per (REAL, DIRS) that needs it, after model/interface.h (or model/model.h),
 * kernel/radiometry.h and, for spot_at, kernel/one_sample.h. With more lanes (and DIRS 0) each
 * has a node of its own, while source, panel, class of blocks and whether spots move are those
 * of all. Derivation: docs/theory/spots.md.
 *
 * With the node r of a reflection, the incident wave vector s0 and kappa = 1/wavelength, a block
 * diffracts into the direction d where d - c is small, c = (s0 + r)/kappa, which is not a unit
 * vector unless r lies on the Ewald sphere. All that spreads blocks, photons and places shifts d
 * - c linearly, so that covariances add up: to S. With S = L L^T and W = L^-1 the exponent is
 * -|z|^2/2, z = W (d - c). */

#define spot_values AD_NUM(spot_values)
#define spot_step AD_NUM(spot_step)
#define spot_angles AD_NUM(spot_angles)
#define spot_turns AD_NUM(spot_turns)
#define spot_angles_of AD_NUM(spot_angles_of)
#define spot_node_of AD_NUM(spot_node_of)
#define spot_node AD_NUM(spot_node)
#define spot_ray AD_NUM(spot_ray)
#define spot_ray_of AD_NUM(spot_ray_of)
#define spot_circle AD_NUM(spot_circle)
#define spot_circle_of AD_NUM(spot_circle_of)
#define spot_turn_of AD_NUM(spot_turn_of)
#define spot_add_square AD_NUM(spot_add_square)
#define spot_add_pair AD_NUM(spot_add_pair)
#define spot_blocks AD_NUM(spot_blocks)
#define spot_turned AD_NUM(spot_turned)
#define spot_across_ray AD_NUM(spot_across_ray)
#define spot_covariance AD_NUM(spot_covariance)
#define spot_cap AD_NUM(spot_cap)
#define spot_cap_of AD_NUM(spot_cap_of)
#define spot_whitening AD_NUM(spot_whitening)
#define spot_along_turn AD_NUM(spot_along_turn)
#define spot_of AD_NUM(spot_of)
#define spot_at AD_NUM(spot_at)

#include "base/degree.h"
#include "kernel/spot_entry.h"

/* The node of a reflection, at the spot's angle. */
typedef struct {
    vec3 standard;    /* in the standard frame (1/angstrom) */
    vec3 r;           /* in the laboratory */
    vec3 speed;       /* d r/d angle */
    mat3 turn;        /* standard frame -> laboratory */
    num at, from, to; /* as in db_spot_passage */
} spot_node;

/* A ray along c, where it meets the panel. */
typedef struct {
    vec3 u;               /* unit vector */
    num inverse_distance; /* to the panel (1/m) */
    num depth_variance;   /* in the sensor, along the panel's normal (m^2) */
} spot_ray;

typedef struct {
    vec3 centre;       /* c */
    num covariance[6]; /* S: xx, yy, zz, xy, xz, yz */
    mat3 root;         /* L; of a spot that moves: L times a reflection, see spot_along_turn */
    mat3 white;        /* W = root^-1 */
    num amplitude;     /* photons, less what depends on the pixel, and the overall scale */
    num from, to;      /* of a spot that moves: ends of the range, in standard deviations of z_3 */
    lane distance;     /* |s0 + r|/kappa - 1: from the Ewald sphere outwards */
    lane width;        /* its standard deviation */
    lane ray[3];       /* unit vector along s0 + r */
} spot_values;

/* The circle of a node: r = along + across cos(angle) + side sin(angle). */
typedef struct {
    vec3 along, across, side;
} spot_circle;

/* The angles of db_spot_passage, with the cosine and sine of the one at which a spot is
 * expanded. */
typedef struct {
    num at, from, to, cosine, sine;
} spot_angles;

/* Passages of nodes: at, from and to, and what these angles are; none of both: SPOT_FIXED. */
typedef struct {
    lane angle[3], cosine[3], sine[3];
    lane_mask crossing[3], turning[3];
} spot_turns;

AD_FN spot_circle spot_circle_of(vec3 spindle, vec3 start) {
    spot_circle k;
    k.along = v3_scale(spindle, v3_dot(spindle, start));
    k.across = v3_sub(start, k.along);
    k.side = v3_cross(spindle, start);
    return k;
}

/* How far an angle is from its number, with its slopes: Newton's step on the equation that
 * defines it, which is 0 but for rounding and has the right slopes. The node is on the sphere
 * where |s0 + r| = |s0|, that is r.s0 = -r^2/2; its distance turns where that of r.s0 does. */
AD_FN num spot_step(const spot_turns *turns, int i, const spot_circle *k, vec3 s0) {
    const lane cosine = turns->cosine[i], sine = turns->sine[i];
    const num a = v3_dot(k->across, s0), b = v3_dot(k->side, s0);
    const num even = n_add(n_scale(a, cosine), n_scale(b, sine)),
              odd = n_sub(n_scale(b, cosine), n_scale(a, sine));
    const num square = n_add(v3_square(k->along), v3_square(k->across));
    const num excess = n_add(even, n_add(v3_dot(k->along, s0), n_scale(square, l_set((REAL)0.5))));
    const num none = n_constant(0), turning = n_select(turns->turning[i], n_div(odd, even), none);
    return n_select(turns->crossing[i], n_neg(n_div(excess, odd)), turning);
}

/* The angles of passages. r: nodes at the start of the rotation. */
AD_FN spot_angles spot_angles_of(const interface_values *z, size_t source, const spot_turns *turns,
                                 vec3 r) {
    const spot_circle k = spot_circle_of(z->spread.spindle, r);
    num step[3], exact[3];
    for (int i = 0; i < 3; i++) {
        step[i] = spot_step(turns, i, &k, z->source[source].s0);
        exact[i] = n_shift(step[i], turns->angle[i]);
    }
    return (spot_angles){ exact[0], exact[1], exact[2],
                          n_affine(step[0], l_neg(turns->sine[0]), turns->cosine[0]),
                          n_affine(step[0], turns->cosine[0], turns->sine[0]) };
}

/* The node; angles NULL: the crystal is at the start of the rotation. */
AD_FN spot_node spot_node_of(const interface_values *z, const lane hkl[3],
                             const spot_angles *angles) {
    const spread_interface *spread = &z->spread;
    const vec3 *star = spread->reciprocal.r;
    spot_node n;
    n.standard =
        v3_add(v3_scale(star[0], n_passive(hkl[0])),
               v3_add(v3_scale(star[1], n_passive(hkl[1])), v3_scale(star[2], n_passive(hkl[2]))));
    n.turn = spread->turn;
    n.r = m3_apply(spread->turn, n.standard);
    n.at = n.from = n.to = n_constant(0);
    n.speed = v3_passive(l_set(0), l_set(0), l_set(0));
    if (!angles) return n;
    const spot_circle k = spot_circle_of(spread->spindle, n.r);
    const num c = angles->cosine, s = angles->sine;
    n.at = angles->at;
    n.from = angles->from;
    n.to = angles->to;
    n.r = v3_add(k.along, v3_add(v3_scale(k.across, c), v3_scale(k.side, s)));
    n.speed = v3_sub(v3_scale(k.side, c), v3_scale(k.across, s));
    n.turn = m3_multiply(m3_turned(spread->spindle, c, s), spread->turn);
    return n;
}

#if LANES == 1
AD_FN spot_node spot_turn_of(const interface_values *z, const db_spot_name *name) {
    const lane hkl[3] = { (lane)name->hkl[0], (lane)name->hkl[1], (lane)name->hkl[2] };
    const spot_node start = spot_node_of(z, hkl, NULL);
    if (name->passage.at == 0 && !name->passage.moves) return start;
    const db_spot_passage *p = &name->passage;
    const double angle[3] = { p->at, p->from, p->to };
    const db_spot_angle kind[3] = { p->at_kind, p->from_kind, p->to_kind };
    spot_turns turns;
    for (int i = 0; i < 3; i++) {
        const num given = n_constant((REAL)angle[i]);
        turns.angle[i] = given.v;
        turns.cosine[i] = n_cos(given).v;
        turns.sine[i] = n_sin(given).v;
        turns.crossing[i] = kind[i] == SPOT_CROSSING;
        turns.turning[i] = kind[i] == SPOT_TURNING;
    }
    const spot_angles angles = spot_angles_of(z, name->source, &turns, start.r);
    return spot_node_of(z, hkl, &angles);
}
#endif

/* Adds s v v^T. */
AD_FN void spot_add_square(num tensor[6], vec3 v, num s) {
    const vec3 w = v3_scale(v, s);
    tensor[0] = n_add(tensor[0], n_mul(w.x, v.x));
    tensor[1] = n_add(tensor[1], n_mul(w.y, v.y));
    tensor[2] = n_add(tensor[2], n_mul(w.z, v.z));
    tensor[3] = n_add(tensor[3], n_mul(w.x, v.y));
    tensor[4] = n_add(tensor[4], n_mul(w.x, v.z));
    tensor[5] = n_add(tensor[5], n_mul(w.y, v.z));
}

/* Covariance (1/angstrom^2, standard frame) of the node of blocks whose lattices differ, about r,
 * without their size. A rotation w shifts it by w x r, a strain E by E r. */
AD_FN void spot_blocks(const spread_interface *spread, db_strain_ties ties, vec3 r, num out[6]) {
    const num zero = n_constant(0);
    for (int i = 0; i < 6; i++) out[i] = zero;
    const num xx = n_sqr(r.x), yy = n_sqr(r.y), zz = n_sqr(r.z), xy = n_mul(r.x, r.y),
              xz = n_mul(r.x, r.z), yz = n_mul(r.y, r.z);
    if (spread->parts & DB_PART_ROTATION) {
        const lane two = l_set(2);
        const num *w = spread->rotation; /* xx, yy, zz, xy, xz, yz */
        out[0] = n_sub(n_add(n_mul(w[1], zz), n_mul(w[2], yy)), n_scale(n_mul(w[5], yz), two));
        out[1] = n_sub(n_add(n_mul(w[2], xx), n_mul(w[0], zz)), n_scale(n_mul(w[4], xz), two));
        out[2] = n_sub(n_add(n_mul(w[0], yy), n_mul(w[1], xx)), n_scale(n_mul(w[3], xy), two));
        out[3] =
            n_sub(n_add(n_mul(w[5], xz), n_mul(w[4], yz)), n_add(n_mul(w[3], zz), n_mul(w[2], xy)));
        out[4] =
            n_sub(n_add(n_mul(w[3], yz), n_mul(w[5], xy)), n_add(n_mul(w[4], yy), n_mul(w[1], xz)));
        out[5] =
            n_sub(n_add(n_mul(w[4], xy), n_mul(w[3], xz)), n_add(n_mul(w[5], xx), n_mul(w[0], yz)));
    }
    if (spread->parts & DB_PART_STRAIN) spot_add_square(out, r, spread->strain);
    if (spread->parts & DB_PART_STRAIN_TENSOR) {
        const num *v = spread->strain_direct;
        const num *shear = spread->strain_shear;
        if (ties == DB_STRAIN_ISOTROPIC) {
            spot_add_square(out, r, v[0]);
        } else if (ties == DB_STRAIN_UNIAXIAL) {
            spot_add_square(out, v3_make(r.x, r.y, zero), v[0]);
            out[2] = n_add(out[2], n_mul(v[2], zz));
        } else {
            out[0] = n_add(out[0], n_mul(v[0], xx));
            out[1] = n_add(out[1], n_mul(v[1], yy));
            out[2] = n_add(out[2], n_mul(v[2], zz));
        }
        spot_add_square(out, v3_make(zero, r.z, r.y), shear[0]);
        spot_add_square(out, v3_make(r.z, zero, r.x), shear[1]);
        spot_add_square(out, v3_make(r.y, r.x, zero), shear[2]);
    }
    for (int k = 0; k < DB_SPREAD_MODES; k++)
        if (spread->parts & DB_PART_MODE << k)
            spot_add_square(out, m3_apply(spread->mode[k], r), n_constant(1));
}

/* Adds a b^T + b a^T. */
AD_FN void spot_add_pair(num tensor[6], vec3 a, vec3 b) {
    const num u[3] = { a.x, a.y, a.z }, v[3] = { b.x, b.y, b.z };
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++) {
        const int i = first[n], j = second[n];
        tensor[n] = n_add(tensor[n], n_add(n_mul(u[i], v[j]), n_mul(u[j], v[i])));
    }
}

/* V T V^T of a symmetric tensor. */
AD_FN void spot_turned(mat3 v, const num t[6], num out[6]) {
    const vec3 a = v3_symmetric(t, v.r[0]), b = v3_symmetric(t, v.r[1]),
               c = v3_symmetric(t, v.r[2]);
    out[0] = v3_dot(a, v.r[0]);
    out[1] = v3_dot(b, v.r[1]);
    out[2] = v3_dot(c, v.r[2]);
    out[3] = v3_dot(a, v.r[1]);
    out[4] = v3_dot(a, v.r[2]);
    out[5] = v3_dot(b, v.r[2]);
}

/* Adds P T P, P = 1 - u u^T. */
AD_FN void spot_across_ray(vec3 u, const num t[6], num out[6]) {
    const vec3 tu = v3_symmetric(t, u);
    /* T - u h^T - h u^T with h = T u - u (u.T u)/2 */
    const vec3 h = v3_sub(tu, v3_scale(u, n_scale(v3_dot(u, tu), l_set((REAL)0.5))));
    const num a[3] = { u.x, u.y, u.z }, b[3] = { h.x, h.y, h.z };
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++) {
        const int i = first[n], j = second[n];
        const num both = n_add(n_mul(a[i], b[j]), n_mul(a[j], b[i]));
        out[n] = n_add(out[n], n_sub(t[n], both));
    }
}

/* c and the ray along it. */
AD_FN spot_ray spot_ray_of(const db_experiment *e, const interface_values *z,
                           const db_spot_name *name, vec3 c) {
    const panel_interface *panel = &z->panel[name->panel];
    spot_ray ray;
    ray.u = v3_unit(c);
    const num obliquity = v3_dot(ray.u, panel->normal);
    num distance = panel->z;
    ray.depth_variance = n_constant(0);
    if (e->detector.sensor_thickness != 0 && !e->detector.layers_at_front) {
        distance =
            n_add(distance, absorption_depth(obliquity, z->layer_step, z->attenuation, l_set(0)));
        ray.depth_variance = absorption_variance(obliquity, z->layer_step, z->attenuation);
    }
    ray.inverse_distance = n_div(obliquity, distance);
    return ray;
}

/* S, in directions. */
AD_FN void spot_covariance(const db_experiment *e, const interface_values *z,
                           const db_spot_name *name, const spot_node *node, const spot_ray *ray,
                           num out[6]) {
    const spread_interface *spread = &z->spread;
    const panel_interface *panel = &z->panel[name->panel];
    const num wavelength = n_div(n_constant(1), z->source[name->source].kappa),
              square = n_sqr(wavelength);
    num blocks[6], crystal[6], place[6];
    spot_blocks(spread, e->spread.strain_ties, node->standard, blocks);
    for (int i = 0; i < 6; i++)
        crystal[i] = n_add(spread->size[i], n_mul(spread->tail_variance[name->tail], blocks[i]));
    spot_turned(node->turn, crystal, out);
    /* wavelength (1 + b) shifts q - r by b q, which is b r where the block diffracts */
    spot_add_square(out, node->r, spread->bandwidth);
    for (int i = 0; i < 6; i++) out[i] = n_add(n_mul(out[i], square), spread->divergence[i]);
    for (int i = 0; i < 6; i++) place[i] = panel->spread[i];
    if (e->detector.sensor_thickness != 0)
        spot_add_square(place, panel->normal, ray->depth_variance);
    const num per_place = n_sqr(ray->inverse_distance);
    for (int i = 0; i < 6; i++) place[i] = n_mul(place[i], per_place);
    spot_across_ray(ray->u, place, out);
}

/* A rotation keeps |r|: nodes of turned blocks lie on a cap around the origin of the reciprocal
 * lattice, and the first order on the plane that touches it. With i = s0/kappa and rho = r/kappa
 * the distance to the sphere that has the cap, (|d - i|^2 - |rho|^2)/(2 |rho|), is linear in d
 * on the unit sphere. So the share f of the spread that is rotation moves d - c to B (d - c'), B
 * = 1 - f rho c^T/|rho|^2, by the linear function (|c|^2 - 1)/2 + c.(d - c) = -|d - c|^2/2:
 * exact there, and as cheap. (docs/theory/spots.md, The cap) */
typedef struct {
    num back;        /* B^-1 = 1 + back rho c^T */
    num determinant; /* of B */
    vec3 rho;
} spot_cap;

#ifndef SPOT_MOST_CAP
/* Largest part of B that the cap takes away. A node on the sphere loses a half. Nodes of small Bragg angles and wide rotations
 * may be farther than their cap from the sphere, which it does not meet there: B would be singular, and negative beyond. */
#define SPOT_MOST_CAP 0.75
#endif

/* f is the square of the rotations' share of the variance across the plane of scattering: where
 * blocks are as wide as their rotations turn them, the cap is blurred. */
AD_FN spot_cap spot_cap_of(const interface_values *z, const db_spot_name *name,
                           const spot_node *node, vec3 incident, vec3 rho, const num s[6]) {
    const spread_interface *spread = &z->spread;
    spot_cap cap = { n_constant(0), n_constant(1), rho };
    const vec3 across = v3_cross(incident, rho);
    const num square = v3_square(rho);
    if (!(spread->parts & DB_PART_ROTATION)) return cap;
    const lane_mask plane = /* along the beam there is none */
        l_lt(l_mul(l_set((REAL)1e-10), square.v), v3_square(across).v);
    /* w x r along a direction t is w.(r x t); t and r in the standard frame */
    const vec3 arm = v3_cross(node->standard, m3_apply_transposed(node->turn, across));
    const num kappa = z->source[name->source].kappa,
              turned = n_div(n_mul(spread->tail_variance[name->tail],
                                   v3_dot(arm, v3_symmetric(spread->rotation, arm))),
                             n_sqr(kappa));
    const num share = n_div(turned, v3_dot(across, v3_symmetric(s, across)));
    const num ahead = n_add(v3_dot(incident, rho), square), all = n_sqr(share),
              most = n_scale(square, l_set((REAL)SPOT_MOST_CAP));
    const num f = n_select(l_lt(most.v, n_mul(all, ahead).v), n_div(most, ahead), all);
    const num left = n_sub(square, n_mul(f, ahead));
    cap.back = n_select(plane, n_div(f, left), cap.back);
    cap.determinant = n_select(plane, n_div(left, square), cap.determinant);
    return cap;
}

/* S = L L^T, and W = L^-1. */
AD_FN void spot_whitening(const num s[6], mat3 *root, mat3 *white) {
    const num zero = n_constant(0);
    const num w0 = n_rsqrt(s[0]);
    const num l0 = n_mul(s[0], w0), l10 = n_mul(s[3], w0), l20 = n_mul(s[4], w0);
    const num rest1 = n_sub(s[1], n_sqr(l10)), w1 = n_rsqrt(rest1);
    const num l1 = n_mul(rest1, w1), l21 = n_mul(n_sub(s[5], n_mul(l20, l10)), w1);
    const num rest2 = n_sub(n_sub(s[2], n_sqr(l20)), n_sqr(l21)), w2 = n_rsqrt(rest2);
    const num l2 = n_mul(rest2, w2);
    const num w10 = n_neg(n_mul(n_mul(l10, w0), w1)), w21 = n_neg(n_mul(n_mul(l21, w1), w2));
    const num w20 = n_neg(n_mul(n_add(n_mul(l20, w0), n_mul(l21, w10)), w2));
    *root = m3_rows(v3_make(l0, zero, zero), v3_make(l10, l1, zero), v3_make(l20, l21, l2));
    *white = m3_rows(v3_make(w0, zero, zero), v3_make(w10, w1, zero), v3_make(w20, w21, w2));
}

/* Of a spot that moves by v per angle: reflects z, so that its third component runs along W v. The
 * exponent at another angle is then -(z_1^2 + z_2^2 + (z_3 - |W v| angle)^2)/2. Returns |W v|. */
AD_FN num spot_along_turn(vec3 v, mat3 *root, mat3 *white) {
    const vec3 along = m3_apply(*white, v);
    const num inverse = v3_inverse_length(along);
    const vec3 n = v3_scale(along, inverse);
    const lane one = l_set(1), minus = l_set(-1),
               sign = l_select(l_lt(n.z.v, l_set(0)), minus, one);
    /* the reflection 1 - h h^T/(1 + |n_3|), h = n + sign e_3, takes n to -sign e_3; the third row
     * changes its sign besides, so that n goes to e_3 */
    const num factor = n_div(n_constant(1), n_shift(n_scale(n.z, sign), one));
    const vec3 h = v3_make(n.x, n.y, n_shift(n.z, sign));
    const vec3 row = v3_scale(m3_apply_transposed(*white, h), factor), /* h^T W/(..) */
        column = v3_scale(m3_apply(*root, h), factor);                 /* L h/(..) */
    mat3 w = *white, l = *root;
    w.r[0] = v3_sub(w.r[0], v3_scale(row, h.x));
    w.r[1] = v3_sub(w.r[1], v3_scale(row, h.y));
    w.r[2] = v3_scale(v3_sub(w.r[2], v3_scale(row, h.z)), n_passive(l_neg(sign)));
    const num c[3] = { column.x, column.y, column.z };
    for (int i = 0; i < 3; i++) {
        l.r[i] = v3_sub(l.r[i], v3_scale(h, c[i]));
        l.r[i].z = n_scale(l.r[i].z, l_neg(sign));
    }
    *root = l;
    *white = w;
    return n_div(n_constant(1), inverse);
}

/* The spot of a node; square: of its structure factor. name: of all lanes; hkl and angles of
 * passages are the node's. */
AD_FN spot_values spot_of(const db_experiment *e, const interface_values *z,
                          const db_spot_name *name, const spot_node *node, num square) {
    const source_interface *source = &z->source[name->source];
    const num wavelength = n_div(n_constant(1), source->kappa);
    const vec3 incident = v3_scale(source->s0, wavelength), rho = v3_scale(node->r, wavelength),
               c = v3_add(incident, rho);
    spot_values s;
    const spot_ray ray = spot_ray_of(e, z, name, c);
    spot_covariance(e, z, name, node, &ray, s.covariance);
    const spot_cap cap = spot_cap_of(z, name, node, incident, rho, s.covariance);
    s.ray[0] = ray.u.x.v;
    s.ray[1] = ray.u.y.v;
    s.ray[2] = ray.u.z.v;
    s.distance = l_sub(v3_dot(ray.u, c).v, l_set(1));
    s.width = l_sqrt(v3_dot(ray.u, v3_symmetric(s.covariance, ray.u)).v);
    /* S becomes B^-1 S B^-T, and c the place where B (d - c) + rho-part is 0 */
    const vec3 sc = v3_symmetric(s.covariance, c), along = v3_scale(rho, cap.back);
    const vec3 half = v3_add(sc, v3_scale(along, n_scale(v3_dot(c, sc), l_set((REAL)0.5))));
    spot_add_pair(s.covariance, along, half);
    const num excess = n_scale(n_shift(v3_square(c), l_set(-1)), l_set((REAL)0.5));
    s.centre = v3_add(c, v3_scale(along, excess));
    spot_whitening(s.covariance, &s.root, &s.white);
    const num peak =
        n_div(n_mul(s.white.r[0].x, n_mul(s.white.r[1].y, s.white.r[2].z)), cap.determinant);
    const num volume = n_mul(z->spread.volume, n_mul(wavelength, n_sqr(wavelength)));
    s.amplitude = n_mul(n_mul(square, n_mul(volume, peak)),
                        n_mul(source->weight, z->spread.tail_fraction[name->tail]));
    s.from = s.to = n_constant(0);
    if (!name->passage.moves) return s;
    /* mean over the range: sqrt(2 pi)/(|W v| range) (Phi(to - z_3) - Phi(from - z_3)) */
    const vec3 speed = v3_scale(node->speed, wavelength); /* W v, not W B v: |r| stays */
    const num per_angle =
        spot_along_turn(v3_add(speed, v3_scale(along, v3_dot(c, speed))), &s.root, &s.white);
    const REAL range = (REAL)(fabs(e->goniometer.phi_step) * DB_DEGREE);
    s.from = n_mul(per_angle, n_sub(node->from, node->at));
    s.to = n_mul(per_angle, n_sub(node->to, node->at));
    const lane mean = l_set((REAL)(2.506628274631000502415765 / range));
    s.amplitude = n_div(n_scale(s.amplitude, mean), per_angle);
    return s;
}

#if LANES == 1 && defined(node_square)
/* The spot of that name. slots: those that the interface was made with; or NULL. */
AD_FN spot_values spot_at(const db_experiment *e, const interface_values *z,
                          const db_parameter_slots *slots, const db_spot_name *name) {
    const lane hkl[3] = { (lane)name->hkl[0], (lane)name->hkl[1], (lane)name->hkl[2] };
    const spot_node node = spot_turn_of(z, name);
    return spot_of(e, z, name, &node,
                   node_square(&e->structure_factors, slots, z->site_curve, name->source, hkl));
}
#endif
