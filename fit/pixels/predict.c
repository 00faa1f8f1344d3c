/* Prediction of reflections. */
#include "fit/pixels/predict.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/rounding.h"
#include "base/threads.h"
#include "base/vector.h"

#include <dualbragg/spots.h>
#include <stdlib.h>
#include <string.h>

static const double degree = 3.14159265358979323846 / 180;
static const double NEGLIGIBLE = 30; /* minus the logarithm of a weight that does not count */

/* A reflection and the beam. */
typedef struct node {
    double q[3], length;  /* |q| */
    double along, across; /* parts of q, relative to the beam */
    double half_width;    /* of the node, seen from the origin (radian) */
    double limit;         /* turns beyond it do not count (radian) */
    double most;          /* no sine of theirs is larger; 1: nothing is known of it */
    double variance;      /* of the turns that light it up (radian^2) */
} node;

/* What turns a node, in the plane that it spans with the beam, onto the Ewald sphere of a line:
 * there it includes the angle alpha with the beam for which cos(alpha) = -|q|/(2 wave number). */
typedef struct excitation {
    double cosine, sine; /* of alpha */
    double turn[2];      /* cosine and sine of the angle turned by */
} excitation;

/* 0 if the node is too far from the origin. */
static int excite(const node *n, double wave_number, excitation *e) {
    e->cosine = -n->length / (2 * wave_number);
    if (e->cosine <= -1) return 0;
    e->sine = sqrt(1 - e->cosine * e->cosine);
    e->turn[0] = (n->along * e->cosine + n->across * e->sine) / n->length;
    e->turn[1] = (n->across * e->cosine - n->along * e->sine) / n->length;
    return 1;
}

/* What is asked of nodes, and what they have in common. */
typedef struct search {
    const db_fit_geometry *geometry;
    const db_prediction_range *range;
    double limit;            /* turns beyond it do not count for a node without size (radian) */
    double mosaic, rotation; /* parts of the variance of turns (radian^2) */
} search;

static search search_of(const db_fit_geometry *geometry, const db_prediction_range *range) {
    const double mosaic = geometry->mosaic_angle * degree,
                 rotation = geometry->half_rotation * degree;
    return (search){ .geometry = geometry,
                     .range = range,
                     .limit = (range->excitation_angle + geometry->half_rotation) * degree,
                     .mosaic = mosaic * mosaic,
                     .rotation = rotation * rotation / 3 };
}

/* 0 if it is along the beam. */
static int look_at(const search *wanted, node *n) {
    const double size = wanted->geometry->node_radius / n->length,
                 square = n->length * n->length - n->along * n->along;
    n->across = square > 0 ? sqrt(square) : 0;
    /* a node of finite size touches the sphere before its centre does */
    n->half_width = asin(size < 1 ? size : 1);
    /* The sine of the limit is not above the limit, which is not above the range's part and pi/2 x
     * the node's radius over its distance. */
    const double most = wanted->limit + 1.6 * size;
    n->most = most < 1 ? most : 1;
    n->limit = wanted->limit + n->half_width;
    n->variance = n->half_width * n->half_width / 9 + wanted->mosaic + wanted->rotation;
    return n->across > 0;
}

/* Lines that excite a node, summed with the weights that they have. */
typedef struct excited {
    double nearest;       /* square of the smallest turn (radian) */
    double weight, angle; /* sum of weights, and of weights x turns (radian) */
    double along, across; /* the same of alpha's cosine and sine / wave number */
} excited;

static void add_line(const node *n, const db_spectral_line *line, const excitation *e, double angle,
                     excited *sum) {
    const double square = angle * angle, scale = 0.5 / n->variance;
    if (!(sum->weight > 0)) sum->nearest = square;
    if (square < sum->nearest) { /* weights are relative to the nearest line's: none underflows */
        const double less = exp((square - sum->nearest) * scale);
        sum->weight *= less;
        sum->angle *= less;
        sum->along *= less;
        sum->across *= less;
        sum->nearest = square;
    }
    const double apart = square - sum->nearest;
    const double weight = line->weight * (apart > 0 ? exp(-apart * scale) : 1);
    sum->weight += weight;
    sum->angle += weight * angle;
    sum->along += weight * e->cosine / line->wave_number;
    sum->across += weight * e->sine / line->wave_number;
}

/* Small angles by the sine, which is far less work. */
static double angle_of(const double turn[2]) {
    const int is_small = turn[0] > 0 && fabs(turn[1]) < 0.1;
    return is_small ? asin(turn[1]) : atan2(turn[1], turn[0]);
}

/* Lines from number `from` on, upwards or downwards, away from the one that excites the node best;
 * turns grow on the way. */
