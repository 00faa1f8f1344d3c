#include "fit/predict.h"

#include "core/context_internal.h"
#include "fit/threads.h"
#include "fit/vector.h"

#include <stdlib.h>
#include <string.h>

static const double degree = 3.14159265358979323846 / 180;

/* What turns q, in the plane that it spans with the beam, onto the Ewald sphere: there it includes
 * the angle alpha with s0 for which cos(alpha) = -|q|/(2|s0|). */
typedef struct excitation {
    double wave_number, length; /* |s0|, |q| */
    double along, across;       /* parts of q, relative to the beam */
    double cosine, sine;        /* of alpha */
    double turn[2];             /* cosine and sine of the angle turned by */
} excitation;

/* 0 if q is along the beam or too long. */
static int excite(const db_fit_geometry *geometry, const double q[3], double length,
                  excitation *e) {
    e->wave_number = db_length(geometry->s0);
    e->length = length;
    e->along = db_dot(q, geometry->s0) / e->wave_number;
    e->across = sqrt(fmax(0, length * length - e->along * e->along));
    e->cosine = -length / (2 * e->wave_number);
    if (e->cosine <= -1 || e->across <= 0) return 0;
    e->sine = sqrt(1 - e->cosine * e->cosine);
    e->turn[0] = (e->along * e->cosine + e->across * e->sine) / length;
    e->turn[1] = (e->across * e->cosine - e->along * e->sine) / length;
    return 1;
}

static void onto_ewald_sphere(const db_fit_geometry *geometry, const excitation *e, double q[3]) {
    for (int i = 0; i < 3; i++) {
        const double unit = geometry->s0[i] / e->wave_number;
        q[i] = e->length * (e->cosine * unit + e->sine * (q[i] - e->along * unit) / e->across);
    }
}

/* A node of finite size touches the sphere before its centre does (radian). */
static double node_angle(const db_fit_geometry *geometry, double length) {
    return asin(fmin(1, geometry->node_radius / length));
}

/* Would a turn by more than the range allows be needed? The sine of the limit is not above the
 * limit, which is not above the range's part and pi/2 x the node's radius over its distance. */
static int out_of_reach(const db_fit_geometry *geometry, const db_prediction_range *range,
                        const excitation *e) {
    const double most = (range->excitation_angle + geometry->half_rotation) * degree +
                        1.6 * geometry->node_radius / e->length;
    return most < 1 && (fabs(e->turn[1]) > most || e->turn[0] < 0);
}

static int predicted(const db_fit_geometry *geometry, const db_prediction_range *range,
                     db_reflection *reflection) {
    const int *const hkl = reflection->hkl;
    const double index[3] = { hkl[0], hkl[1], hkl[2] };
    double q[3], s1[3];
    excitation e;
    db_apply(geometry->a_star, index, q);
    const double length = db_length(q);
    if (!(length > 0) || length > 1 / range->dmin) return 0;
    reflection->d_spacing = 1 / length;
    if (range->dmax > 0 && reflection->d_spacing > range->dmax) return 0;
    if (!excite(geometry, q, length, &e) || out_of_reach(geometry, range, &e)) return 0;
    reflection->excitation = atan2(e.turn[1], e.turn[0]) / degree;
    if (fabs(reflection->excitation) >
        range->excitation_angle + geometry->half_rotation + node_angle(geometry, length) / degree)
        return 0;
    onto_ewald_sphere(geometry, &e, q);
    for (int i = 0; i < 3; i++) s1[i] = geometry->s0[i] + q[i];
    return db_fit_geometry_meets(geometry, s1, &reflection->panel, reflection->position);
}

