#include "fit/verdict/evidence.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"

#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FREEDOM = 4 }; /* degrees of freedom of Student's distribution, as for moments of spots */
/* Student's density at its maximum, for one, two and three numbers and widths of 1. */
static const double PEAK[] = { 0.375, 0.15915494309189535, 0.07460387957432595 };
/* Least widths: centroids of a few pixels are not more precise, and neither is an orientation between the
 * orientations of blocks. */
static const double LEAST_PLACE = 0.3, LEAST_TURN = 0.02;
/* Widths at the start: wide enough for rough models. */
static const db_evidence_width FIRST = { 1.5, 0.3, 0.5 };
static const double LEAST_PART = 1e-3; /* of any kind of spots, so that none becomes impossible */
enum { ROUNDS = 30 };
/* Parts and widths are found when they change by less than this fraction. */
static const double SETTLED = 1e-6;

void db_evidence_clear(db_evidence *e) {
    free(e->spot);
    free(e->density[0]);
    *e = (db_evidence){ 0 };
}

/* Moves a place, in widths, to the nearest point of a line between its least and most. */
static void come_near(const double line[3], double least, double most, double at[3]) {
    const double square = db_dot(line, line),
                 by = square > 0 ? fmin(fmax(-db_dot(at, line) / square, least), most) : 0;
    for (int i = 0; i < 3; i++) at[i] += by * line[i];
}

/* Coordinates of differences of scattering vectors, in widths. */
static void in_widths(const db_evidence_spot *s, const db_evidence_width *w, double offset[9]) {
    const double inverse[3] = { 1 / w->place, 1 / w->place, 1 / w->turn };
    for (int i = 0; i < 9; i++) offset[i] = inverse[i / 3] * s->offset[i];
}

/* Moves a node at g, in widths from the spot, to its nearest place that spectrum and rotation record. */
static void come_along(const db_evidence *e, const double offset[9], const double g[3],
                       double at[3]) {
    double line[3], across[3];
    if (e->wave_number[1] > e->wave_number[0]) {
        const double central = db_length(e->s0);
        db_apply(offset, g, line);
        come_near(line, central / e->wave_number[1] - 1, central / e->wave_number[0] - 1, at);
    }
    if (e->half_rotation > 0) {
        const double most = e->half_rotation * DB_DEGREE;
        db_cross(e->axis, g, across);
        db_apply(offset, across, line);
        come_near(line, -most, most, at);
    }
}

enum { CORNERS = 8 }; /* of a cell */

/* Coordinates of the corners of a cell, in widths from a spot. */
typedef struct corners {
    double at[3][CORNERS];
} corners;

static double determinant(const double m[9]) {
    double cofactors[9];
    return fabs(db_cofactors(m, cofactors));
}

int db_evidence_nodes_of(const db_evidence *e, const double lattice[9], db_evidence_nodes *nodes) {
    const double *const a = e->axis;
    const double across[9] = { 0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0 };
    memcpy(nodes->lattice, lattice, sizeof nodes->lattice);
    db_multiply(across, lattice, nodes->turned);
    nodes->cell = determinant(lattice);
    return db_invert(lattice, nodes->to_index);
}

/* What is linear in indices, from its value at the first corner. */
static inline void spread_corners(const double slope[9], const double first[3], corners *to) {
    static const double next[3][CORNERS] = { { 0, 1, 0, 1, 0, 1, 0, 1 },
                                             { 0, 0, 1, 1, 0, 0, 1, 1 },
                                             { 0, 0, 0, 0, 1, 1, 1, 1 } };
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < CORNERS; c++)
            to->at[k][c] = first[k] + slope[3 * k] * next[0][c] + slope[3 * k + 1] * next[1][c] +
                           slope[3 * k + 2] * next[2][c];
}

static inline double clamped(double x, double least, double most) {
    return x < least ? least : x > most ? most : x;
}

/* come_near for all corners, along lines that are linear in indices. */
static inline void come_near_all(const double slope[9], const double first[3], double least,
                                 double most, corners *to) {
    const double none = 1e-300; /* squared length: the node 0 has no line */
    double start[3];
    corners line;
    db_apply(slope, first, start);
    spread_corners(slope, start, &line);
    for (int c = 0; c < CORNERS; c++) {
        const double x = line.at[0][c], y = line.at[1][c], z = line.at[2][c],
                     along = x * to->at[0][c] + y * to->at[1][c] + z * to->at[2][c],
                     by = clamped(-along / (x * x + y * y + z * z + none), least, most);
        to->at[0][c] += by * x;
        to->at[1][c] += by * y;
        to->at[2][c] += by * z;
    }
}