static void add_lines(const db_fit_geometry *geometry, const node *n, long from, int step,
                      excited *sum) {
    const double far = 2 * NEGLIGIBLE * n->variance;
    for (long i = from; i >= 0 && i < (long)geometry->line_count; i += step) {
        excitation e;
        if (!excite(n, geometry->line[i].wave_number, &e)) return;
        if (n->most < 1 && (fabs(e.turn[1]) > n->most || e.turn[0] < 0)) return;
        const double angle = angle_of(e.turn);
        if (fabs(angle) > n->limit || angle * angle > sum->nearest + far) return;
        add_line(n, &geometry->line[i], &e, angle, sum);
    }
}

/* Number of the first line of at least a wave number. */
static long first_line(const db_fit_geometry *geometry, double wave_number) {
    size_t low = 0, high = geometry->line_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (geometry->line[middle].wave_number < wave_number)
            low = middle + 1;
        else
            high = middle;
    }
    return (long)low;
}

/* Where a reflection's light goes: the direction s1, and the excitation. 0 if no line within the
 * range excites it. deviations: square of the smallest turn, in standard deviations. */
static int scatter_node(const search *wanted, db_reflection *reflection, double s1[3],
                        double *deviations) {
    const db_fit_geometry *const geometry = wanted->geometry;
    const db_prediction_range *const range = wanted->range;
    const int *const hkl = reflection->hkl;
    const double index[3] = { hkl[0], hkl[1], hkl[2] };
    node n;
    db_apply(geometry->a_star, index, n.q);
    n.length = db_length(n.q);
    if (!(n.length > 0) || n.length * range->dmin > 1) return 0;
    reflection->d_spacing = 1 / n.length;
    if (range->dmax > 0 && reflection->d_spacing > range->dmax) return 0;
    n.along = db_dot(n.q, geometry->direction);
    if (!look_at(wanted, &n)) return 0;
    /* the wave number whose sphere the node is on */
    const double exact = n.along < 0 ? n.length * n.length / (-2 * n.along) : INFINITY;
    const long first = first_line(geometry, exact);
    excited sum = { INFINITY, 0, 0, 0, 0 };
    add_lines(geometry, &n, first, 1, &sum);
    add_lines(geometry, &n, first - 1, -1, &sum);
    if (!(sum.weight > 0)) return 0;
    reflection->excitation = sum.angle / sum.weight / degree;
    reflection->apart = fabs(reflection->excitation);
    *deviations = sum.nearest / n.variance;
    /* s1 = direction + length (along direction + across (q - its part along it) / its length) */
    const double scale = n.length / sum.weight, aside = scale * sum.across / n.across,
                 ahead = 1 + scale * sum.along - aside * n.along;
    for (int i = 0; i < 3; i++) s1[i] = ahead * geometry->direction[i] + aside * n.q[i];
    return 1;
}

/* Part of the intensity that the image shows. */
static double recorded(double deviations) { return exp(-0.5 * deviations); }

static int is_predicted(const search *wanted, db_reflection *reflection) {
    double s1[3], deviations;
    if (!scatter_node(wanted, reflection, s1, &deviations) ||
        !db_fit_geometry_meets(wanted->geometry, s1, &reflection->panel, reflection->position))
        return 0;
    reflection->recorded = recorded(deviations);
    return 1;
}

/* 0: out of memory. */
static int append_predicted(db_prediction *prediction, size_t *room,
                            const db_reflection *reflection) {
    db_reflection *const grown =
        db_grown(prediction->reflection, room, prediction->count + 1, sizeof *grown);
    if (!grown) return 0;
    prediction->reflection = grown;
    prediction->reflection[prediction->count++] = *reflection;
    return 1;
}

/* |h| <= |a|/dmin, since h = a.q. */
static db_status index_limits(db_context *context, const db_fit_geometry *geometry, double dmin,
                              int limit[3]) {
    double real[9], nodes = 8;
    if (!db_invert(geometry->a_star, real))
        return db_fail(context, DB_ERROR_INPUT, "crystal: its reciprocal matrix is singular");
    for (int i = 0; i < 3; i++) {
        const double most = db_length(real + 3 * i) / dmin;
        nodes *= most + 1;
        if (!(nodes < 2e9))
            return db_fail(context, DB_ERROR_INPUT,
                           "too many reflections to predict to %.3g A: limit dmin", dmin);
        limit[i] = (int)most;
    }
    return DB_OK;
}

/* A reciprocal lattice row q0 + l c*. */
typedef struct lattice_row {
    double step, along_step;   /* c* c*, c* along the beam */
    double start, along_start; /* q0 q0, q0 along the beam */
    double both;               /* q0 c* */
} lattice_row;

