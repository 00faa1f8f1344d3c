/* See kernel/spot_find.h; compiled once for each instruction set, with DB_INSTANCE_TAG. */
#include "kernel/spot_find.h"

#include "ad/vec_isa.h"
#include "model/parameter_slots.h"

#include <stddef.h>

#define LANES (AD_VEC_BYTES / 8)
#define REAL double
#define DIRS 0
#include "ad/lane.h"
#include "model/interface.h"
#include "kernel/radiometry.h"
#include "kernel/spot.h"
#include "kernel/spot_box.h"
#include "kernel/spot_place.h"

_Static_assert(DB_SPOT_NODES % LANES == 0, "whole vectors");

/* The same numbers in all lanes. */
static void widen_numbers(const double *from, size_t bytes, void *to) {
    lane *out = to;
    for (size_t i = 0; i < bytes / sizeof(lane); i++) out[i] = l_set(from[i]);
}

/* Those of a list, in lanes; the last one fills up. */
AD_INLINE lane gathered(const double *from, const int *number, int count) {
    double value[LANES];
    for (int j = 0; j < LANES; j++) value[j] = from[number[j < count ? j : count - 1]];
    return l_load(value);
}

/* Lanes of a vector that are in use. */
AD_INLINE unsigned in_use(int count) {
    return count < LANES ? (1U << count) - 1 : (1U << LANES) - 1;
}

static int near_sphere(const db_spot_find *find, db_spot_nodes *n, int near[DB_SPOT_NODES]) {
    source_interface source;
    widen_numbers(find->source, sizeof source, &source);
    const lane wavelength = l_div(l_set(1), source.kappa.v), one = l_set(1), half = l_set(0.5);
    int count = 0;
    for (int i = 0; i < n->count; i += LANES) {
        const vec3 r = v3_passive(l_load(n->r[0] + i), l_load(n->r[1] + i), l_load(n->r[2] + i));
        const vec3 c = v3_scale(v3_add(source.s0, r), n_passive(wavelength));
        const lane square = v3_square(c).v, length = l_sqrt(square), inverse = l_div(one, length),
                   rho = l_mul(wavelength, l_sqrt(v3_square(r).v));
        const spot_reach reach = spot_reach_of(find->bounds, rho, wavelength, l_set(0));
        lane across = reach.across;
        if (find->turns) {
            const lane at = l_load(n->at + i),
                       way = l_max(l_sub(at, l_load(n->from + i)), l_sub(l_load(n->to + i), at));
            across = spot_reach_of(find->bounds, rho, wavelength, l_mul(rho, way)).across;
        }
        const lane excess = l_mul(half, l_sub(square, one));
        const lane_mask counts =
            l_and(l_le(excess, l_mul(length, reach.outwards)), l_le(l_neg(excess), reach.inwards));
        double of_ray[3][LANES], of_across[LANES];
        l_store(of_ray[0], l_mul(c.x.v, inverse));
        l_store(of_ray[1], l_mul(c.y.v, inverse));
        l_store(of_ray[2], l_mul(c.z.v, inverse));
        l_store(of_across, l_mul(across, inverse));
        for (unsigned left = l_bitmask(counts) & in_use(n->count - i); left; left &= left - 1) {
            const int j = __builtin_ctz(left);
            for (int k = 0; k < 3; k++) n->ray[k][count] = of_ray[k][j];
            n->across[count] = of_across[j];
            near[count++] = i + j;
        }
    }
    return count;
}

AD_INLINE lane dot(const vec3 *u, const double v[3]) {
    return l_fma(u->x.v, l_set(v[0]), l_fma(u->y.v, l_set(v[1]), l_mul(u->z.v, l_set(v[2]))));
}

/* Whether there is a tile within `margin` of a place (m). */
static int has_tile(const db_spot_window *window, double fast, double slow, double margin) {
    const db_spot_cells *cells = &window->cells;
    const double x[2] = { fast, slow };
    const int count[2] = { cells->columns, cells->rows },
              size[2] = { DB_SPOT_CELL_FAST, DB_SPOT_CELL_SLOW };
    int from[2], to[2];
    for (int a = 0; a < 2; a++) {
        const double cell = window->panel->pixel_size[a] * size[a];
        const double first = floor((x[a] - margin) / cell), last = floor((x[a] + margin) / cell);
        from[a] = first > 0 ? (int)fmin(first, count[a]) : 0;
        to[a] = last < count[a] ? (int)fmax(last + 1, 0) : count[a];
    }
    const size_t row = (size_t)cells->columns + 1;
    const uint32_t *const top = cells->before + (size_t)from[1] * row;
    const uint32_t *const below = cells->before + (size_t)to[1] * row;
    return to[0] > from[0] && to[1] > from[1] &&
           below[to[0]] - below[from[0]] > top[to[0]] - top[from[0]];
}

