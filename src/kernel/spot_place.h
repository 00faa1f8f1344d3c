/* The place of a spot in closed form on its panel, and its width. Include once per (REAL, DIRS), after
 * kernel/spot.h. Source: docs/theory/spots.md, Places. */

#define spot_top AD_NUM(spot_top)
#define spot_beside AD_NUM(spot_beside)
#define spot_top_on_plane AD_NUM(spot_top_on_plane)
#define spot_solve AD_NUM(spot_solve)
#define spot_top_of AD_NUM(spot_top_of)
#define spot_on_panel AD_NUM(spot_on_panel)
#define spot_meet AD_NUM(spot_meet)
#define spot_arm AD_NUM(spot_arm)

/* A Gaussian of directions d about c, exp(-(d - c).S^-1 (d - c)/2), on the sphere |d| = 1. */
typedef struct {
    vec3 d;            /* where it is largest */
    num exponent;      /* there: -(d - c).S^-1 (d - c)/2 */
    num covariance[6]; /* beside d */
} spot_top;

/* A ray on a panel. */
typedef struct {
    num pixel[2];   /* of the panel's front */
    vec3 slope[2];  /* by the direction */
    lane obliquity; /* <= 0 behind the panel */
} spot_on_panel;

/* S' = S - S v v^T S/(v.S v): the covariance across v, for given places along v. */
AD_FN void spot_beside(const num s[6], vec3 v, num out[6]) {
    const vec3 sv = v3_symmetric(s, v);
    const vec3 part = v3_scale(sv, n_div(n_constant(1), v3_dot(v, sv)));
    const num a[6] = { sv.x, sv.y, sv.z, sv.x, sv.x, sv.y },
              b[6] = { part.x, part.y, part.z, part.y, part.z, part.z };
    for (int n = 0; n < 6; n++) out[n] = n_sub(s[n], n_mul(a[n], b[n]));
}

/* To first order: the sphere is replaced by the plane that touches it at u = c/|c|. */
AD_FN spot_top spot_top_on_plane(vec3 c, const num s[6], num *multiplier) {
    spot_top t;
    const num inverse = v3_inverse_length(c), length = n_mul(v3_square(c), inverse),
              lacks = n_sub(n_constant(1), length);
    const vec3 sc = v3_symmetric(s, c);
    const num l = n_div(n_mul(lacks, length), v3_dot(c, sc));
    t.d = v3_unit(v3_add(c, v3_scale(sc, l)));
    t.exponent = n_scale(n_mul(l, n_mul(lacks, length)), l_set((REAL)-0.5));
    spot_beside(s, c, t.covariance);
    *multiplier = l;
    return t;
}

/* (1 - l S)^-1 a. */
AD_FN vec3 spot_solve(const num s[6], num l, vec3 a) {
    num m[6], k[6];
    for (int n = 0; n < 6; n++) m[n] = n_neg(n_mul(l, s[n]));
    for (int n = 0; n < 3; n++) m[n] = n_shift(m[n], l_set(1));
    k[0] = n_sub(n_mul(m[1], m[2]), n_sqr(m[5]));
    k[1] = n_sub(n_mul(m[0], m[2]), n_sqr(m[4]));
    k[2] = n_sub(n_mul(m[0], m[1]), n_sqr(m[3]));
    k[3] = n_sub(n_mul(m[4], m[5]), n_mul(m[3], m[2]));
    k[4] = n_sub(n_mul(m[3], m[5]), n_mul(m[4], m[1]));
    k[5] = n_sub(n_mul(m[3], m[4]), n_mul(m[5], m[0]));
    const num determinant = n_add(n_mul(m[0], k[0]), n_add(n_mul(m[3], k[3]), n_mul(m[4], k[4])));
    return v3_scale(v3_symmetric(k, a), n_div(n_constant(1), determinant));
}

