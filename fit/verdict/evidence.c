#include "fit/verdict/evidence.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/threads.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"
#include "fit/verdict/spot_blocks.h"

#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void db_evidence_node(const db_evidence *e, const db_evidence_nodes *nodes, size_t spot,
                      int hkl[3]) {
    db_spot_block block;
    double index[3], square[DB_SPOT_BLOCK], at[3][DB_SPOT_BLOCK], corner[DB_SPOT_BLOCK];
    db_spot_block_take(e, &e->width[!db_evidence_half(spot)], &spot, 1, &block);
    db_spot_block_calls_of(e->isa)->nearest(e, nodes, &block, square, at, corner);
    db_apply(nodes->to_index, e->spot[spot].q, index);
    for (int i = 0; i < 3; i++) hkl[i] = (int)floor(index[i]) + ((int)corner[0] >> i & 1);
}

void db_evidence_lattice(const db_evidence *e, const double lattice[9], int half, size_t count,
                         double *density) {
    db_evidence_nodes nodes;
    if (!db_evidence_nodes_of(e, lattice, &nodes)) return;
    for (size_t i = 0; i < count; i += DB_SPOT_BLOCK) {
        double square[DB_SPOT_BLOCK], found[DB_SPOT_BLOCK];
        db_spot_block block;
        const size_t listed = db_spot_block_take_run(e, &e->width[half], i, 1, count, &block);
        db_spot_block_calls_of(e->isa)->nearest(e, &nodes, &block, square, NULL, NULL);
        db_spot_block_calls_of(e->isa)->density(&block, &e->width[half], nodes.cell, 3, square,
                                                found);
        memcpy(density + i, found, listed * sizeof *found);
    }
}

/* Square of the distance of a spot from the nearest row of the lattice, and the length of a step along it, in widths. */
static double nearest_row(const db_evidence *e, const db_evidence_spot *s,
                          const db_evidence_width *w, const double to_index[9], int direction,
                          double *length) {
    double offset[9], index[3], step[3], along[3], least = INFINITY;
    in_widths(s, w, offset);
    db_apply(to_index, s->q, index);
    for (int k = 0; k < 3; k++) step[k] = e->lattice[3 * k + direction];
    db_apply(offset, step, along);
    *length = db_length(along);
    for (int corner = 0; corner < 4; corner++) {
        double node[3], g[3], apart[3], at[3];
        for (int k = 0, bit = 0; k < 3; k++)
            node[k] = k == direction ? index[k] : floor(index[k]) + (corner >> bit++ & 1);
        db_apply(e->lattice, node, g);
        for (int k = 0; k < 3; k++) apart[k] = g[k] - s->q[k];
        db_apply(offset, apart, at);
        for (int k = 0; k < 3; k++) at[k] += s->shifted[k] / (k < 2 ? w->place : w->turn);
        come_along(e, offset, g, at);
        const double part = db_dot(at, along) / *length;
        least = fmin(least, fmax(0, db_dot(at, at) - part * part));
    }
    return least;
}

void db_evidence_rows(const db_evidence *e, int direction, int half, size_t count,
                      double *density) {
    const db_evidence_width *const w = &e->width[half];
    const double cell = determinant(e->lattice);
    double to_index[9];
    if (!db_invert(e->lattice, to_index)) return;
    for (size_t i = 0; i < count; i += DB_SPOT_BLOCK) {
        double square[DB_SPOT_BLOCK] = { 0 }, length[DB_SPOT_BLOCK], found[DB_SPOT_BLOCK];
        db_spot_block block;
        const size_t listed = db_spot_block_take_run(e, w, i, 1, count, &block);
        for (size_t k = 0; k < listed; k++)
            square[k] = nearest_row(e, &e->spot[i + k], w, to_index, direction, &length[k]);
        db_spot_block_calls_of(e->isa)->density(&block, w, cell, 2, square, found);
        for (size_t k = 0; k < listed; k++) density[i + k] = found[k] / length[k];
    }
}