/* The ray meets the panel, or its edge within `across`; or, where that is wide or the ray
 * oblique, it comes near the cone that holds the panel. And there is a tile near. */
static int near_panel(const db_spot_find *find, const db_spot_window *window,
                      const db_spot_nodes *n, const int *from, int count, int *near) {
    const db_kernel_panel *panel = window->panel;
    const lane zero = l_set(0),
               depth = l_set(1e-6 * fabs(find->experiment->detector.sensor_thickness));
    int kept = 0;
    for (int i = 0; i < count; i += LANES) {
        /* beyond the last one they are those of others */
        const vec3 u =
            v3_passive(l_load(n->ray[0] + i), l_load(n->ray[1] + i), l_load(n->ray[2] + i));
        const lane width = l_load(n->across + i), obliquity = dot(&u, panel->normal),
                   inverse = l_div(l_set(1), obliquity);
        const lane distance = l_mul(l_set(panel->z), inverse);
        /* 1.13 times what the angle is on the panel, at most, and what the sensor's depth adds */
        const lane margin = l_mul(inverse, l_fma(l_set(1.2), l_mul(width, distance), depth));
        double place[2][LANES], around[LANES];
        lane_mask meets = l_lt(zero, obliquity);
        for (int a = 0; a < 2; a++) {
            const double *axis = a ? panel->slow : panel->fast;
            const double corner = panel->origin[0] * axis[0] + panel->origin[1] * axis[1] +
                                  panel->origin[2] * axis[2];
            const lane x = l_sub(l_mul(dot(&u, axis), distance), l_set(corner));
            l_store(place[a], x);
            meets = l_and(meets, l_and(l_lt(l_neg(margin), x),
                                       l_lt(x, l_add(l_set(window->size[a]), margin))));
        }
        const lane_mask narrow = l_le(width, l_mul(l_set(0.1), obliquity)),
                        front = l_lt(l_set(1e-3), obliquity), wide = l_le(l_set(0.5), width);
        const lane root = l_sqrt(l_max(zero, l_fnma(width, width, l_set(1)))),
                   edge = l_fnma(l_set(window->sine), width, l_mul(l_set(window->cosine), root));
        const lane_mask inside = l_le(l_sub(edge, l_set(1e-3)), dot(&u, window->middle));
        const unsigned all = in_use(count - i) & l_bitmask(front), few = l_bitmask(narrow);
        unsigned left =
            all & ((few & l_bitmask(meets)) | (~few & (l_bitmask(inside) | l_bitmask(wide))));
        l_store(around, margin);
        for (; left; left &= left - 1) {
            const int j = __builtin_ctz(left);
            if (!window->cells.before || !(few >> j & 1) ||
                has_tile(window, place[0][j], place[1][j], around[j]))
                near[kept++] = from[i + j];
        }
    }
    return kept;
}

/* What is kept of a vector of spots. */
enum { OFFSET = 0, WHITE = 3, AMPLITUDE = 12, FROM = 13, TO = 14, VALUES = 15 };
typedef struct {
    double value[VALUES][LANES], cut[LANES], from[2][LANES], to[2][LANES], brightest[3][LANES];
    unsigned reached;
} spot_vector;

static void store_spots(const spot_values *s, spot_vector *v) {
    const vec3 row[4] = { v3_neg(m3_apply(s->white, s->centre)), s->white.r[0], s->white.r[1],
                          s->white.r[2] };
    for (int i = 0; i < 4; i++) {
        l_store(v->value[3 * i], row[i].x.v);
        l_store(v->value[3 * i + 1], row[i].y.v);
        l_store(v->value[3 * i + 2], row[i].z.v);
    }
    l_store(v->value[AMPLITUDE], s->amplitude.v);
    l_store(v->value[FROM], s->from.v);
    l_store(v->value[TO], s->to.v);
}

/* Where spots end; returns the lanes that count anywhere. */
static unsigned cut_spots(const db_spot_find *find, int moves, spot_vector *v) {
    unsigned any = 0;
    for (int j = 0; j < LANES; j++) {
        double amplitude = fabs(v->value[AMPLITUDE][j]);
        if (moves) amplitude *= fmin(1, 0.4 * (v->value[TO][j] - v->value[FROM][j]));
        if (amplitude == 0) amplitude = 1; /* its slope by the structure factor */
        v->cut[j] = db_spot_cut(find->bounds, amplitude);
        any |= (unsigned)(v->cut[j] > 0) << j;
    }
    return any;
}

static int to_pixels(double from, double to, int pixels, int32_t out[2]) {
    const double rounding = 1e-3;
    if (!(to + rounding > 0 && from - rounding < pixels)) return 0;
    out[0] = from - rounding > 0 ? (int32_t)floor(from - rounding) : 0;
    out[1] = to + rounding < pixels ? (int32_t)floor(to + rounding) + 1 : pixels;
    return 1;
}

