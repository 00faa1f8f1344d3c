/* Which pixels of a panel a spot in closed form reaches. Include once per REAL, with DIRS 0,
 * after kernel/spot.h. Source: docs/theory/spots.md, Boxes.
 *
 * The spot's directions d lie in the ellipsoid (d - c).S^-1 (d - c) <= cut, or, of a spot that
 * moves, in one about a point c + t v of its way, and on the unit sphere. On a plane u.d = 1 -
 * y, parallel to that which touches the sphere at u, they are
 *
 *   d = p - y s + w,   s = S u/(u.S u),   p = c + t v + (1 - u.(c + t v)) s,
 *
 * w in an ellipse across u, of the conditional covariance T. On the sphere y = |d - u|^2/2,
 * which a quadratic inequality bounds; so that two ellipses, at y = 0 and at its bound, have all
 * of the spot between them, for any u. It should lie where the spot is brightest. */

#define spot_reach AD_NUM(spot_reach)
#define spot_reach_of AD_NUM(spot_reach_of)
#define spot_box AD_NUM(spot_box)
#define spot_limits AD_NUM(spot_limits)
#define spot_view AD_NUM(spot_view)
#define spot_view_of AD_NUM(spot_view_of)
#define spot_no_pixels AD_NUM(spot_no_pixels)
#define spot_cover AD_NUM(spot_cover)
#define spot_cover_way AD_NUM(spot_cover_way)
#define spot_brightest AD_NUM(spot_brightest)
#define spot_slice AD_NUM(spot_slice)
#define spot_depth AD_NUM(spot_depth)
#define spot_across AD_NUM(spot_across)
#define spot_form AD_NUM(spot_form)
#define spot_mapped AD_NUM(spot_mapped)
#define spot_lane_min AD_NUM(spot_lane_min)
#define spot_box_on_sphere AD_NUM(spot_box_on_sphere)
#define spot_intersect AD_NUM(spot_intersect)
#define spot_box_along_way AD_NUM(spot_box_along_way)
#define spot_box_of AD_NUM(spot_box_of)

/* Where a node's spot can be: its directions on the sphere are within `across` of c = (s0 +
 * r)/kappa, and (|c|^2 - 1)/2 is from -inwards to outwards |c|. Beyond bounds where nothing can be
 * said. */
typedef struct {
    lane across, inwards, outwards;
} spot_reach;

/* On the sphere a spot has |g| <= R, g = delta + f rho |delta|^2/(2 |rho|^2), 0 <= f <= 1, delta
 * = d - c (kernel/spot.h, The cap), R^2 = largest times the variance. So |delta| <= R +
 * |delta|^2/(2 |rho|), whose smaller root is its bound; beyond the larger one is the cap's
 * mirror image, which is no spot. And with c.delta = -e - |delta|^2/2, e = (|c|^2 - 1)/2,
 *   e (1 - f |delta|^2/(2 |rho|^2)) = -c.g - (1 - f/2) |delta|^2/2 .
 * rho: |r|/kappa; way: how far c moves while the crystal turns. A turn that nodes may need besides widens
 * places as a mosaic of that variance does. */
AD_FN spot_reach spot_reach_of(const db_spot_bounds *b, lane rho, lane wavelength, lane way) {
    const lane one = l_set(1), two = l_set(2), unknown = l_set((REAL)1e3), half = l_set((REAL)0.5);
    const lane length = l_div(rho, wavelength),
               variance =
                   l_fma(l_set((REAL)b->growing), l_mul(length, length), l_set((REAL)b->constant));
    const lane largest = l_set((REAL)b->largest), turn = l_mul(l_set((REAL)b->turn), rho),
               wide = l_fma(turn, turn, l_add(variance, l_set((REAL)b->place))),
               reach = l_add(l_sqrt(l_mul(largest, wide)), way);
    const lane part = l_div(reach, rho);
    const lane_mask known = l_lt(part, half);
    const lane root = l_sqrt(l_max(l_fnma(two, part, one), l_set(0))),
               across = l_div(l_mul(two, reach), l_add(one, root)), angle = l_div(across, rho),
               left = l_div(one, l_fnma(half, l_mul(angle, angle), one)),
               along = l_add(l_sqrt(l_mul(largest, variance)), turn);
    spot_reach r;
    r.across = l_select(known, across, unknown);
    r.inwards = l_select(known, l_mul(l_fma(half, l_mul(across, across), along), left), unknown);
    r.outwards = l_select(known, l_mul(along, left), unknown);
    return r;
}

