/* Nodes near the Ewald sphere, row after row of the reciprocal lattice, and their passages through it. Include
 * with LANES 1, REAL double and DIRS 0, after kernel/spot.h. */
#ifndef DB_KERNEL_SPOT_ROWS_H
#define DB_KERNEL_SPOT_ROWS_H

#include "kernel/spot_find.h"
#include "model/spread_check.h"

/* Nodes h k l of a row that may have a spot of some source: l from..to. */
typedef struct {
    int k, from, to;
} db_spot_run;

/* The half turns of a node begin anywhere in the range. */
enum { DB_SPOT_MOST_RUNS = 2, DB_SPOT_MOST_PASSAGES = DB_MOST_HALF_TURNS + 1 };

/* The points where a row meets a sphere: roots of |v + l w|^2 = square; returns 0 if there are none. */
AD_INLINE int row_meets(vec3 v, vec3 w, double square, double root[2]) {
    const double a = v3_dot(w, w).v, b = v3_dot(v, w).v, c = v3_dot(v, v).v - square;
    const double d = b * b - a * c;
    if (!(d >= 0)) return 0;
    root[0] = (-b - sqrt(d)) / a;
    root[1] = (-b + sqrt(d)) / a;
    return 1;
}

/* Adds the whole numbers l between two real ones, for which nodes are not too long. */
AD_INLINE int add_run(int k, double from, double to, db_spot_run *run) {
    const double first = ceil(from), last = floor(to);
    if (!(last >= first)) return 0;
    run->k = k;
    run->from = (int)first;
    run->to = (int)last;
    return 1;
}

/* 1 if no node of a row (k NULL: of any row with this h) has an amplitude, because all nodes that are not listed
 * are 0. */
AD_INLINE int row_is_empty(const db_structure_factors *f, const db_spot_search *search, int h,
                           const int *k) {
    if (!search->listed) return 0;
    return h < f->min[0] || h >= f->min[0] + f->extent[0] ||
           (k && (*k < f->min[1] || *k >= f->min[1] + f->extent[1]));
}

/* Finds all l of a row for which |r| is small enough, and |s0 + r| is near the radius of one of the group's
 * spheres. These touch each other at the origin: the nodes are within the largest sphere, and not deep in the
 * smallest. Returns the number of runs. */
AD_INLINE int runs_of_row(const db_spot_search *search, const db_spot_group *g, int h, int k,
                          db_spot_run run[DB_SPOT_MOST_RUNS]) {
    const double longest = search->bounds.longest;
    const mat3 star = m3_passive(search->middle);
    const vec3 r = v3_add(v3_scale(star.r[0], n_constant(h)), v3_scale(star.r[1], n_constant(k))),
               largest = v3_passive(g->largest[0], g->largest[1], g->largest[2]),
               smallest = v3_passive(g->smallest[0], g->smallest[1], g->smallest[2]);
    double ends[2], outer[2], inner[2];
    if (!row_meets(r, star.r[2], longest * longest, ends)) return 0;
    if (!row_meets(v3_add(r, largest), star.r[2], g->out * g->out, outer)) return 0;
    outer[0] = fmax(outer[0], ends[0]);
    outer[1] = fmin(outer[1], ends[1]);
    if (!(g->in > 0 && row_meets(v3_add(r, smallest), star.r[2], g->in * g->in, inner)))
        return add_run(k, outer[0], outer[1], run);
    const int first = add_run(k, outer[0], fmin(inner[0], outer[1]), run);
    return first +
           add_run(k, fmax(fmax(inner[1], floor(inner[0]) + 1), outer[0]), outer[1], run + first);
}

/* 1 if a node's structure factor is a parameter. */
AD_INLINE int amplitude_wanted(const db_spot_search *search, const int hkl[3]) {
    for (int i = 0; i < search->wanted; i++) {
        const int *const own = search->wanted_hkl[i];
        if (own[0] == hkl[0] && own[1] == hkl[1] && own[2] == hkl[2]) return 1;
    }
    return 0;
}

/* Chooses the angle at which a passage is expanded; it is the half turn from one extreme of the node's distance to
 * the next. The angle is that of the crossing or, if there is none, the nearest to one. level: cosine of the angle
 * from the first extreme to the crossing. */
AD_FN void choose_angle(double first, double level, db_spot_passage *p) {
    const double near = 1e-3; /* radian: there the crossing's slopes have no meaning */
    const double pi = 3.14159265358979323846;
    double angle = first;
    db_spot_angle kind = SPOT_TURNING;
    if (level < -1) angle = first + pi;
    if (fabs(level) <= 1) {
        angle = first + acos(level);
        kind = SPOT_CROSSING;
        if (angle - first < near || first + pi - angle < near) {
            kind = SPOT_TURNING;
            angle = angle - first < near ? first : first + pi;
        }
    }
    p->at = angle;
    p->at_kind = kind;
    if (angle <= p->from) {
        p->at = p->from;
        p->at_kind = p->from_kind;
    } else if (angle >= p->to) {
        p->at = p->to;
        p->at_kind = p->to_kind;
    }
}

/* Passages of a node through the rotation range (radian), for one source; k: the node's circle. */
AD_FN int passages_of(const spot_circle *k, vec3 s0, double range,
                      db_spot_passage passage[DB_SPOT_MOST_PASSAGES]) {
    const double pi = 3.14159265358979323846, low = fmin(0.0, range), high = fmax(0.0, range);
    const db_spot_passage none = { 0, 0, 0, SPOT_FIXED, SPOT_FIXED, SPOT_FIXED, 0 };
    passage[0] = none;
    if (range == 0) return 1;
    const double a = v3_dot(k->across, s0).v, b = v3_dot(k->side, s0).v;
    const double radius = hypot(a, b), across = v3_square(k->across).v,
                 along = v3_square(k->along).v;
    if (!(across > 1e-20 * (across + along)) || !(radius > 0)) {
        passage[0].at = 0.5 * range; /* a node on the spindle does not move */
        return 1;
    }
    const double level = -(v3_dot(k->along, s0).v + 0.5 * (along + across)) / radius;
    const double turning = atan2(b, a);
    const int first = (int)floor((low - turning) / pi), last = (int)floor((high - turning) / pi);
    int count = 0;
    for (int n = first; n <= last && count < DB_SPOT_MOST_PASSAGES; n++) {
        db_spot_passage *p = &passage[count];
        const double begin = turning + n * pi;
        *p = none;
        p->moves = 1;
        p->from = fmax(low, begin);
        p->from_kind = begin > low ? SPOT_TURNING : SPOT_FIXED;
        p->to = fmin(high, begin + pi);
        p->to_kind = begin + pi < high ? SPOT_TURNING : SPOT_FIXED;
        if (!(p->to > p->from)) continue;
        choose_angle(begin, n % 2 == 0 ? level : -level, p);
        count++;
    }
    return count;
}

#endif