static int has_settled(double before, double now) { return fabs(now - before) <= SETTLED * now; }

/* A round of the fit: sums over the spots of a half, weighed with the present widths. */
typedef struct width_sums {
    double parts, place, turn, all;
    double places,
        turns; /* of parts, as far as spots tell a width: along a recorded line only those beyond its ends do */
} width_sums;

/* What part of the squares of a spot's coordinates (two places, turn) its width makes: a node records a line, within which a spot has
 * the coordinate 0. recorded: 1 + the length of its lines, in widths. */
static void told_by_spot(const db_evidence_spot *s, const db_evidence_width *w, double recorded,
                         double *places, double *turns) {
    double turn = 0, all = 0;
    for (int k = 0; k < DB_SWEEPS; k++) {
        const double *const line = s->sweep[k];
        turn += line[2] * line[2] / (w->turn * w->turn);
        all += (line[0] * line[0] + line[1] * line[1]) / (w->place * w->place);
    }
    all += turn;
    const double share = all > 0 ? turn / all : 0, hidden = 1 - 1 / recorded;
    *turns = 1 - share * hidden;
    *places = (2 - (1 - share) * hidden) / 2;
}

static width_sums sum_widths(const db_evidence *e, const db_evidence_nodes *nodes, int half) {
    const db_evidence_width *const w = &e->width[half];
    width_sums sums = { 0 };
    for (size_t i = (size_t)half; i < e->judged; i += DB_HALVES * DB_SPOT_BLOCK) {
        db_spot_block block;
        db_spot_weights found;
        const size_t listed = db_spot_block_take_run(e, w, i, DB_HALVES, e->judged, &block);
        db_spot_block_calls_of(e->isa)->weigh(e, nodes, w, &block, &found);
        for (size_t k = 0; k < listed; k++) {
            const double at[3] = { found.at[0][k], found.at[1][k], found.at[2][k] };
            sums.all++;
            double places, turns;
            told_by_spot(&e->spot[i + DB_HALVES * k], w, block.recorded[k], &places, &turns);
            sums.parts += found.part[k];
            sums.places += places * found.part[k];
            sums.turns += turns * found.part[k];
            sums.place += found.weight[k] * (at[0] * at[0] + at[1] * at[1]) / 2;
            sums.turn += found.weight[k] * at[2] * at[2];
        }
    }
    return sums;
}

int db_evidence_fit_widths(db_evidence *e, int half) {
    db_evidence_width *const w = &e->width[half];
    db_evidence_nodes nodes;
    if (!db_evidence_nodes_of(e, e->lattice, &nodes)) return 0;
    for (int round = 0; round < ROUNDS; round++) {
        const width_sums sums = sum_widths(e, &nodes, half);
        if (!(sums.parts > 0)) return 0;
        const db_evidence_width before = *w;
        w->place = fmax(LEAST_PLACE, w->place * sqrt(sums.place / sums.places));
        w->turn = fmax(LEAST_TURN, w->turn * sqrt(sums.turn / sums.turns));
        w->part = fmin(fmax(sums.parts / sums.all, LEAST_PART), 1 - LEAST_PART);
        if (has_settled(before.place, w->place) && has_settled(before.turn, w->turn) &&
            has_settled(before.part, w->part))
            break;
    }
    return 1;
}

void db_evidence_fit(db_evidence *e, int half) {
    if (db_evidence_fit_widths(e, half))
        db_evidence_lattice(e, e->lattice, half, e->count, e->density[half]);
}

/* A number of each half, side by side. */
typedef double pair __attribute__((vector_size(DB_HALVES * sizeof(double))));

/* The spots of a half that each of two kinds of spots has made, by their parts so far. */
typedef struct made_spots {
    pair one, other;
} made_spots;