/* 0: out of memory. */
static int append(db_prediction *prediction, size_t *room, const db_reflection *reflection) {
    if (prediction->count == *room) {
        const size_t more = 2 * *room + 1024;
        db_reflection *const grown =
            realloc(prediction->reflection, more * sizeof *prediction->reflection);
        if (!grown) return 0;
        prediction->reflection = grown;
        *room = more;
    }
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

/* A reciprocal lattice row: nodes q0 + l c*. */
typedef struct lattice_row {
    double from_centre[3]; /* of the Ewald sphere to the node l = 0 */
    double step[3];        /* c* */
} lattice_row;

/* Between which l the row is within a radius of the sphere's centre; 0: never. */
static int within_radius(const lattice_row *row, double radius, double between[2]) {
    const double a = db_dot(row->step, row->step), b = db_dot(row->step, row->from_centre);
    const double c = db_dot(row->from_centre, row->from_centre) - radius * radius;
    const double square = b * b - a * c;
    if (square < 0) return 0;
    between[0] = (-b - sqrt(square)) / a;
    between[1] = (-b + sqrt(square)) / a;
    return 1;
}

/* The nodes of a row in the shell around the Ewald sphere in which all predicted ones are: turned
 * by at most the excitation limit they would touch it. 0: out of memory. */
static int predict_row(const db_fit_geometry *geometry, const db_prediction_range *range,
                       double thickness, int limit, db_reflection *r, size_t *room,
                       db_prediction *prediction) {
    const double origin[3] = { r->hkl[0], r->hkl[1], 0 }, sphere = db_length(geometry->s0);
    lattice_row row;
    double outer[2], inner[2] = { INFINITY, -INFINITY };
    db_apply(geometry->a_star, origin, row.from_centre);
    for (int i = 0; i < 3; i++) {
        row.from_centre[i] += geometry->s0[i];
        row.step[i] = geometry->a_star[3 * i + 2];
    }
    if (!within_radius(&row, sphere + thickness, outer)) return 1;
    if (sphere > thickness) within_radius(&row, sphere - thickness, inner);
    const int last = (int)fmin(limit, floor(outer[1]));
    for (int l = (int)fmax(-limit, ceil(outer[0])); l <= last; l++) {
        if (l > inner[0] && l < inner[1]) { /* too deep inside: on to the other side */
            l = (int)fmin(last, ceil(inner[1]) - 1);
            continue;
        }
        r->hkl[2] = l;
        if (predicted(geometry, range, r) && !append(prediction, room, r)) return 0;
    }
    return 1;
}

/* All nodes of one h, in the order of k and l. 0: out of memory. */
static int predict_layer(const db_fit_geometry *geometry, const db_prediction_range *range,
                         const int limit[3], int h, db_prediction *layer) {
    size_t room = 0;
    db_reflection r = { .hkl = { h, 0, 0 } };
    /* A turn by an angle moves a node by at most the angle x its distance from the origin; the
     * angle of the node itself, by at most pi/2 x its radius. */
    const double thickness =
        1.001 * ((range->excitation_angle + geometry->half_rotation) * degree / range->dmin +
                 1.6 * geometry->node_radius);
    for (r.hkl[1] = -limit[1]; r.hkl[1] <= limit[1]; r.hkl[1]++)
        if (!predict_row(geometry, range, thickness, limit[2], &r, &room, layer)) return 0;
    return 1;
}

/* Layers one after the other. */
static db_status join(db_context *context, const db_prediction *layers, size_t count,
                      db_prediction *prediction) {
    size_t all = 0;
    for (size_t i = 0; i < count; i++) all += layers[i].count;
    prediction->reflection = malloc((all + 1) * sizeof *prediction->reflection);
    if (!prediction->reflection) return db_fail_memory(context, "the predicted reflections");
    for (size_t i = 0; i < count; i++) {
        if (!layers[i].count) continue;
        memcpy(prediction->reflection + prediction->count, layers[i].reflection,
               layers[i].count * sizeof *layers[i].reflection);
        prediction->count += layers[i].count;
    }
    return DB_OK;
}

static int predict_layers(int threads, const db_fit_geometry *geometry,
                          const db_prediction_range *range, const int limit[3],
                          db_prediction *layers, int count) {
    int missing = 0;
    (void)threads;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : missing)
#endif
    for (int i = 0; i < count; i++)
        missing += !predict_layer(geometry, range, limit, i - limit[0], &layers[i]);
    return !missing;
}

static db_status predict_all(db_context *context, const db_fit_geometry *geometry,
                             const db_prediction_range *range, db_prediction *prediction) {
    int limit[3];
    DB_TRY(index_limits(context, geometry, range->dmin, limit));
    const size_t count = 2 * (size_t)limit[0] + 1;
    db_prediction *const layers = calloc(count, sizeof *layers);
    if (!layers) return db_fail_memory(context, "the predicted reflections");
    const int threads = db_fit_threads(context);
    const db_status status = predict_layers(threads, geometry, range, limit, layers, (int)count)
                                 ? join(context, layers, count, prediction)
                                 : db_fail_memory(context, "the predicted reflections");
    for (size_t i = 0; i < count; i++) free(layers[i].reflection);
    free(layers);
    return status;
}

db_status db_predict(db_context *context, const db_experiment *experiment,
                     const db_prediction_range *range, db_prediction *prediction) {
    db_fit_geometry geometry;
    *prediction = (db_prediction){ 0, NULL };
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    db_prediction_range within = *range;
    within.dmin = fmax(within.dmin, db_fit_geometry_finest(&geometry));
    const db_status status = predict_all(context, &geometry, &within, prediction);
    db_fit_geometry_clear(&geometry);
    if (status != DB_OK) db_prediction_clear(prediction);
    return status;
}

void db_prediction_clear(db_prediction *prediction) {
    free(prediction->reflection);
    *prediction = (db_prediction){ 0, NULL };
}