/* z at the brightest of those pixels that a spot reaches. */
static void find_inside(const db_kernel_panel *panel, const spot_vector *v, int j,
                        db_kernel_spot *s) {
    const double *axis[2] = { panel->fast, panel->slow };
    const int32_t *ends[2] = { s->fast, s->slow };
    const double d[3] = { v->brightest[0][j], v->brightest[1][j], v->brightest[2][j] };
    const double *n = panel->normal;
    const double *o = panel->origin;
    const double distance = panel->z / (d[0] * n[0] + d[1] * n[1] + d[2] * n[2]);
    double x[3] = { o[0], o[1], o[2] }, square = 0;
    for (int a = 0; a < 2; a++) {
        const double pixel = panel->pixel_size[a];
        double at = 0;
        for (int c = 0; c < 3; c++) at += (distance * d[c] - o[c]) * axis[a][c];
        at = pixel * fmax(ends[a][0], fmin(ends[a][1], at / pixel));
        for (int c = 0; c < 3; c++) x[c] += at * axis[a][c];
    }
    for (int c = 0; c < 3; c++) square += x[c] * x[c];
    const double inverse = 1 / sqrt(square);
    for (int i = 0; i < 3; i++) {
        const double *w = s->white + 3 * i;
        s->value_double[DB_SPOT_INSIDE + i] =
            (float)(s->offset[i] + inverse * (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]));
    }
}

/* What the pixel loop reads of a spot. */
static void kernel_spot(const db_spot_find *find, const db_kernel_panel *panel,
                        const spot_vector *v, int j, int moves, const db_spot_found *found,
                        db_kernel_spot *s) {
    const double all = 40; /* a spot that stays where it is has all of the range */
    for (int i = 0; i < 9; i++) s->white[i] = v->value[WHITE + i][j];
    for (int i = 0; i < 3; i++) s->offset[i] = v->value[OFFSET + i][j];
    s->value_double[DB_SPOT_AMPLITUDE] = v->value[AMPLITUDE][j];
    s->value_double[DB_SPOT_CUT] = v->cut[j];
    s->value_double[DB_SPOT_AT_REST] = moves ? 0 : 1;
    s->value_double[DB_SPOT_FROM] = moves ? v->value[FROM][j] : -all;
    s->value_double[DB_SPOT_TO] = moves ? v->value[TO][j] : all;
    for (int i = 0; i < 2; i++) {
        s->fast[i] = found->fast[i];
        s->slow[i] = found->slow[i];
    }
    for (int i = 0; i < 3; i++) s->value_double[DB_SPOT_INSIDE + i] = 0;
    if (!moves && find->slopes) find_inside(panel, v, j, s);
    for (int i = 0; i < DB_SPOT_VALUES; i++) s->value_float[i] = (float)s->value_double[i];
    s->source = find->number;
}

/* Of one panel and one source. */
static interface_values interface_of(const db_spot_find *find, const db_spot_window *window,
                                     panel_interface *panel, source_interface *source) {
    interface_values z = { .panel = panel, .source = source };
    widen_numbers(window->values, sizeof *panel, panel);
    widen_numbers(find->source, sizeof *source, source);
    widen_numbers(find->spread, offsetof(spread_interface, parts), &z.spread);
    z.spread.parts = find->parts;
    z.layer_step = n_constant(find->layer_step);
    z.attenuation = n_constant(find->attenuation);
    return z;
}

