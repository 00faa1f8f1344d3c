/* Finds the nodes whose spots can reach the Ewald sphere, and the panels that these can reach, in lanes. Include
 * with REAL double and DIRS 0, after kernel/spot_box.h. */
#ifndef DB_KERNEL_SPOT_NEAR_H
#define DB_KERNEL_SPOT_NEAR_H

#include "kernel/spot_find.h"

/* Copies numbers to all lanes. */
AD_INLINE void widen_numbers(const double *from, size_t bytes, void *to) {
    lane *out = (lane *)to;
    for (size_t i = 0; i < bytes / sizeof(lane); i++) out[i] = l_set(from[i]);
}

/* The passage of a node that turns, in lanes. */
typedef struct {
    lane at, from, to;
} near_passage;

/* The unit vector along s0 + r, the largest distance of spots from it, and 1 if they reach the sphere. */
typedef struct {
    vec3 ray;
    lane across;
    lane_mask counts;
} near_sphere;

/* passage NULL: nothing turns. r: in the laboratory, where the spot is expanded. */
AD_INLINE near_sphere near_sphere_of(const db_spot_search *search, const source_interface *source,
                                     vec3 r, const near_passage *passage) {
    const db_spot_bounds *const bounds = &search->bounds;
    const lane wavelength = l_div(l_set(1), source->kappa.v), one = l_set(1), half = l_set(0.5);
    const vec3 c = v3_scale(v3_add(source->s0, r), n_passive(wavelength));
    const lane square = v3_square(c).v, length = l_sqrt(square), inverse = l_div(one, length),
               rho = l_mul(wavelength, l_sqrt(v3_square(r).v));
    const spot_reach reach = spot_reach_of(bounds, rho, wavelength, l_set(0));
    lane across = reach.across;
    if (passage) {
        const lane way = l_max(l_sub(passage->at, passage->from), l_sub(passage->to, passage->at));
        across = spot_reach_of(bounds, rho, wavelength, l_mul(rho, way)).across;
    }
    const lane excess = l_mul(half, l_sub(square, one));
    near_sphere near;
    near.counts =
        l_and(l_le(excess, l_mul(length, reach.outwards)), l_le(l_neg(excess), reach.inwards));
    near.ray = v3_passive(l_mul(c.x.v, inverse), l_mul(c.y.v, inverse), l_mul(c.z.v, inverse));
    near.across = l_mul(across, inverse);
    return near;
}

AD_INLINE lane along_axis(const vec3 *u, const double v[3]) {
    return l_fma(u->x.v, l_set(v[0]), l_fma(u->y.v, l_set(v[1]), l_mul(u->z.v, l_set(v[2]))));
}

/* 1 if there is a tile within `margin` (m) of a place. */
AD_FN int has_tile(const db_spot_find *find, const db_spot_window *window, const double x[2],
                   double margin) {
    const db_spot_cells *cells = &window->cells;
    const int count[2] = { cells->columns, cells->rows },
              size[2] = { DB_SPOT_CELL_FAST, DB_SPOT_CELL_SLOW };
    int from[2], to[2];
    for (int a = 0; a < 2; a++) {
        const double cell = window->panel.pixel_size[a] * size[a];
        const double first = floor((x[a] - margin) / cell), last = floor((x[a] + margin) / cell);
        from[a] = first > 0 ? (int)fmin(first, (double)count[a]) : 0;
        to[a] = last < count[a] ? (int)fmax(last + 1, 0.0) : count[a];
    }
    const size_t row = (size_t)cells->columns + 1;
    const uint32_t *const before = find->before + cells->before;
    const uint32_t *const top = before + (size_t)from[1] * row;
    const uint32_t *const below = before + (size_t)to[1] * row;
    return to[0] > from[0] && to[1] > from[1] &&
           below[to[0]] - below[from[0]] > top[to[0]] - top[from[0]];
}

/* The places where rays meet a panel's plane, if they do. */
typedef struct {
    lane place[2], margin; /* m */
    lane_mask few, meets, inside, front;
} near_panel;

/* Tests whether the ray meets the panel or, within `across`, its edge; if `across` is large or the ray oblique,
 * whether it comes near the cone that contains the panel. */
AD_INLINE near_panel near_panel_of(const db_spot_window *window, double thickness, vec3 u,
                                   lane width) {
    const db_kernel_panel *panel = &window->panel;
    near_panel n;
    const lane zero = l_set(0), depth = l_set(1e-6 * fabs(thickness)),
               obliquity = along_axis(&u, panel->normal), inverse = l_div(l_set(1), obliquity);
    const lane distance = l_mul(l_set(panel->z), inverse);
    /* 1.2: on the panel the angle is at most 1.13 times as large; and the sensor's depth */
    n.margin = l_mul(inverse, l_fma(l_set(1.2), l_mul(width, distance), depth));
    n.meets = l_lt(zero, obliquity);
    for (int a = 0; a < 2; a++) {
        const double *axis = a ? panel->slow : panel->fast;
        const double corner =
            panel->origin[0] * axis[0] + panel->origin[1] * axis[1] + panel->origin[2] * axis[2];
        n.place[a] = l_sub(l_mul(along_axis(&u, axis), distance), l_set(corner));
        n.meets = l_and(n.meets, l_and(l_lt(l_neg(n.margin), n.place[a]),
                                       l_lt(n.place[a], l_add(l_set(window->size[a]), n.margin))));
    }
    n.few = l_le(width, l_mul(l_set(0.1), obliquity));
    n.front = l_lt(l_set(1e-3), obliquity);
    const lane root = l_sqrt(l_max(zero, l_fnma(width, width, l_set(1)))),
               edge = l_fnma(l_set(window->sine), width, l_mul(l_set(window->cosine), root));
    /* a spot of more than half a radian is near any panel */
    n.inside = l_le(l_select(l_le(l_set(0.5), width), l_set(-2), l_sub(edge, l_set(1e-3))),
                    along_axis(&u, window->middle));
    return n;
}

#endif
