/* See kernel/spot_finder.h; compiled once for each instruction set, with DB_INSTANCE_TAG. */
#include "kernel/spot_finder.h"

#include "ad/vec_isa.h"

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
#include "kernel/spot_near.h"
#include "kernel/spot_made.h"

_Static_assert(DB_SPOT_NODES % LANES == 0, "whole vectors");

/* The listed numbers in lanes; the last vector repeats the last one. */
AD_INLINE lane gathered(const double *from, const int *number, int count) {
    double value[LANES];
    for (int j = 0; j < LANES; j++) value[j] = from[number[j < count ? j : count - 1]];
    return l_load(value);
}

/* Lanes of a vector that are in use. */
AD_INLINE unsigned in_use(int count) {
    return count < LANES ? (1U << count) - 1 : (1U << LANES) - 1;
}

static int find_near_sphere(const db_spot_find *find, db_spot_nodes *n, int near[DB_SPOT_NODES]) {
    source_interface source;
    widen_numbers(find->source, sizeof source, &source);
    int count = 0;
    for (int i = 0; i < n->count; i += LANES) {
        const vec3 r = v3_passive(l_load(n->r[0] + i), l_load(n->r[1] + i), l_load(n->r[2] + i));
        near_passage passage;
        if (find->search->turns)
            passage = (near_passage){ l_load(n->at + i), l_load(n->from + i), l_load(n->to + i) };
        const near_sphere found =
            near_sphere_of(find->search, &source, r, find->search->turns ? &passage : NULL);
        double of_ray[3][LANES], of_across[LANES];
        l_store(of_ray[0], found.ray.x.v);
        l_store(of_ray[1], found.ray.y.v);
        l_store(of_ray[2], found.ray.z.v);
        l_store(of_across, found.across);
        for (unsigned left = l_bitmask(found.counts) & in_use(n->count - i); left;
             left &= left - 1) {
            const int j = __builtin_ctz(left);
            for (int k = 0; k < 3; k++) n->ray[k][count] = of_ray[k][j];
            n->across[count] = of_across[j];
            near[count++] = i + j;
        }
    }
    return count;
}

/* Lists the nodes whose spots can reach the panel and have a tile nearby. */
static int find_near_panel(const db_spot_find *find, const db_spot_window *window,
                           const db_spot_nodes *n, const int *from, int count, int *near) {
    int kept = 0;
    for (int i = 0; i < count; i += LANES) {
        /* lanes beyond the last node have other values */
        const vec3 u =
            v3_passive(l_load(n->ray[0] + i), l_load(n->ray[1] + i), l_load(n->ray[2] + i));
        const near_panel found = near_panel_of(window, find->experiment->detector.sensor_thickness,
                                               u, l_load(n->across + i));
        double place[2][LANES], around[LANES];
        const unsigned few = l_bitmask(found.few);
        unsigned left = in_use(count - i) & l_bitmask(found.front) &
                        ((few & l_bitmask(found.meets)) | (~few & l_bitmask(found.inside)));
        for (int a = 0; a < 2; a++) l_store(place[a], found.place[a]);
        l_store(around, found.margin);
        for (; left; left &= left - 1) {
            const int j = __builtin_ctz(left);
            const double x[2] = { place[0][j], place[1][j] };
            if (window->everywhere || !(few >> j & 1) || has_tile(find, window, x, around[j]))
                near[kept++] = from[i + j];
        }
    }
    return kept;
}

/* The interface of one panel and one source, in lanes. */
static interface_values interface_of(const db_spot_find *find, const db_spot_window *window,
                                     panel_interface *panel, source_interface *source) {
    interface_values z = { .panel = panel, .source = source };
    widen_numbers(find->panel + window->number * (sizeof *panel / sizeof(lane)), sizeof *panel,
                  panel);
    widen_numbers(find->source, sizeof *source, source);
    widen_numbers(find->spread, offsetof(spread_interface, parts), &z.spread);
    z.spread.parts = find->search->parts;
    z.layer_step = n_constant(find->search->layer_step);
    z.attenuation = n_constant(find->search->attenuation);
    return z;
}

AD_INLINE int spots_of(int moves, const db_spot_find *find, const db_spot_window *window,
                       const db_spot_nodes *n, const int *from, int count, db_spot_found *found,
                       db_kernel_spot *spot) {
    const db_experiment *e = find->experiment;
    const int turns = find->search->turns;
    panel_interface panel;
    source_interface source;
    const interface_values z = interface_of(find, window, &panel, &source);
    const spot_view view = spot_view_of(&panel, window->pixel_size, e->detector.sensor_thickness);
    int kept = 0;
    for (int i = 0; i < count; i += LANES) {
        const int *const number = from + i;
        const int left = count - i;
        lane hkl[3];
        spot_angles angles;
        spot_vector vector[DB_SPREAD_TAILS + 1];
        for (int c = 0; c < 3; c++) hkl[c] = gathered(n->hkl[c], number, left);
        if (turns) {
            angles.at = n_passive(gathered(n->at, number, left));
            angles.from = n_passive(gathered(n->from, number, left));
            angles.to = n_passive(gathered(n->to, number, left));
            angles.cosine = n_passive(gathered(n->cosine, number, left));
            angles.sine = n_passive(gathered(n->sine, number, left));
        }
        const spot_node node = spot_node_of(&z, hkl, turns ? &angles : NULL);
        const num square = n_passive(gathered(n->square, number, left));
        for (int tail = 0; tail <= e->spread.tails; tail++) {
            const db_spot_name name = { .tail = tail, .passage = { .moves = moves } };
            make_spots(e, find->search, &z, &view, &name, &node, square, &vector[tail]);
            const unsigned wrong = vector[tail].wrong & in_use(left);
            if (wrong) return -1 - number[__builtin_ctz(wrong)];
        }
        for (int j = 0; j < LANES && j < left; j++)
            for (int tail = 0; tail <= e->spread.tails; tail++) {
                db_kernel_spot *const s = &spot[kept];
                if (!spot_of_lane(find->search, window, &vector[tail], j, moves, s)) continue;
                s->source = find->number;
                found[kept++] = (db_spot_found){ number[j], tail };
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
    const double *size = window->pixel_size;
    const db_spot_name name = { .tail = tail };
    panel_interface panel;
    source_interface source;
    const interface_values z = interface_of(find, window, &panel, &source);
    const num wavelength = n_div(n_constant(1), source.kappa);
    for (int i = p->count; i % LANES; i++) { /* the last vector is filled up */
        for (int c = 0; c < 3; c++) p->hkl[c][i] = p->hkl[c][0];
        p->square[i] = p->square[0];
    }
    for (int i = 0; i < p->count; i += LANES) {
        const lane hkl[3] = { l_load(p->hkl[0] + i), l_load(p->hkl[1] + i), l_load(p->hkl[2] + i) };
        const spot_node node = spot_node_of(&z, hkl, NULL);
        const spot_values s = spot_of(e, &z, &name, &node, n_passive(l_load(p->square + i)));
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
const db_spot_finder INSTANCE_NAME(DB_INSTANCE_TAG) = { find_near_sphere, find_near_panel, spots,
                                                        places };