/* The corners of the cell that a spot is in, where spectrum and rotation record them nearest to it. */
static inline void place_corners(const db_evidence *e, const db_evidence_spot *s,
                                 const db_evidence_nodes *nodes, const db_evidence_width *w,
                                 corners *to) {
    double offset[9], edges[9], index[3], first[3], within[3];
    in_widths(s, w, offset);
    db_multiply(offset, nodes->lattice, edges);
    db_apply(nodes->to_index, s->q, index);
    for (int i = 0; i < 3; i++) {
        first[i] = floor(index[i]);
        index[i] -= first[i];
    }
    db_apply(edges, index, within);
    for (int k = 0; k < 3; k++)
        within[k] = s->shifted[k] / (k < 2 ? w->place : w->turn) - within[k];
    spread_corners(edges, within, to);
    if (e->wave_number[1] > e->wave_number[0]) {
        const double central = db_length(e->s0);
        come_near_all(edges, first, central / e->wave_number[1] - 1,
                      central / e->wave_number[0] - 1, to);
    }
    if (e->half_rotation > 0) {
        double turned[9];
        db_multiply(offset, nodes->turned, turned);
        come_near_all(turned, first, -e->half_rotation * DB_DEGREE, e->half_rotation * DB_DEGREE,
                      to);
    }
}

static inline void squares_of(const corners *from, double square[CORNERS]) {
    for (int c = 0; c < CORNERS; c++)
        square[c] = from->at[0][c] * from->at[0][c] + from->at[1][c] * from->at[1][c] +
                    from->at[2][c] * from->at[2][c];
}

static inline double smaller_of(double a, double b) { return a < b ? a : b; }

/* Square of the distance of the node that is nearest to a spot, in widths. */
static double nearest_square(const db_evidence *e, const db_evidence_spot *s,
                             const db_evidence_nodes *nodes, const db_evidence_width *w) {
    corners all;
    double square[CORNERS];
    place_corners(e, s, nodes, w, &all);
    squares_of(&all, square);
    for (int count = CORNERS / 2; count > 0; count /= 2)
        for (int c = 0; c < count; c++) square[c] = smaller_of(square[c], square[count + c]);
    return square[0];
}

/* The corner that is nearest to a spot, and the square of its distance in widths. */
static int nearest_corner(const corners *all, double *least) {
    double square[CORNERS];
    int nearest = 0;
    squares_of(all, square);
    for (int c = 1; c < CORNERS; c++)
        if (square[c] < square[nearest]) nearest = c;
    *least = square[nearest];
    return nearest;
}

/* Square of the distance of the node that is nearest to a spot, in widths, and the place of the node. */
static double nearest_reflection(const db_evidence *e, const db_evidence_spot *s,
                                 const db_evidence_nodes *nodes, const db_evidence_width *w,
                                 double at[3]) {
    corners all;
    double square;
    place_corners(e, s, nodes, w, &all);
    const int nearest = nearest_corner(&all, &square);
    for (int k = 0; k < 3; k++) at[k] = all.at[k][nearest];
    return square;
}

void db_evidence_node(const db_evidence *e, const db_evidence_nodes *nodes, size_t spot,
                      int hkl[3]) {
    corners all;
    double index[3], square;
    place_corners(e, &e->spot[spot], nodes, &e->width[!db_evidence_half(spot)], &all);
    db_apply(nodes->to_index, e->spot[spot].q, index);
    const int nearest = nearest_corner(&all, &square);
    for (int i = 0; i < 3; i++) hkl[i] = (int)floor(index[i]) + (nearest >> i & 1);
}

/* Student's density of some numbers, at `square` from its middle, relative to spots at random places, whose
 * density is 1 in a cell of the lattice. Along the recorded lines of a node it is as high as in the middle. */
static double density_at(const db_evidence_spot *s, const db_evidence_width *w, double cell,
                         int numbers, double square) {
    const double peak = PEAK[numbers - 1] * cell * s->volume / (w->place * w->place * w->turn);
    double recorded = 0;
    for (int k = 0; k < DB_SWEEPS; k++) {
        const double *const line = s->sweep[k];
        recorded += sqrt((line[0] * line[0] + line[1] * line[1]) / (w->place * w->place) +
                         line[2] * line[2] / (w->turn * w->turn));
    }
    const double wide = 1 + square / FREEDOM, root = sqrt(wide);
    double power = 1;
    for (int n = 0; n < FREEDOM + numbers; n++) power *= root;
    return peak / (power * (1 + PEAK[0] * recorded));
}

