/* Which pixels of a panel a spot reaches. */
#include "engine/spots.h"

#include "base/vector.h"

#include <string.h>

/* Symmetric tensor: xx, yy, zz, xy, xz, yz. */
static void apply(const double t[6], const double v[3], double out[3]) {
    out[0] = t[0] * v[0] + t[3] * v[1] + t[4] * v[2];
    out[1] = t[3] * v[0] + t[1] * v[1] + t[5] * v[2];
    out[2] = t[4] * v[0] + t[5] * v[1] + t[2] * v[2];
}

static double form(const double t[6], const double u[3], const double v[3]) {
    double tv[3];
    apply(t, v, tv);
    return db_dot(u, tv);
}

/* A panel as rays see it: x on it is at (x.f)/(x.n) distance - corner along an axis f. */
typedef struct {
    double axis[2][3], normal[3], corner[2], distance, size[2];
} view;

static view view_of(const db_panel_interface *panel, const db_panel *own, double distance) {
    view v;
    double origin[3];
    db_vector_out(panel->fast, v.axis[0]);
    db_vector_out(panel->slow, v.axis[1]);
    db_vector_out(panel->normal, v.normal);
    db_vector_out(panel->origin, origin);
    for (int i = 0; i < 2; i++) {
        v.corner[i] = db_dot(origin, v.axis[i]);
        v.size[i] = 1e-3 * own->pixel_size[i];
    }
    v.distance = distance;
    return v;
}

/* The ellipsoid (d - c).T^-1 (d - c) <= square as seen from the sample, in pixels along an axis f:
 * the plane through the origin that it touches has normal f - t n, and (c.(f - t n))^2 = square (f -
 * t n).T (f - t n), a quadratic equation for t. 0 where it has no end: the ellipsoid reaches behind
 * the panel's edge on. */
static int ends(const view *v, int axis, const double c[3], const double t[6], double square,
                double end[2]) {
    const double *f = v->axis[axis];
    const double *n = v->normal;
    const double cn = db_dot(c, n), cf = db_dot(c, f);
    const double a = cn * cn - square * form(t, n, n), b = cn * cf - square * form(t, f, n),
                 r = cf * cf - square * form(t, f, f);
    if (!(cn > 0 && a > 0)) return 0;
    const double root = sqrt(fmax(0, b * b - a * r));
    end[0] = ((b - root) / a * v->distance - v->corner[axis]) / v->size[axis];
    end[1] = ((b + root) / a * v->distance - v->corner[axis]) / v->size[axis];
    return 1;
}

/* Adds what the ellipsoid covers to [from, to] of both axes; 0 where it has no end. */
static int cover(const view *v, const double c[3], const double t[6], double square,
                 double box[2][2]) {
    for (int axis = 0; axis < 2; axis++) {
        double end[2];
        if (!ends(v, axis, c, t, square, end)) return 0;
        box[axis][0] = fmin(box[axis][0], end[0]);
        box[axis][1] = fmax(box[axis][1], end[1]);
    }
    return 1;
}

static void nothing(double box[2][2]) {
    for (int axis = 0; axis < 2; axis++) {
        box[axis][0] = HUGE_VAL;
        box[axis][1] = -HUGE_VAL;
    }
}

static void intersect(double box[2][2], const double with[2][2]) {
    for (int axis = 0; axis < 2; axis++) {
        box[axis][0] = fmax(box[axis][0], with[axis][0]);
        box[axis][1] = fmin(box[axis][1], with[axis][1]);
    }
}

/* The part of the spot's ellipsoid (of a spot that moves: cylinder along its way) that lies on the
 * sphere of directions: near c, with u along it, directions with u.(d - c) = 1 - |c|. Points are
 * taken there along `way`, by the map 1 - way u^T/(u.way); directions beside u lie deeper by half
 * the square of their angle, which widens the box. 0 where it has no use. */