/* What is asked of rows: nodes in the shells around all Ewald spheres in which all predicted ones are.
 * Turned by at most the limit they would touch one. All spheres touch each other at the origin, so that these
 * are within the largest, not deep in the smallest. */
typedef struct shells {
    double resolved;          /* radius of what the range allows (1/angstrom) */
    double smallest, largest; /* radii of Ewald spheres */
    double thickness;         /* of a shell */
    double slack;             /* what the size of a node adds, at most */
} shells;

static shells shells_of(const search *wanted) {
    const db_fit_geometry *const g = wanted->geometry;
    const double slack = 1.6 * g->node_radius;
    return (shells){ .resolved = 1.000001 / wanted->range->dmin,
                     .smallest = g->line[0].wave_number,
                     .largest = g->line[g->line_count - 1].wave_number,
                     /* A turn by an angle moves a node by at most the angle x its distance from the
                      * origin; the angle of the node itself, by at most pi/2 x its radius. */
                     .thickness = 1.001 * (wanted->limit / wanted->range->dmin + slack),
                     .slack = slack };
}

/* Between which l a row's nodes are within a radius of a point so far behind the origin, such as the
 * centre of a line's Ewald sphere; 0: never. */
static int within_radius(const lattice_row *row, double behind, double radius, double between[2]) {
    const double b = row->both + behind * row->along_step;
    const double c = row->start + behind * (2 * row->along_start + behind) - radius * radius;
    const double square = b * b - row->step * c;
    if (square < 0) return 0;
    between[0] = (-b - sqrt(square)) / row->step;
    between[1] = (-b + sqrt(square)) / row->step;
    return 1;
}

/* Whether node l may be within its limit of any Ewald sphere, by cosines: those of the angles that it
 * includes with the beam now and on the sphere differ by less than the turn from one to the other. */
static int may_be_excited(const search *wanted, const shells *s, const lattice_row *row, double l) {
    const double square = row->start + l * (2 * row->both + l * row->step),
                 along = row->along_start + l * row->along_step;
    const double nearest = along + 0.5 * square / s->largest,
                 farthest = along + 0.5 * square / s->smallest;
    const double beyond = (nearest > -farthest ? nearest : -farthest) - s->slack;
    return beyond <= 0 || beyond * beyond <= wanted->limit * wanted->limit * square;
}

/* Of a row through q0 = h a* + k b*. */
static void put_row(const db_fit_geometry *geometry, double h, double k, lattice_row *row) {
    const double *const matrix = geometry->a_star;
    double origin[3];
    row->both = 0;
    for (int i = 0; i < 3; i++) {
        origin[i] = matrix[3 * i] * h + matrix[3 * i + 1] * k;
        row->both += origin[i] * matrix[3 * i + 2];
    }
    row->start = db_dot(origin, origin);
    row->along_start = db_dot(origin, geometry->direction);
}

/* 0: out of memory. */
static int predict_row(const search *wanted, const shells *s, const lattice_row *row,
                       db_reflection *r, size_t *room, db_prediction *prediction) {
    double resolved[2], outer[2], inner[2] = { INFINITY, -INFINITY };
    if (!within_radius(row, 0, s->resolved, resolved) ||
        !within_radius(row, s->largest, s->largest + s->thickness, outer))
        return 1;
    if (s->smallest > s->thickness)
        within_radius(row, s->smallest, s->smallest - s->thickness, inner);
    const int first = db_ceiling(resolved[0] > outer[0] ? resolved[0] : outer[0]),
              last = db_floor(resolved[1] < outer[1] ? resolved[1] : outer[1]);
    for (int l = first; l <= last; l++) {
        if (l > inner[0] && l < inner[1]) { /* too deep inside: on to the other side */
            l = inner[1] < last ? db_ceiling(inner[1]) - 1 : last;
            continue;
        }
        if (!may_be_excited(wanted, s, row, l)) continue;
        r->hkl[2] = l;
        if (is_predicted(wanted, r) && !append_predicted(prediction, room, r)) return 0;
    }
    return 1;
}

/* All nodes of so many h, in the order of h, k and l. 0: out of memory. */
static int predict_layers(const search *wanted, const int limit[3], int first, int end,
                          db_prediction *layers) {
    const db_fit_geometry *const geometry = wanted->geometry;
    const double step[3] = { geometry->a_star[2], geometry->a_star[5], geometry->a_star[8] };
    const shells s = shells_of(wanted);
    size_t room = 0;
    db_reflection r = { 0 };
    lattice_row row = { .step = db_dot(step, step),
                        .along_step = db_dot(step, geometry->direction) };
    for (r.hkl[0] = first; r.hkl[0] < end; r.hkl[0]++)
        for (r.hkl[1] = -limit[1]; r.hkl[1] <= limit[1]; r.hkl[1]++) {
            put_row(geometry, r.hkl[0], r.hkl[1], &row);
            if (!predict_row(wanted, &s, &row, &r, &room, layers)) return 0;
        }
    return 1;
}