/* A panel as rays see it: x on it is at (x.axis)/(x.normal) distance - corner. */
typedef struct {
    vec3 axis[2], normal;
    lane near,
        far; /* distances (m) in which rays are recorded: of the sensor's front and its back */
    lane corner[2], size[2]; /* m */
} spot_view;

/* Pixels: from, to along both axes; whether there are any, and whether they have an end. And the
 * direction in which the spot is about brightest. */
typedef struct {
    lane from[2], to[2];
    lane_mask reached, bounded;
    vec3 brightest;
} spot_box;

AD_FN lane spot_lane_min(lane a, lane b) { return l_neg(l_max(l_neg(a), l_neg(b))); }

AD_FN spot_view spot_view_of(const panel_interface *panel, const double pixel_size[2],
                             double thickness) {
    spot_view v;
    v.axis[0] = panel->fast;
    v.axis[1] = panel->slow;
    v.normal = panel->normal;
    v.near = panel->z.v;
    v.far = l_add(v.near, l_set((REAL)(thickness > 0 ? 1e-6 * thickness : 0)));
    for (int i = 0; i < 2; i++) {
        v.corner[i] = v3_dot(panel->origin, v.axis[i]).v;
        v.size[i] = l_set((REAL)(1e-3 * pixel_size[i]));
    }
    return v;
}

AD_FN void spot_no_pixels(spot_box *box) {
    for (int i = 0; i < 2; i++) {
        box->from[i] = l_set((REAL)1e30);
        box->to[i] = l_set((REAL)-1e30);
    }
    box->reached = box->bounded = l_le(l_set(0), l_set(0));
}

AD_FN lane spot_form(const num t[6], vec3 a, vec3 b) { return v3_dot(a, v3_symmetric(t, b)).v; }

/* Adds what the ellipsoid (d - c).T^-1 (d - c) <= square covers as seen from the sample, in
 * pixels: along an axis f the plane through the origin that it touches has normal f - t n, and
 * (c.(f - t n))^2 = square (f - t n).T (f - t n), a quadratic equation for t. It has no end
 * where the ellipsoid reaches behind the panel's edge on. */
AD_FN void spot_cover(const spot_view *v, vec3 c, const num t[6], lane square, spot_box *box) {
    const vec3 tn = v3_symmetric(t, v->normal);
    const lane zero = l_set(0), cn = v3_dot(c, v->normal).v;
    const lane a = l_fnma(square, v3_dot(v->normal, tn).v, l_mul(cn, cn));
    const lane inverse = l_div(l_set(1), a);
    box->bounded = l_and(box->bounded, l_and(l_lt(zero, cn), l_lt(zero, a)));
    for (int i = 0; i < 2; i++) {
        const vec3 f = v->axis[i];
        const lane cf = v3_dot(c, f).v;
        const lane b = l_fnma(square, v3_dot(f, tn).v, l_mul(cn, cf)),
                   r = l_fnma(square, spot_form(t, f, f), l_mul(cf, cf));
        const lane root = l_sqrt(l_max(zero, l_fnma(a, r, l_mul(b, b))));
        const lane low = l_mul(l_sub(b, root), inverse), high = l_mul(l_add(b, root), inverse);
        const lane first = spot_lane_min(l_mul(low, v->near), l_mul(low, v->far)),
                   last = l_max(l_mul(high, v->near), l_mul(high, v->far));
        box->from[i] = spot_lane_min(box->from[i], l_div(l_sub(first, v->corner[i]), v->size[i]));
        box->to[i] = l_max(box->to[i], l_div(l_sub(last, v->corner[i]), v->size[i]));
    }
}