/* At the maximum S^-1 (d - c) = l d, l being Lagrange's multiplier: d = (1 - l S)^-1 c, and |d| = 1
 * is solved for l by Newton's steps. Beside d, the second derivatives are those of S^-1, less l since
 * the sphere curves away: to first order in l S, S' + l S'^2. Where l S is not small, at nodes many
 * standard deviations off the sphere, the plane has to do. */
AD_FN spot_top spot_top_of(vec3 c, const num s[6]) {
    enum { STEPS = 4 };
    num l;
    const spot_top first = spot_top_on_plane(c, s, &l);
    const lane trace = l_add(s[0].v, l_add(s[1].v, s[2].v));
    const lane_mask near = l_lt(l_mul(l_abs(l.v), trace), l_set((REAL)0.3));
    if (!l_any(near)) return first;
    l = n_select(near, l, n_constant(0));
    vec3 d = spot_solve(s, l, c);
    for (int step = 0; step < STEPS; step++) {
        const vec3 slope = spot_solve(s, l, v3_symmetric(s, d));
        const num off = n_sub(n_constant(1), v3_square(d));
        l = n_add(l, n_scale(n_div(off, v3_dot(d, slope)), l_set((REAL)0.5)));
        l = n_select(near, l, n_constant(0));
        d = spot_solve(s, l, c);
    }
    spot_top t;
    num inside[6], across[6];
    t.exponent = n_scale(n_mul(l, v3_dot(d, v3_sub(d, c))), l_set((REAL)-0.5));
    t.d = v3_unit(d);
    spot_beside(s, t.d, inside);
    const vec3 row[3] = { v3_make(inside[0], inside[3], inside[4]),
                          v3_make(inside[3], inside[1], inside[5]),
                          v3_make(inside[4], inside[5], inside[2]) };
    static const int first_row[6] = { 0, 1, 2, 0, 0, 1 }, second_row[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++)
        across[n] = n_add(inside[n], n_mul(l, v3_dot(row[first_row[n]], row[second_row[n]])));
    t.d.x = n_select(near, t.d.x, first.d.x);
    t.d.y = n_select(near, t.d.y, first.d.y);
    t.d.z = n_select(near, t.d.z, first.d.z);
    t.exponent = n_select(near, t.exponent, first.exponent);
    for (int n = 0; n < 6; n++) t.covariance[n] = n_select(near, across[n], first.covariance[n]);
    return t;
}

/* The distance from the Ewald sphere by which a turn about the best axis moves a node, per radian; rho: r times
 * the wavelength. */
AD_FN lane spot_arm(const spot_values *s, vec3 rho) {
    return l_sqrt(v3_square(v3_cross(v3_passive(s->ray[0], s->ray[1], s->ray[2]), rho)).v);
}

/* Along a ray: pixels of a panel's front, and their slopes by the direction. pixel_size: mm. */
AD_FN spot_on_panel spot_meet(const db_experiment *e, const interface_values *z,
                              const panel_interface *p, const double pixel_size[2], vec3 d) {
    spot_on_panel at;
    const vec3 axis[2] = { p->fast, p->slow };
    const num obliquity = v3_dot(d, p->normal), inverse = n_div(n_constant(1), obliquity);
    num distance = p->z;
    if (e->detector.sensor_thickness != 0 && !e->detector.layers_at_front)
        distance =
            n_add(distance, absorption_depth(obliquity, z->layer_step, z->attenuation, l_set(0)));
    at.obliquity = obliquity.v;
    for (int a = 0; a < 2; a++) {
        const lane per_pixel = l_set((REAL)(1e3 / pixel_size[a]));
        const num along = v3_dot(d, axis[a]), ray = n_mul(along, inverse),
                  scale = n_scale(n_mul(distance, inverse), per_pixel);
        at.pixel[a] = n_scale(n_sub(n_mul(ray, distance), v3_dot(p->origin, axis[a])), per_pixel);
        at.slope[a] = v3_scale(v3_sub(axis[a], v3_scale(p->normal, ray)), scale);
    }
    return at;
}