AD_INLINE int spots_of(int moves, const db_spot_find *find, const db_spot_window *window,
                       const db_spot_nodes *n, const int *from, int count, db_spot_found *found,
                       db_kernel_spot *spot) {
    const db_experiment *e = find->experiment;
    panel_interface panel;
    source_interface source;
    const interface_values z = interface_of(find, window, &panel, &source);
    const spot_view view =
        spot_view_of(&panel, window->pixels->pixel_size, e->detector.sensor_thickness);
    int kept = 0;
    for (int i = 0; i < count; i += LANES) {
        const int *const number = from + i;
        const int left = count - i;
        const unsigned used = in_use(left);
        lane hkl[3];
        spot_angles angles;
        spot_vector vector[DB_SPREAD_TAILS + 1];
        for (int c = 0; c < 3; c++) hkl[c] = gathered(n->hkl[c], number, left);
        if (find->turns) {
            angles.at = n_passive(gathered(n->at, number, left));
            angles.from = n_passive(gathered(n->from, number, left));
            angles.to = n_passive(gathered(n->to, number, left));
            angles.cosine = n_passive(gathered(n->cosine, number, left));
            angles.sine = n_passive(gathered(n->sine, number, left));
        }
        const spot_node node = spot_node_of(&z, hkl, find->turns ? &angles : NULL);
        const num amplitude = n_passive(gathered(n->amplitude, number, left));
        for (int tail = 0; tail <= e->spread.tails; tail++) {
            spot_vector *const v = &vector[tail];
            const db_spot_name name = { .tail = tail, .passage = { .moves = moves } };
            const spot_values s = spot_of(e, &z, &name, &node, amplitude);
            store_spots(&s, v);
            for (int j = 0; j < LANES; j++)
                if (!isfinite(v->value[AMPLITUDE][j]) || !isfinite(v->value[WHITE + 8][j]))
                    return -1 - number[j < left ? j : left - 1];
            v->reached = used & cut_spots(find, moves, v);
            if (!v->reached) continue;
            const lane cut = l_max(l_load(v->cut), l_set(0));
            const spot_box box = spot_box_of(&view, &s, moves, cut);
            v->reached &= l_bitmask(box.reached);
            for (int a = 0; a < 2; a++) {
                l_store(v->from[a], box.from[a]);
                l_store(v->to[a], box.to[a]);
            }
            l_store(v->brightest[0], box.brightest.x.v);
            l_store(v->brightest[1], box.brightest.y.v);
            l_store(v->brightest[2], box.brightest.z.v);
        }
        for (int j = 0; j < LANES; j++)
            for (int tail = 0; tail <= e->spread.tails; tail++) {
                const spot_vector *const v = &vector[tail];
                db_spot_found *const one = &found[kept];
                if (!(v->reached >> j & 1) ||
                    !to_pixels(v->from[0][j], v->to[0][j], window->pixels->fast_pixels,
                               one->fast) ||
                    !to_pixels(v->from[1][j], v->to[1][j], window->pixels->slow_pixels, one->slow))
                    continue;
                one->node = number[j];
                one->tail = tail;
                one->cut = v->cut[j];
                kernel_spot(find, window->panel, v, j, moves, one, &spot[kept++]);
            }
    }
    return kept;
}

static int spots(const db_spot_find *find, const db_spot_window *window, const db_spot_nodes *n,
                 const int *from, int count, db_spot_found *found, db_kernel_spot *spot) {
    return n->moves[from[0]] ? spots_of(1, find, window, n, from, count, found, spot)
                             : spots_of(0, find, window, n, from, count, found, spot);
}

static void places(const db_spot_find *find, const db_spot_window *window, int tail,
                   db_placed_spots *p) {
    const db_experiment *e = find->experiment;
    const double *size = window->pixels->pixel_size;
    const db_spot_name name = { .tail = tail };
    panel_interface panel;
    source_interface source;
    const interface_values z = interface_of(find, window, &panel, &source);
    const num wavelength = n_div(n_constant(1), source.kappa);
    for (int i = p->count; i % LANES; i++) { /* the last vector is filled up */
        for (int c = 0; c < 3; c++) p->hkl[c][i] = p->hkl[c][0];
        p->amplitude[i] = p->amplitude[0];
    }
    for (int i = 0; i < p->count; i += LANES) {
        const lane hkl[3] = { l_load(p->hkl[0] + i), l_load(p->hkl[1] + i), l_load(p->hkl[2] + i) };
        const spot_node node = spot_node_of(&z, hkl, NULL);
        const spot_values s = spot_of(e, &z, &name, &node, n_passive(l_load(p->amplitude + i)));
        const spot_top top = spot_top_of(s.centre, s.covariance);
        const spot_on_panel at = spot_meet(e, &z, &panel, size, top.d);
        const vec3 rho = v3_scale(node.r, wavelength);
        for (int n = 0; n < 3; n++) {
            const vec3 a = at.slope[n == 1], b = at.slope[n != 0];
            l_store(p->covariance[n] + i, v3_dot(a, v3_symmetric(top.covariance, b)).v);
        }
        for (int a = 0; a < 2; a++) l_store(p->pixel[a] + i, at.pixel[a].v);
        l_store(p->obliquity + i, at.obliquity);
        l_store(p->bright + i, s.amplitude.v);
        l_store(p->exponent + i, top.exponent.v);
        l_store(p->distance + i, s.distance);
        l_store(p->width + i, s.width);
        l_store(p->rho + i, l_sqrt(v3_square(rho).v));
        l_store(p->arm + i, spot_arm(&s, rho));
    }
}

#define INSTANCE_NAME_(tag) db_spot_finder_##tag
#define INSTANCE_NAME(tag) INSTANCE_NAME_(tag)
extern const db_spot_finder INSTANCE_NAME(DB_INSTANCE_TAG);
const db_spot_finder INSTANCE_NAME(DB_INSTANCE_TAG) = { near_sphere, near_panel, spots, places };