/* Lists one after the other. */
static db_status join_layers(db_context *context, const db_prediction *list, size_t count,
                             db_prediction *prediction) {
    size_t all = 0;
    for (size_t i = 0; i < count; i++) all += list[i].count;
    prediction->reflection = malloc((all + 1) * sizeof *prediction->reflection);
    if (!prediction->reflection) return db_fail_memory(context, "the predicted reflections");
    for (size_t i = 0; i < count; i++) {
        if (!list[i].count) continue;
        memcpy(prediction->reflection + prediction->count, list[i].reflection,
               list[i].count * sizeof *list[i].reflection);
        prediction->count += list[i].count;
    }
    return DB_OK;
}

/* Layers of h are shared out in parts, several for each thread. */
static db_status predict_all(db_context *context, const db_fit_geometry *geometry,
                             const db_prediction_range *range, db_prediction *prediction) {
    enum { OF_A_THREAD = 8 };
    const search wanted = search_of(geometry, range);
    int limit[3];
    DB_TRY(index_limits(context, geometry, range->dmin, limit));
    const int threads = db_threads(context), layers = 2 * limit[0] + 1,
              parts = layers < OF_A_THREAD * threads ? layers : OF_A_THREAD * threads;
    db_prediction *const part = calloc((size_t)parts, sizeof *part);
    if (!part) return db_fail_memory(context, "the predicted reflections");
    int missing = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : missing)
    for (int i = 0; i < parts; i++)
        missing += !predict_layers(&wanted, limit, (int)((int64_t)layers * i / parts) - limit[0],
                                   (int)((int64_t)layers * (i + 1) / parts) - limit[0], &part[i]);
    const db_status status = missing ? db_fail_memory(context, "the predicted reflections")
                                     : join_layers(context, part, (size_t)parts, prediction);
    for (int i = 0; i < parts; i++) free(part[i].reflection);
    free(part);
    return status;
}

/* Whatever their structure factors, which the measured image may know better. */
static db_status predict_closed(db_context *context, const db_experiment *experiment,
                                const db_prediction_range *range, db_prediction *prediction) {
    const double most_turn = 10;         /* degree */
    db_experiment limited = *experiment; /* borrows its lists */
    db_spot_options options = DB_SPOT_OPTIONS_INIT;
    db_predicted_spots spots;
    limited.structure_factors = (db_structure_factors){ .default_F = 1 };
    limited.dmin = fmax(limited.dmin, range->dmin);
    options.most_turn = fmin(range->excitation_angle, most_turn);
    DB_TRY(db_spots_predict(context, &limited, &options, &spots));
    prediction->reflection = malloc((spots.count + 1) * sizeof *prediction->reflection);
    for (size_t i = 0; i < spots.count && prediction->reflection; i++) {
        const db_spot *const s = &spots.spot[i];
        if (range->dmax > 0 && s->resolution > range->dmax) continue;
        prediction->reflection[prediction->count++] = (db_reflection){
            .hkl = { s->hkl[0], s->hkl[1], s->hkl[2] },
            .d_spacing = s->resolution,
            .excitation = s->turn,
            .panel = s->panel,
            .position = { s->position[0], s->position[1] },
            .apart = fabs(s->excitation),
            .recorded = s->recorded,
            .covariance = { s->covariance[0], s->covariance[1], s->covariance[2] },
        };
    }
    db_predicted_spots_clear(&spots);
    return prediction->reflection ? DB_OK : db_fail_memory(context, "the predicted reflections");
}

db_status db_predict(db_context *context, const db_experiment *experiment,
                     const db_prediction_range *range, db_prediction *prediction) {
    db_fit_geometry geometry;
    *prediction = (db_prediction){ 0, NULL };
    if (experiment->spread.spots == DB_SPOTS_CLOSED)
        return predict_closed(context, experiment, range, prediction);
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    db_prediction_range within = *range;
    /* shorter wavelengths record more */
    within.dmin = fmax(within.dmin, db_fit_geometry_finest(&geometry) * db_length(geometry.s0) /
                                        geometry.line[geometry.line_count - 1].wave_number);
    const db_status status = predict_all(context, &geometry, &within, prediction);
    db_fit_geometry_clear(&geometry);
    if (status != DB_OK) db_prediction_clear(prediction);
    return status;
}

void db_prediction_clear(db_prediction *prediction) {
    free(prediction->reflection);
    *prediction = (db_prediction){ 0, NULL };
}