static made_spots count_made(size_t judged, const double *density, const double *beside, pair part,
                             pair more) {
    made_spots sum = { { 0 }, { 0 } };
    for (size_t i = 0; i < judged; i += DB_HALVES) {
        pair one, two = { 0 };
        memcpy(&one, density + i, sizeof one);
        one *= part;
        if (beside) {
            memcpy(&two, beside + i, sizeof two);
            two *= more;
        }
        const pair all = one + two + 1 - part - more;
        sum.one += one / all;
        if (beside) sum.other += two / all;
    }
    return sum;
}

void db_evidence_parts(size_t judged, const double *density, const double *beside,
                       double part[DB_HALVES], double other[DB_HALVES]) {
    int is_open[DB_HALVES] = { 1, 1 };
    for (int half = 0; half < DB_HALVES; half++) {
        part[half] = 0.4;
        other[half] = beside ? 0.3 : 0;
    }
    for (int round = 0; round < ROUNDS && (is_open[0] || is_open[1]); round++) {
        const made_spots made = count_made(judged, density, beside, (pair){ part[0], part[1] },
                                           (pair){ other[0], other[1] });
        for (int half = 0; half < DB_HALVES; half++) {
            if (!is_open[half]) continue;
            const size_t held = (judged + 1 - (size_t)half) / DB_HALVES;
            const double all = (double)held,
                         most =
                             fmin(1, (1 - LEAST_PART) * all / (made.one[half] + made.other[half])),
                         before[2] = { part[half], other[half] };
            part[half] = fmax(LEAST_PART, most * made.one[half] / all);
            other[half] = beside ? fmax(LEAST_PART, most * made.other[half] / all) : 0;
            is_open[half] =
                !(has_settled(before[0], part[half]) && has_settled(before[1], other[half]));
        }
    }
}

double db_evidence_of_spot(const db_evidence *e, size_t spot) {
    const int half = !db_evidence_half(spot);
    const double part = e->width[half].part;
    return log(part * e->density[half][spot] + 1 - part);
}