void db_evidence_lattice(const db_evidence *e, const double lattice[9], int half, size_t count,
                         double *density) {
    const db_evidence_width *const w = &e->width[half];
    db_evidence_nodes nodes;
    if (!db_evidence_nodes_of(e, lattice, &nodes)) return;
    for (size_t i = 0; i < count; i++) {
        const double square = nearest_square(e, &e->spot[i], &nodes, w);
        density[i] = density_at(&e->spot[i], w, nodes.cell, 3, square);
    }
}

void db_evidence_rows(const db_evidence *e, int direction, int half, size_t count,
                      double *density) {
    const db_evidence_width *const w = &e->width[half];
    const double cell = determinant(e->lattice);
    double to_index[9];
    if (!db_invert(e->lattice, to_index)) return;
    for (size_t i = 0; i < count; i++) {
        const db_evidence_spot *const s = &e->spot[i];
        double offset[9], index[3], step[3], along[3], least = INFINITY;
        in_widths(s, w, offset);
        db_apply(to_index, s->q, index);
        for (int k = 0; k < 3; k++) step[k] = e->lattice[3 * k + direction];
        db_apply(offset, step, along);
        for (int corner = 0; corner < 4; corner++) {
            double node[3], g[3], apart[3], at[3];
            for (int k = 0, bit = 0; k < 3; k++)
                node[k] = k == direction ? index[k] : floor(index[k]) + (corner >> bit++ & 1);
            db_apply(e->lattice, node, g);
            for (int k = 0; k < 3; k++) apart[k] = g[k] - s->q[k];
            db_apply(offset, apart, at);
            for (int k = 0; k < 3; k++) at[k] += s->shifted[k] / (k < 2 ? w->place : w->turn);
            come_along(e, offset, g, at);
            const double part = db_dot(at, along) / db_length(along);
            least = fmin(least, fmax(0, db_dot(at, at) - part * part));
        }
        density[i] = density_at(s, w, cell, 2, least) / db_length(along);
    }
}

double db_evidence_weight(const db_evidence *e, const db_evidence_spot *s,
                          const db_evidence_nodes *nodes, const db_evidence_width *w, double at[3],
                          double *part) {
    const double square = nearest_reflection(e, s, nodes, w, at),
                 own = w->part * density_at(s, w, nodes->cell, 3, square);
    *part = own / (own + 1 - w->part);
    return *part * (FREEDOM + 3) / (FREEDOM + square);
}

static int has_settled(double before, double now) { return fabs(now - before) <= SETTLED * now; }

void db_evidence_fit(db_evidence *e, int half) {
    db_evidence_width *const w = &e->width[half];
    db_evidence_nodes nodes;
    double at[3], part;
    if (!db_evidence_nodes_of(e, e->lattice, &nodes)) return;
    for (int round = 0; round < ROUNDS; round++) {
        double parts = 0, place = 0, turn = 0, all = 0;
        for (size_t i = 0; i < e->judged; i++) {
            if (db_evidence_half(i) != half) continue;
            const double weight = db_evidence_weight(e, &e->spot[i], &nodes, w, at, &part);
            all++;
            parts += part;
            place += weight * (at[0] * at[0] + at[1] * at[1]) / 2;
            turn += weight * at[2] * at[2];
        }
        if (!(parts > 0)) return;
        const db_evidence_width before = *w;
        w->place = fmax(LEAST_PLACE, w->place * sqrt(place / parts));
        w->turn = fmax(LEAST_TURN, w->turn * sqrt(turn / parts));
        w->part = fmin(fmax(parts / all, LEAST_PART), 1 - LEAST_PART);
        if (has_settled(before.place, w->place) && has_settled(before.turn, w->turn) &&
            has_settled(before.part, w->part))
            break;
    }
    db_evidence_lattice(e, e->lattice, half, e->count, e->density[half]);
}

double db_evidence_part(const db_evidence *e, int half, const double *density, const double *beside,
                        double *other) {
    double part = 0.4, more = beside ? 0.3 : 0;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0, others = 0, all = 0;
        for (size_t i = 0; i < e->judged; i++) {
            if (db_evidence_half(i) != half) continue;
            const double one = part * density[i], two = beside ? more * beside[i] : 0;
            sum += one / (one + two + 1 - part - more);
            others += two / (one + two + 1 - part - more);
            all++;
        }
        const double most = fmin(1, (1 - LEAST_PART) * all / (sum + others)),
                     before[2] = { part, more };
        part = fmax(LEAST_PART, most * sum / all);
        more = beside ? fmax(LEAST_PART, most * others / all) : 0;
        if (has_settled(before[0], part) && has_settled(before[1], more)) break;
    }
    if (other) *other = more;
    return part;
}

double db_evidence_of_spot(const db_evidence *e, size_t spot) {
    const int half = !db_evidence_half(spot);
    const double part = e->width[half].part;
    return log(part * e->density[half][spot] + 1 - part);
}