/* c + t v */
AD_FN vec3 spot_cover_way(vec3 c, vec3 v, lane t) { return v3_add(c, v3_scale(v, n_passive(t))); }

/* Where on the sphere z is about smallest: by turns the nearest point of the plane that touches it,
 * and the point of the sphere beneath that. */
AD_FN vec3 spot_brightest(const spot_values *s) {
    enum { TURNS = 3 };
    vec3 u = v3_passive(s->ray[0], s->ray[1], s->ray[2]);
    for (int i = 0; i < TURNS; i++) {
        const vec3 su = v3_symmetric(s->covariance, u);
        const num excess = n_sub(n_constant(1), v3_dot(u, s->centre));
        u = v3_unit(v3_add(s->centre, v3_scale(su, n_div(excess, v3_dot(u, su)))));
    }
    return u;
}

/* T after the map 1 - s u^T, u.s = 1. */
AD_FN void spot_mapped(const num t[6], vec3 u, vec3 s, num out[6]) {
    const vec3 tu = v3_symmetric(t, u);
    const vec3 half = v3_sub(tu, v3_scale(s, n_scale(v3_dot(u, tu), l_set((REAL)0.5))));
    for (int i = 0; i < 6; i++) out[i] = t[i];
    spot_add_pair(out, v3_neg(s), half);
}

/* Bound of y = |d - u|^2/2 on the sphere, where |d - u| <= across + |s| y for all d of the spot,
 * or <= whole without the sphere. The inequality holds below its smaller root and beyond its
 * larger one; `known` is set where `whole` excludes that. */
AD_FN lane spot_depth(lane across, lane whole, lane slope, lane_mask *known) {
    const lane left = l_fnma(l_mul(l_set(2), slope), across, l_set(1)),
               root = l_sqrt(l_max(left, l_set(0)));
    const lane most = l_div(l_mul(l_set(2), across), l_add(l_set(1), root));
    *known = l_and(l_lt(l_set(0), left), l_lt(l_mul(slope, whole), l_add(l_set(1), root)));
    return l_mul(l_set((REAL)0.5), l_mul(most, most));
}

/* Longest vector of an ellipse. */
AD_FN lane spot_across(const num t[6], lane square) {
    const lane trace = l_add(t[0].v, l_add(t[1].v, t[2].v));
    return l_sqrt(l_max(l_set(0), l_mul(square, trace)));
}

/* The spot's ends: |d - u| of its points, and its way. */
typedef struct {
    vec3 u, way;
    lane from, to, whole; /* whole: bound of |d - u| without the sphere */
} spot_limits;

/* The spot's directions on the sphere as said above. */
AD_FN spot_box spot_box_on_sphere(const spot_view *view, const spot_values *value,
                                  const spot_limits *limits, int moves, lane cut) {
    const vec3 u = limits->u, su = v3_symmetric(value->covariance, u);
    const num variance = v3_dot(u, su), inverse = n_div(n_constant(1), variance);
    const vec3 s = v3_scale(su, inverse);
    num across[6];
    spot_mapped(value->covariance, u, s, across);
    const num excess = n_sub(n_constant(1), v3_dot(u, value->centre));
    vec3 end[2] = { v3_add(value->centre, v3_scale(s, excess)) };
    lane off = l_sqrt(v3_square(v3_sub(end[0], u)).v), least = excess.v, most = excess.v;
    if (moves) {
        const num rise = v3_dot(u, limits->way);
        const vec3 beside = v3_sub(limits->way, v3_scale(s, rise)), middle = end[0];
        const lane first = l_fnma(limits->from, rise.v, excess.v),
                   last = l_fnma(limits->to, rise.v, excess.v);
        end[0] = spot_cover_way(middle, beside, limits->from);
        end[1] = spot_cover_way(middle, beside, limits->to);
        off = l_sqrt(l_max(v3_square(v3_sub(end[0], u)).v, v3_square(v3_sub(end[1], u)).v));
        least = spot_lane_min(first, last);
        most = l_max(first, last);
    }
    const lane slope = l_sqrt(v3_square(s).v), zero = l_set(0);
    lane square = cut, depth = zero;
    lane_mask reached = l_le(zero, zero), bounded = reached;
    for (int i = 0; i < 2; i++) { /* once more with what the distance to the sphere leaves */
        lane_mask known;
        depth = spot_depth(l_add(off, spot_across(across, square)), limits->whole, slope, &known);
        const lane inside = l_keep(known, l_max(l_sub(least, depth), zero)),
                   away = l_max(inside, l_neg(most)),
                   left = l_fnma(l_mul(away, away), inverse.v, cut);
        bounded = l_and(bounded, known);
        reached = l_lt(zero, left);
        square = l_max(left, zero);
    }
    spot_box box;
    spot_no_pixels(&box);
    for (int i = 0; i <= moves; i++) {
        spot_cover(view, end[i], across, square, &box);
        spot_cover(view, spot_cover_way(end[i], s, l_neg(depth)), across, square, &box);
    }
    box.bounded = l_and(box.bounded, bounded);
    box.reached = reached;
    return box;
}