double db_margin_over_none(const db_evidence *e) {
    double sum = 0;
    for (size_t i = 0; i < e->judged; i++) sum += db_evidence_of_spot(e, i);
    return sum;
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

static void fit_halves(const db_context *context, db_evidence *e) {
#if defined(_OPENMP)
    const double round_ns = 50; /* of a spot */
    const int halves =
        db_threads_worth(context, DB_HALVES, ROUNDS * round_ns * (double)e->count / DB_HALVES);
#pragma omp parallel for num_threads(halves) if (halves > 1)
#else
    (void)context;
#endif
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(e, half);
}

static void take(const db_context *context, const db_fit_geometry *g, const db_experiment *model,
                 const db_observed_spots *spots, db_evidence *e) {
    memcpy(e->lattice, g->a_star, sizeof e->lattice);
    memcpy(e->s0, g->s0, sizeof e->s0);
    db_experiment_spindle_axis(model, e->axis);
    e->half_rotation = g->half_rotation;
    memcpy(e->wave_number, g->wave_number, sizeof e->wave_number);
#if defined(_OPENMP)
    const double spot_ns = 2000;
    const int threads = db_threads_worth(context, (long)spots->count, spot_ns);
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (size_t i = 0; i < spots->count; i++) e->spot[i] = spot_of(g, e, &spots->spot[i]);
    e->count = spots->count;
    e->judged = e->count < DB_MOST_JUDGED ? e->count : DB_MOST_JUDGED;
    double length = 0;
    for (size_t i = 0; i < e->judged; i++) length += db_length(e->spot[i].q) / (double)e->judged;
    e->node_turn = length > 0 ? hypot(g->mosaic_angle, g->node_width / length / DB_DEGREE) : 0;
    for (int half = 0; half < DB_HALVES; half++) e->width[half] = FIRST;
    fit_halves(context, e);
}

db_status db_evidence_make(db_context *context, const db_experiment *model,
                           const db_observed_spots *spots, db_evidence *e) {
    db_fit_geometry geometry;
    *e = (db_evidence){ .isa = context->isa };
    DB_TRY(db_fit_geometry_of(context, model, &geometry));
    e->spot = calloc(spots->count + 1, sizeof *e->spot);
    e->density[0] = calloc(DB_HALVES * spots->count + 1, sizeof *e->density[0]);
    if (e->spot && e->density[0]) {
        e->density[1] = e->density[0] + spots->count;
        take(context, &geometry, model, spots, e);
    }
    db_fit_geometry_clear(&geometry);
    if (e->density[1]) return DB_OK;
    db_evidence_clear(e);
    return db_fail_memory(context, "the likelihood of spots");
}

/* With this thickness of nodes (1/angstrom) beside spreads of angles, turns are those of far nodes. */
static void thicken_by(db_evidence *e, double thickness) {
    for (size_t i = 0; i < e->count; i++) {
        db_evidence_spot *const s = &e->spot[i];
        double across[3];
        db_cross(e->s0, s->q, across);
        const double length = db_length(across) / db_length(e->s0),
                     by = length / hypot(length, thickness);
        for (int k = 0; k < 3; k++) s->offset[6 + k] *= by;
        for (int k = 0; k < DB_SWEEPS; k++) s->sweep[k][2] *= by;
        s->volume *= by;
    }
}

/* Finds the likeliest thickness among multiples of the mean length of scattering vectors. As a further parameter it must
 * raise the log likelihood by half the ln of the number of spots (G. Schwarz, see verdict.c). other: room for the judged
 * spots. */
static void find_thickness(const db_context *context, db_evidence *e, db_evidence *other) {
    const double first = 0.125, most = 4, none = db_margin_over_none(e);
    double mean = 0, best = none, found = 0;
    db_evidence_width width[DB_HALVES] = { { 0 } };
    for (size_t i = 0; i < e->judged; i++) mean += db_length(e->spot[i].q) / (double)e->judged;
    for (double times = first; times <= most; times *= 2) {
        memcpy(other->spot, e->spot, e->judged * sizeof *e->spot);
        thicken_by(other, times * mean);
        fit_halves(context, other);
        const double likelihood = db_margin_over_none(other);
        if (!(likelihood > best)) break;
        best = likelihood;
        found = times * mean;
        memcpy(width, other->width, sizeof width);
    }
    if (!(best - none > fmax(0, 0.5 * log((double)e->judged)))) return;
    thicken_by(e, found);
    memcpy(e->width, width, sizeof width);
    for (int half = 0; half < DB_HALVES; half++)
        db_evidence_lattice(e, e->lattice, half, e->count, e->density[half]);
}

db_status db_evidence_thicken(db_context *context, db_evidence *e) {
    db_evidence other = *e;
    other.count = e->judged;
    other.spot = malloc((e->judged + 1) * sizeof *other.spot);
    other.density[0] = calloc(DB_HALVES * e->judged + 1, sizeof *other.density[0]);
    const db_status status =
        db_need_memory(context, other.spot && other.density[0], "the likelihood of spots");
    if (status == DB_OK) {
        other.density[1] = other.density[0] + e->judged;
        find_thickness(context, e, &other);
        e->is_thick = 1;
    }
    db_evidence_clear(&other);
    return status;
}

db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots) {
    db_fit_geometry geometry;
    size_t count = 0;
    DB_TRY(db_observed_spots_find(context, data->image, data->strong, data->settings, spots));
    const db_status status = db_fit_geometry_of(context, model, &geometry);
    if (status != DB_OK) {
        db_observed_spots_clear(spots);
        return status;
    }
    for (size_t i = 0; i < spots->count; i++)
        if (!spots->spot[i].is_cut &&
            db_fit_geometry_is_wanted(&geometry, data->settings, spots->spot[i].panel,
                                      spots->spot[i].position))
            spots->spot[count++] = spots->spot[i];
    db_fit_geometry_clear(&geometry);
    spots->count = count;
    db_observed_spots_sort(spots);
    return DB_OK;
}
