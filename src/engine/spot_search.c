/* Which reflections have spots on the panels: nodes near the Ewald sphere, row after row of the
 * reciprocal lattice. */
#include "engine/spots.h"

#include "base/threads.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Pieces of the work: enough for any number of threads, in the order of the list. */
enum { MOST_PIECES = 256 };

static const double PI = 3.14159265358979323846;
static const double DEGREE = 0.017453292519943295769;

/* Where the passage of half a turn, from an extreme of the node's distance to the next one, is
 * expanded: at the crossing or, without one, next to it. level: cosine of the angle from the first
 * extreme at which the node crosses. */
static void choose_angle(double first, double level, db_spot_passage *p) {
    const double near = 1e-3; /* radian: there the crossing's slopes have no meaning */
    double angle = first;
    db_spot_angle kind = SPOT_TURNING;
    if (level < -1) angle = first + PI;
    if (fabs(level) <= 1) {
        angle = first + acos(level);
        kind = SPOT_CROSSING;
        if (angle - first < near || first + PI - angle < near) {
            kind = SPOT_TURNING;
            angle = angle - first < near ? first : first + PI;
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

int db_spot_passages(const db_experiment *e, const db_interface *z, size_t source, const int hkl[3],
                     db_spot_passage passage[DB_SPOT_MOST_PASSAGES]) {
    const double range = e->goniometer.phi_step * DEGREE;
    const double low = fmin(0, range), high = fmax(0, range);
    const db_spot_name start = { .hkl = { hkl[0], hkl[1], hkl[2] }, .source = source };
    passage[0] = (db_spot_passage){ 0 };
    if (range == 0) return 1;
    const db_vector r = spot_turn_of_double_0(z, &start).r;
    const spot_circle_double_0 k = spot_circle_of_double_0(z->spread.spindle, r);
    const db_vector s0 = z->source[source].s0;
    const double a = v3_dot_double_0(k.across, s0).v, b = v3_dot_double_0(k.side, s0).v;
    const double radius = hypot(a, b), across = v3_square_double_0(k.across).v;
    if (!(across > 1e-20 * v3_square_double_0(r).v) || !(radius > 0)) {
        passage[0].at = 0.5 * range; /* on the spindle, it stays where it is */
        return 1;
    }
    const double level =
        -(v3_dot_double_0(k.along, s0).v + 0.5 * (v3_square_double_0(k.along).v + across)) / radius;
    const double turning = atan2(b, a);
    const int first = (int)floor((low - turning) / PI), last = (int)floor((high - turning) / PI);
    int count = 0;
    for (int n = first; n <= last && count < DB_SPOT_MOST_PASSAGES; n++) {
        db_spot_passage *p = &passage[count];
        const double begin = turning + n * PI;
        *p = (db_spot_passage){ .moves = 1 };
        p->from = fmax(low, begin);
        p->from_kind = begin > low ? SPOT_TURNING : SPOT_FIXED;
        p->to = fmin(high, begin + PI);
        p->to_kind = begin + PI < high ? SPOT_TURNING : SPOT_FIXED;
        if (!(p->to > p->from)) continue;
        choose_angle(begin, n % 2 == 0 ? level : -level, p);
        count++;
    }
    return count;
}

/* A part of the work: h of one source. */
typedef struct {
    const db_plan *plan;
    const db_spot_bounds *bounds;
    int (*wanted)(const db_plan *plan, const db_spot_entry *entry);
    const double *star;         /* rows a*, b*, c* in the laboratory, in the middle of the range */
    const db_spot_reach *shell; /* [sources]: of all nodes */
    double sweep;               /* half of the range (radian) */
    db_spot_list *list;
    db_status status;
    int wrong[3]; /* reflection whose covariance is not positive */
} row_search;

static int grow(db_spot_list *list) {
    if (list->count < list->room) return 1;
    const size_t room = list->room ? 2 * list->room : 64;
    db_spot_entry *entry = realloc(list->entry, room * sizeof *entry);
    if (entry) list->entry = entry;
    db_spot_values *value = realloc(list->value, room * sizeof *value);
    if (value) list->value = value;
    if (!entry || !value) return 0;
    list->room = room;
    return 1;
}

/* Whether a ray comes near the cone that holds a panel. */
static int near_cone(const db_plan *plan, size_t p, const double u[3], double width) {
    const db_kernel_panel *k = &plan->panel[p];
    const db_panel *own = &plan->experiment.detector.panels[p];
    const double half[2] = { 0.5 * own->fast_pixels * k->pixel_size[0],
                             0.5 * own->slow_pixels * k->pixel_size[1] };
    double middle[3], corner[3], least = 1;
    for (int c = 0; c < 3; c++)
        middle[c] = k->origin[c] + half[0] * k->fast[c] + half[1] * k->slow[c];
    const double distance = db_length(middle);
    for (int i = 0; i < 4; i++) {
        for (int c = 0; c < 3; c++)
            corner[c] = middle[c] + (i & 1 ? 1 : -1) * half[0] * k->fast[c] +
                        (i & 2 ? 1 : -1) * half[1] * k->slow[c];
        least = fmin(least, db_dot(corner, middle) / (distance * db_length(corner)));
    }
    if (!(width < 1) || !(least > 0)) return 1;
    return acos(fmax(-1, db_dot(u, middle) / distance)) <= acos(least) + asin(width) + 1e-3;
}

/* Whether a ray meets a panel, or its edge within an angle whose sine is `width`. */
static int near_panel(const db_plan *plan, size_t p, const double u[3], double width) {
    const db_kernel_panel *k = &plan->panel[p];
    const db_panel *own = &plan->experiment.detector.panels[p];
    const double obliquity = db_dot(u, k->normal);
    double x[3];
    if (!(obliquity > 1e-3)) return 0; /* the ray has no place on the panel's plane */
    if (width > 0.1 * obliquity) return near_cone(plan, p, u, width);
    for (int c = 0; c < 3; c++) x[c] = u[c] * k->z / obliquity - k->origin[c];
    /* 1.13 times what the angle is on the panel, at most, and what the sensor's depth adds */
    const double margin = 1.2 * width * k->z / (obliquity * obliquity) +
                          1e-6 * fabs(plan->experiment.detector.sensor_thickness) / obliquity;
    const double fast = db_dot(x, k->fast), slow = db_dot(x, k->slow);
    return fast > -margin && slow > -margin &&
           fast < own->fast_pixels * k->pixel_size[0] + margin &&
           slow < own->slow_pixels * k->pixel_size[1] + margin;
}

/* A node's Gaussians on a panel. */
static void add_on_panel(row_search *s, db_spot_name *name) {
    const db_plan *plan = s->plan;
    const db_experiment *e = &plan->experiment;
    for (int tail = 0; tail <= e->spread.tails; tail++) {
        if (!grow(s->list)) {
            s->status = DB_ERROR_MEMORY;
            return;
        }
        db_spot_entry *entry = &s->list->entry[s->list->count];
        db_spot_values *value = &s->list->value[s->list->count];
        name->tail = tail;
        entry->name = *name;
        *value = spot_at_double_0(e, &plan->plain, NULL, name);
        if (!isfinite(value->amplitude.v) || !isfinite(value->white.r[2].z.v)) {
            s->status = DB_ERROR_INPUT;
            memcpy(s->wrong, name->hkl, sizeof s->wrong);
            return;
        }
        double amplitude = value->amplitude.v;
        if (name->passage.moves) amplitude *= fmin(1, 0.4 * (value->to.v - value->from.v));
        if (amplitude == 0) amplitude = 1; /* its slope by the structure factor */
        entry->cut = db_spot_cut(s->bounds, amplitude);
        if (entry->cut > 0 && db_spot_box(e, &plan->plain, name, value, entry->cut, entry) &&
            (!s->wanted || s->wanted(plan, entry)))
            s->list->count++;
    }
}

static int amplitude_wanted(const db_plan *plan, const int hkl[3]) {
    const db_parameter p = db_parameter_amplitude(hkl[0], hkl[1], hkl[2]);
    for (size_t k = 0; k < plan->parameter_count; k++)
        if (plan->parameters[k] == p && p != DB_PARAMETER_COUNT) return 1;
    return 0;
}

static void add_node(row_search *s, size_t source, const int hkl[3]) {
    const db_plan *plan = s->plan;
    const db_experiment *e = &plan->experiment;
    const double node[3] = { hkl[0], hkl[1], hkl[2] };
    db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
    if (node_amplitude_double_0(&e->structure_factors, NULL, node).v == 0 &&
        !amplitude_wanted(plan, hkl))
        return;
    const int passages = db_spot_passages(e, &plan->plain, source, hkl, passage);
    for (int i = 0; i < passages && s->status == DB_OK; i++) {
        db_spot_name name = { { hkl[0], hkl[1], hkl[2] }, source, 0, 0, passage[i] };
        const db_source_interface *beam = &plan->plain.source[source];
        const double wavelength = 1 / beam->kappa.v;
        const spot_node_double_0 at = spot_turn_of_double_0(&plan->plain, &name);
        double u[3];
        db_vector_out(
            v3_scale_double_0(v3_add_double_0(beam->s0, at.r), n_constant_double_0(wavelength)), u);
        const double square = db_dot(u, u), length = sqrt(square),
                     rho = wavelength * sqrt(v3_square_double_0(at.r).v);
        const db_spot_reach reach = db_spot_reach_of(s->bounds, rho, wavelength, 0),
                            moved = db_spot_reach_of(s->bounds, rho, wavelength,
                                                     rho * fmax(passage[i].at - passage[i].from,
                                                                passage[i].to - passage[i].at));
        if (0.5 * (square - 1) > length * reach.outwards || 0.5 * (1 - square) > reach.inwards)
            continue;
        for (int c = 0; c < 3; c++) u[c] /= length;
        for (size_t p = 0; p < e->detector.panel_count && s->status == DB_OK; p++) {
            if (!near_panel(plan, p, u, moved.across / length)) continue;
            name.panel = p;
            add_on_panel(s, &name);
        }
    }
}

/* Whole numbers l between two real ones, for which the node is not too long. */
static void add_run(row_search *s, size_t source, int h, int k, double from, double to) {
    if (!(to >= from)) return;
    for (double l = ceil(from); l <= to && s->status == DB_OK; l++) {
        const int hkl[3] = { h, k, (int)l };
        add_node(s, source, hkl);
    }
}

/* Where a row meets a sphere: roots of |v + l w|^2 = square; 0 if there are none. */
static int meets(const double v[3], const double w[3], double square, double root[2]) {
    const double a = db_dot(w, w), b = db_dot(v, w), c = db_dot(v, v) - square;
    const double d = b * b - a * c;
    if (!(d >= 0)) return 0;
    root[0] = (-b - sqrt(d)) / a;
    root[1] = (-b + sqrt(d)) / a;
    return 1;
}

/* All l of a row: those for which |r| is small enough, and |s0 + r| near the sphere's radius. */
static void search_row(row_search *s, size_t source, int h, int k) {
    const db_spot_bounds *b = s->bounds;
    const double *star = s->star;
    const double kappa = s->plan->source_double[source].kappa;
    double r[3], from_middle[3], ends[2], outer[2], inner[2];
    for (int c = 0; c < 3; c++) {
        r[c] = h * star[c] + k * star[3 + c];
        from_middle[c] = r[c] + s->plan->source_double[source].s0[c];
    }
    if (!meets(r, star + 6, b->longest * b->longest, ends)) return;
    /* the shell is as thick as the widest spot, and as the range turns a node */
    const double turned = s->sweep * b->longest, rounding = 1e-9 * kappa;
    const db_spot_reach reach = s->shell[source];
    const double out = kappa * (1 + reach.outwards) + turned + rounding,
                 in = kappa * sqrt(fmax(0, 1 - 2 * reach.inwards)) - turned - rounding;
    if (!meets(from_middle, star + 6, out * out, outer)) return;
    outer[0] = fmax(outer[0], ends[0]);
    outer[1] = fmin(outer[1], ends[1]);
    if (in > 0 && meets(from_middle, star + 6, in * in, inner)) {
        add_run(s, source, h, k, outer[0], fmin(inner[0], outer[1]));
        add_run(s, source, h, k, fmax(fmax(inner[1], floor(inner[0]) + 1), outer[0]), outer[1]);
    } else {
        add_run(s, source, h, k, outer[0], outer[1]);
    }
}

/* Reciprocal vectors in the laboratory when the spindle has turned by an angle. */
static void star_at(const db_interface *z, double angle, double star[9]) {
    double axis[3];
    db_vector_out(z->spread.spindle, axis);
    for (int i = 0; i < 3; i++) {
        db_vector_out(m3_apply_double_0(z->spread.turn, z->spread.reciprocal.r[i]), star + 3 * i);
        db_turn(axis, angle, star + 3 * i);
    }
}

/* Parts one after the other. */
static db_status join(db_context *context, size_t parts, db_spot_list *list) {
    size_t count = 0;
    for (size_t i = 0; i < parts; i++) count += list->part[i].count;
    if (count > list->room) {
        const size_t room = count + count / 4;
        free(list->entry);
        free(list->value);
        list->entry = malloc(room * sizeof *list->entry);
        list->value = malloc(room * sizeof *list->value);
        list->room = list->entry && list->value ? room : 0;
        list->count = 0;
        if (!list->room) return db_fail_memory(context, "the spots of an image");
    }
    list->count = 0;
    for (size_t i = 0; i < parts; i++) {
        const db_spot_list *part = &list->part[i];
        if (!part->count) continue;
        memcpy(list->entry + list->count, part->entry, part->count * sizeof *list->entry);
        memcpy(list->value + list->count, part->value, part->count * sizeof *list->value);
        list->count += part->count;
    }
    return DB_OK;
}

/* Room for the parts, whose own room stays from search to search. */
static db_status make_parts(db_context *context, size_t parts, db_spot_list *list) {
    if (parts <= list->parts) return DB_OK;
    db_spot_list *more = realloc(list->part, parts * sizeof *more);
    if (!more) return db_fail_memory(context, "a search of spots");
    memset(more + list->parts, 0, (parts - list->parts) * sizeof *more);
    list->part = more;
    list->parts = parts;
    return DB_OK;
}

void db_spot_list_clear(db_spot_list *list) {
    for (size_t i = 0; i < list->parts; i++) db_spot_list_clear(&list->part[i]);
    free(list->part);
    free(list->entry);
    free(list->value);
    *list = (db_spot_list){ 0 };
}

static db_status explain(db_context *context, const row_search *s) {
    if (s->status != DB_ERROR_INPUT) return db_fail_memory(context, "the spots of an image");
    return db_fail(context, DB_ERROR_INPUT,
                   "spreads: those of reflection %d %d %d together are not a covariance; expected "
                   "variances of at least 0, and correlations between -1 and 1",
                   s->wrong[0], s->wrong[1], s->wrong[2]);
}

db_status db_spots_search(const db_plan *plan, const db_spot_bounds *bounds,
                          int (*wanted)(const db_plan *plan, const db_spot_entry *entry),
                          db_spot_list *list) {
    const double range = plan->experiment.goniometer.phi_step * DEGREE;
    double edge[3], star[9];
    for (int i = 0; i < 3; i++) {
        double v[3];
        db_vector_out(plan->plain.lattice.r[i], v);
        edge[i] = db_length(v);
    }
    star_at(&plan->plain, 0.5 * range, star);
    const long most_h = (long)floor(bounds->longest * edge[0]),
               most_k = (long)floor(bounds->longest * edge[1]), rows = 2 * most_h + 1;
    const long tasks = rows * (long)plan->experiment.beam.source_count;
    const long pieces = tasks < MOST_PIECES ? tasks : MOST_PIECES;
    const size_t sources = plan->experiment.beam.source_count;
    row_search search[MOST_PIECES];
    DB_TRY(make_parts(plan->context, (size_t)pieces, list));
    db_spot_reach *const shell = malloc(sources * sizeof *shell);
    if (!shell) return db_fail_memory(plan->context, "a search of spots");
    for (size_t j = 0; j < sources; j++)
        shell[j] = db_spot_largest_reach(bounds, 1 / plan->source_double[j].kappa);
#if defined(_OPENMP)
    const int threads = db_threads_for(plan->context, pieces);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long piece = 0; piece < pieces; piece++) {
        row_search *s = &search[piece];
        *s = (row_search){ .plan = plan,
                           .bounds = bounds,
                           .wanted = wanted,
                           .star = star,
                           .shell = shell,
                           .sweep = 0.5 * fabs(range),
                           .list = &list->part[piece],
                           .status = DB_OK };
        s->list->count = 0;
        for (long t = tasks * piece / pieces; t < tasks * (piece + 1) / pieces; t++)
            for (long k = -most_k; k <= most_k && s->status == DB_OK; k++)
                search_row(s, (size_t)(t / rows), (int)(t % rows - most_h), (int)k);
    }
    free(shell);
    for (long piece = 0; piece < pieces; piece++)
        if (search[piece].status != DB_OK) return explain(plan->context, &search[piece]);
    return join(plan->context, (size_t)pieces, list);
}