int db_evidence_is_at(const db_evidence *e, size_t spot) {
    const int half = !db_evidence_half(spot);
    const double part = e->width[half].part;
    return part * e->density[half][spot] > 1 - part;
}

/* Coordinates of differences of scattering vectors: pixels, and the rotation (degree) that moves a node by the
 * difference, about the axis across the beam and the vector. */
static db_evidence_spot spot_of(const db_fit_geometry *g, const db_evidence *e,
                                const db_observed_spot *seen) {
    db_evidence_spot s = { .volume = 0 };
    double columns[9], ahead[3], s1[3];
    db_fit_geometry_scattering(g, seen->panel, seen->position, s.q);
    for (int a = 0; a < 2; a++) {
        const double next[2] = { seen->position[0] + (a == 0), seen->position[1] + (a == 1) };
        db_fit_geometry_scattering(g, seen->panel, next, ahead);
        for (int i = 0; i < 3; i++) columns[3 * i + a] = ahead[i] - s.q[i];
    }
    const double along = db_dot(s.q, g->direction),
                 across = sqrt(fmax(0, db_dot(s.q, s.q) - along * along));
    for (int i = 0; i < 3; i++) s1[i] = s.q[i] + g->s0[i];
    const double scale = across * DB_DEGREE / db_length(s1);
    for (int i = 0; i < 3; i++) columns[3 * i + 2] = scale * s1[i];
    if (!db_invert(columns, s.offset)) return (db_evidence_spot){ .volume = 0 };
    s.volume = determinant(s.offset);
    double turned[3];
    db_cross(e->axis, s.q, turned);
    db_apply(s.offset, turned, s.sweep[0]);
    db_apply(s.offset, s.q, s.sweep[1]);
    const double range[DB_SWEEPS] = { 2 * e->half_rotation * DB_DEGREE,
                                      (e->wave_number[1] - e->wave_number[0]) / db_length(e->s0) };
    for (int k = 0; k < DB_SWEEPS; k++)
        for (int i = 0; i < 3; i++) s.sweep[k][i] *= range[k];
    return s;
}

static void take(const db_fit_geometry *g, const db_experiment *model,
                 const db_observed_spots *spots, db_evidence *e) {
    memcpy(e->lattice, g->a_star, sizeof e->lattice);
    memcpy(e->s0, g->s0, sizeof e->s0);
    db_experiment_spindle_axis(model, e->axis);
    e->half_rotation = g->half_rotation;
    memcpy(e->wave_number, g->wave_number, sizeof e->wave_number);
    for (size_t i = 0; i < spots->count; i++) e->spot[i] = spot_of(g, e, &spots->spot[i]);
    e->count = spots->count;
    e->judged = e->count < DB_MOST_JUDGED ? e->count : DB_MOST_JUDGED;
    double length = 0;
    for (size_t i = 0; i < e->judged; i++) length += db_length(e->spot[i].q) / (double)e->judged;
    e->node_turn = length > 0 ? hypot(g->mosaic_angle, g->node_width / length / DB_DEGREE) : 0;
    for (int half = 0; half < DB_HALVES; half++) {
        e->width[half] = FIRST;
        db_evidence_fit(e, half);
    }
}

db_status db_evidence_make(db_context *context, const db_experiment *model,
                           const db_observed_spots *spots, db_evidence *e) {
    db_fit_geometry geometry;
    *e = (db_evidence){ 0 };
    DB_TRY(db_fit_geometry_of(context, model, &geometry));
    e->spot = calloc(spots->count + 1, sizeof *e->spot);
    e->density[0] = calloc(DB_HALVES * spots->count + 1, sizeof *e->density[0]);
    if (e->spot && e->density[0]) {
        e->density[1] = e->density[0] + spots->count;
        take(&geometry, model, spots, e);
    }
    db_fit_geometry_clear(&geometry);
    if (e->density[1]) return DB_OK;
    db_evidence_clear(e);
    return db_fail_memory(context, "the likelihood of spots");
}

db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots) {
    db_fit_geometry geometry;
    size_t count = 0;
    DB_TRY(db_observed_spots_divide(context, data->image, data->strong, data->settings, spots));
    const db_status status = db_fit_geometry_of(context, model, &geometry);
    if (status != DB_OK) {
        db_observed_spots_clear(spots);
        return status;
    }
    for (size_t i = 0; i < spots->count; i++)
        if (db_fit_geometry_is_wanted(&geometry, data->settings, spots->spot[i].panel,
                                      spots->spot[i].position))
            spots->spot[count++] = spots->spot[i];
    db_fit_geometry_clear(&geometry);
    spots->count = count;
    db_observed_spots_sort(spots);
    return DB_OK;
}