/* Of a spot that moves: the same with the cylinder along its way, in place of S's own ellipsoid. */
AD_FN spot_box spot_box_along_way(const spot_view *view, const spot_values *value,
                                  const spot_limits *limits, lane cut) {
    const vec3 u = limits->u;
    const num rise = v3_dot(u, limits->way);
    const vec3 s = v3_scale(limits->way, n_div(n_constant(1), rise));
    num across[6];
    spot_mapped(value->covariance, u, s, across);
    const num excess = n_sub(n_constant(1), v3_dot(u, value->centre));
    const vec3 middle = v3_add(value->centre, v3_scale(s, excess));
    const lane off = l_sqrt(v3_square(v3_sub(middle, u)).v);
    lane_mask known;
    const lane depth = spot_depth(l_add(off, spot_across(across, cut)), limits->whole,
                                  l_sqrt(v3_square(s).v), &known);
    spot_box box;
    spot_no_pixels(&box);
    spot_cover(view, middle, across, cut, &box);
    spot_cover(view, spot_cover_way(middle, s, l_neg(depth)), across, cut, &box);
    box.bounded = l_and(box.bounded, known);
    return box;
}

AD_FN void spot_intersect(spot_box *box, const spot_box *with) {
    for (int i = 0; i < 2; i++) {
        box->from[i] = l_select(with->bounded, l_max(box->from[i], with->from[i]), box->from[i]);
        box->to[i] = l_select(with->bounded, spot_lane_min(box->to[i], with->to[i]), box->to[i]);
    }
}

/* Pixels that a spot reaches, from and to in pixels of the panel or beyond; moves: of all lanes. */
AD_FN spot_box spot_box_of(const spot_view *view, const spot_values *value, int moves, lane cut) {
    spot_limits limits = { .u = spot_brightest(value) };
    const lane trace = spot_across(value->covariance, cut);
    limits.way = v3_make(value->root.r[0].z, value->root.r[1].z, value->root.r[2].z);
    limits.from = value->from.v;
    limits.to = value->to.v;
    const vec3 first = spot_cover_way(value->centre, limits.way, limits.from),
               last = spot_cover_way(value->centre, limits.way, limits.to);
    limits.whole = l_add(trace, l_sqrt(l_max(v3_square(v3_sub(first, limits.u)).v,
                                             v3_square(v3_sub(last, limits.u)).v)));
    const spot_box near = spot_box_on_sphere(view, value, &limits, moves, cut);
    spot_box box;
    /* wide spots: all that the ellipsoid covers */
    spot_no_pixels(&box);
    spot_cover(view, first, value->covariance, cut, &box);
    if (moves) spot_cover(view, last, value->covariance, cut, &box);
    for (int i = 0; i < 2; i++) {
        box.from[i] = l_select(box.bounded, box.from[i], l_set((REAL)-1e30));
        box.to[i] = l_select(box.bounded, box.to[i], l_set((REAL)1e30));
    }
    spot_intersect(&box, &near);
    box.reached = near.reached;
    if (moves) {
        const spot_box along = spot_box_along_way(view, value, &limits, cut);
        spot_intersect(&box, &along);
    }
    box.brightest = limits.u;
    return box;
}