static int on_sphere(const view *v, const double c[3], const double u[3], double excess,
                     const double way[3], const double t[6], double square, double box[2][2]) {
    const double along = db_dot(u, way);
    const double width = sqrt(square * (t[0] + t[1] + t[2])), most = 0.3;
    double tu[3], at[3], mapped[6], slope[3], more = 0;
    if (!(width < most) || !(fabs(along) > 1e-3 * db_length(way))) return 0;
    const double uu = form(t, u, u);
    apply(t, u, tu);
    for (int i = 0; i < 3; i++) {
        slope[i] = way[i] / along;
        at[i] = c[i] + slope[i] * excess;
        more = fmax(more, fabs(slope[i]));
    }
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++) {
        const int i = first[n], j = second[n];
        mapped[n] = t[n] - slope[i] * tu[j] - tu[i] * slope[j] + slope[i] * slope[j] * uu;
    }
    nothing(box);
    if (!cover(v, at, mapped, square, box)) return 0;
    for (int axis = 0; axis < 2; axis++) {
        const double half =
            0.5 * fmax(box[0][1] - box[0][0], box[1][1] - box[1][0]) * v->size[axis] / v->distance;
        /* twice the depth of the sphere at the farthest corner, along the way and to the panel */
        const double margin = 4 * more * (half * half + excess * excess) * v->distance /
                              (v->size[axis] * db_dot(c, v->normal));
        box[axis][0] -= margin;
        box[axis][1] += margin;
    }
    return 1;
}

static int to_pixels(const double from, const double to, int pixels, int32_t out[2]) {
    const double rounding = 1e-3;
    if (!(to + rounding > 0 && from - rounding < pixels)) return 0;
    out[0] = from - rounding > 0 ? (int32_t)floor(from - rounding) : 0;
    out[1] = to + rounding < pixels ? (int32_t)floor(to + rounding) + 1 : pixels;
    return 1;
}

int db_spot_box(const db_experiment *e, const db_interface *z, const db_spot_name *name,
                const db_spot_values *value, double cut, db_spot_entry *entry) {
    const db_panel *own = &e->detector.panels[name->panel];
    const db_panel_interface *panel = &z->panel[name->panel];
    double c[3], u[3], t[6], way[3], box[2][2], nearer[2][2];
    db_vector_out(value->centre, c);
    for (int i = 0; i < 6; i++) t[i] = value->covariance[i].v;
    const double length = db_length(c), excess = 1 - length;
    for (int i = 0; i < 3; i++) u[i] = c[i] / length;
    const double width = sqrt(form(t, u, u)), reach = sqrt(cut), trace = t[0] + t[1] + t[2];
    const double sensor = 1e-6 * fmax(0, e->detector.sensor_thickness);
    const view v = view_of(panel, own, panel->z.v + 0.5 * sensor);
    const double parallax = /* rays are recorded between the sensor's front and its back */
        0.5 * sensor * sqrt(fmax(0, 1 / pow(fmax(0.05, db_dot(u, v.normal)), 2) - 1));
    nothing(box);
    if (!name->passage.moves) {
        /* beside u the sphere is deeper: at most half the square of the angle */
        const double beside = 0.5 * cut * trace;
        if (length - reach * width > 1 || length + reach * width < 1 - beside) return 0;
        const double least = excess < 0 ? -excess : fmax(0, excess - beside);
        apply(t, u, way);
        if (!cover(&v, c, t, cut, box)) {
            box[0][0] = box[1][0] = -HUGE_VAL;
            box[0][1] = box[1][1] = HUGE_VAL;
        }
        const double rest = cut - least * least / (width * width);
        if (!(rest > 0)) return 0;
        if (on_sphere(&v, c, u, excess, way, t, rest, nearer)) intersect(box, nearer);
    } else {
        /* along its way: from one end of the range to the other, or wherever it crosses the sphere */
        int bounded = 1;
        const double column[3] = { value->root.r[0].z.v, value->root.r[1].z.v,
                                   value->root.r[2].z.v };
        for (int end = 0; end < 2; end++) {
            const double at = end ? value->to.v : value->from.v;
            double moved[3];
            for (int i = 0; i < 3; i++) moved[i] = c[i] + at * column[i];
            bounded = bounded && cover(&v, moved, t, cut, box);
        }
        const double low = db_dot(u, column) * value->from.v,
                     high = db_dot(u, column) * value->to.v;
        const double beside = 0.5 * cut * trace;
        if (length + fmin(low, high) - reach * width > 1 ||
            length + fmax(low, high) + reach * width < 1 - beside)
            return 0;
        if (!bounded) {
            box[0][0] = box[1][0] = -HUGE_VAL;
            box[0][1] = box[1][1] = HUGE_VAL;
        }
        memcpy(way, column, sizeof way);
        if (on_sphere(&v, c, u, excess, way, t, cut, nearer)) intersect(box, nearer);
    }
    return to_pixels(box[0][0] - parallax / v.size[0], box[0][1] + parallax / v.size[0],
                     own->fast_pixels, entry->fast) &&
           to_pixels(box[1][0] - parallax / v.size[1], box[1][1] + parallax / v.size[1],
                     own->slow_pixels, entry->slow);
}
