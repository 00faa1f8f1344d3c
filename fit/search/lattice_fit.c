/* Least squares of q = A h over spots near nodes. A is the reciprocal basis: its nine numbers, or three of a turn
 * and the free constants of a tied cell; and the two numbers of the beam. */
#include "fit/search/lattice_fit.h"

#include "base/cell_constants.h"
#include "base/degree.h"
#include "base/quantile.h"
#include "fit/search/moments.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <string.h>

enum {
    BEAM = 2,
    DISTANCE = 2,     /* its number, after those of the beam */
    PLACE = 5,        /* numbers: of beam, distance and tilts */
    MOST = 9 + PLACE, /* numbers of place and basis */
    FEWEST = 8        /* fewest spots near nodes */
};
static const double angles[] = {
    0.8, 0.8, 0.6, 0.45, 0.35, DB_LATTICE_ANGLE, DB_LATTICE_ANGLE, DB_LATTICE_ANGLE
};
/* Standard deviations: pixels; part of the distance, of the whole detector and 1000 pixels from the beam. */
static const double likely[PLACE] = { 5, 5, 0.01, 0.01, 0.01 };
static const double TILT_AT = 1000; /* pixels */

double db_lattice_volume(const double real[9]) {
    double across[3];
    db_cross(real, real + 3, across);
    return db_dot(across, real + 6);
}

void db_lattice_rows(const double cell[6], double real[9]) {
    db_crystal crystal = { .orientation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    double a_star[9], rows[9];
    memcpy(crystal.cell, cell, sizeof crystal.cell);
    db_crystal_matrix(&crystal, a_star);
    db_transpose(a_star, rows);
    (void)db_dual_basis(rows, real);
}

/* Prepares a lattice; 0: its rows are in a plane. */
static int place_of(const db_lattice *lattice, db_search_lattice *cell, db_search_pose *pose) {
    *pose = (db_search_pose){ .turn = { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
                              .scale = 1,
                              .beam = { lattice->beam[0], lattice->beam[1] },
                              .distance = lattice->distance };
    memcpy(cell->real, lattice->real, sizeof cell->real);
    cell->volume = fabs(db_lattice_volume(lattice->real));
    return db_invert(lattice->real, cell->a_star);
}

db_agreement db_lattice_agreement(const db_lattice *lattice, double angle,
                                  const db_search_spot *spots, size_t count, unsigned char *near) {
    db_search_lattice cell;
    db_search_pose pose;
    if (!place_of(lattice, &cell, &pose)) return (db_agreement){ 0 };
    return db_search_agreement(&cell, &pose, 1, angle, spots, count, near);
}

/* Vector from the node of a spot to the spot. */
static void off_node(const db_search_lattice *cell, const double q[3], double off[3]) {
    double node[3];
    (void)db_search_nearest(cell->a_star, cell->real, q, node);
    for (int i = 0; i < 3; i++) off[i] = q[i] - node[i];
}

double db_lattice_row_probability(const db_lattice *lattice, double angle,
                                  const db_search_spot *spots, size_t count) {
    db_search_lattice cell;
    db_search_pose pose;
    double highest = -INFINITY;
    if (!place_of(lattice, &cell, &pose)) return 0;
    for (int k = 0; k < 3; k++) {
        const double along[3] = { cell.a_star[k], cell.a_star[3 + k], cell.a_star[6 + k] },
                     apart = db_length(along);
        db_agreement a = { 0 };
        for (size_t n = 0; n < count; n++) {
            const double limit = db_search_tolerance(&spots[n], angle);
            double q[3], off[3], from_row[3];
            db_search_spot_at(&pose, &spots[n], q);
            off_node(&cell, q, off);
            for (int i = 0; i < 3; i++)
                from_row[i] = off[i] - db_dot(off, along) / (apart * apart) * along[i];
            if (db_length(from_row) >= limit) continue;
            a.count++;
            a.near += db_length(off) < limit;
            a.by_chance += fmin(1, 4 * limit / (3 * apart));
        }
        highest = fmax(highest, db_agreement_log_probability(&a));
    }
    return highest;
}

typedef struct least_squares {
    int count;
    double normal[MOST * MOST], right[MOST];
} least_squares;

static void add_row(least_squares *s, const double slope[MOST], double value, double weight) {
    for (int i = 0; i < s->count; i++) {
        s->right[i] += weight * slope[i] * value;
        for (int j = 0; j < s->count; j++)
            s->normal[s->count * i + j] += weight * slope[i] * slope[j];
    }
}

/* Solves for all numbers, in `right`. 0: they are not all determined. */
static int solve_scaled(least_squares *s) {
    const int n = s->count;
    double size[MOST], tau[MOST];
    for (int i = 0; i < n; i++) {
        size[i] = sqrt(s->normal[n * i + i]);
        if (!(size[i] > 0)) return 0;
    }
    for (int i = 0; i < n; i++) {
        s->right[i] /= size[i];
        for (int j = 0; j < n; j++) s->normal[n * i + j] /= size[i] * size[j];
    }
    gsl_matrix_view m = gsl_matrix_view_array(s->normal, (size_t)n, (size_t)n);
    gsl_vector_view t = gsl_vector_view_array(tau, (size_t)n),
                    v = gsl_vector_view_array(s->right, (size_t)n);
    gsl_linalg_QR_decomp(&m.matrix, &t.vector);
    for (int i = 0; i < n; i++)
        if (!(fabs(s->normal[n * i + i]) > 1e-12)) return 0;
    gsl_linalg_QR_svx(&m.matrix, &t.vector, &v.vector);
    for (int i = 0; i < n; i++) s->right[i] /= size[i];
    return 1;
}

/* Numbers of a lattice by their changes of the reciprocal basis, and numbers of its place. */
typedef struct numbers {
    int basis, place; /* their counts */
    double slopes[9][9];
} numbers;

/* Widths of spots about their nodes: on the detector (pixels), and of the turn that brings a node onto the Ewald sphere
 * (degree). Spots have Student's distribution. */
typedef struct lattice_widths {
    double place, turn;
} lattice_widths;
static const lattice_widths first_widths = { 1.5, DB_LATTICE_ANGLE }, least_widths = { 0.05, 0.02 };
/* Tolerance of rounds with widths, degree: wide enough that no width is cut. */
static const double wide_angle = 0.6;

/* Variables and spots of a fit. near: marks of spots, room for `count`. */
typedef struct fitted {
    db_lattice *lattice;
    const db_search_spot *spots;
    size_t count;
    unsigned char *near;
    int distance_known;
    lattice_widths *width; /* NULL: spots count by their tolerances, alike in all directions */
} fitted;

/* Coordinates of differences of scattering vectors at a spot: pixels that the beam moves, and degrees. */
static int coordinates_at(const db_search_spot *spot, double to[9]) {
    double across[3], columns[9];
    db_cross(spot->by_beam[0], spot->by_beam[1], across);
    const double length = db_length(across), degree = spot->length * DB_DEGREE;
    for (int i = 0; i < 3; i++) {
        for (int d = 0; d < BEAM; d++) columns[3 * i + d] = spot->by_beam[d][i];
        columns[3 * i + 2] = length > 0 ? across[i] / length * degree : 0;
    }
    return db_invert(columns, to);
}

/* Slopes of a spot's scattering vector by two tilts, which make the detector farther on one side. */
static void slopes_of_tilts(const db_search_spot *spot, const double to[9], double by[2][3]) {
    double at[3];
    db_apply(to, spot->by_distance, at); /* pixels from the beam */
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 3; i++) by[d][i] = at[d] / TILT_AT * spot->by_distance[i];
}

/* Squares of a spot's coordinates from its node: of its place (pixels), and of the turn (degree). */
static lattice_widths squares_of(const double off[3], const double to[9]) {
    double at[3];
    db_apply(to, off, at);
    return (lattice_widths){ at[0] * at[0] + at[1] * at[1], at[2] * at[2] };
}

/* Square of a spot's distance from its node in widths. */
static double square_in(const lattice_widths *width, const lattice_widths *square) {
    return square->place / (width->place * width->place) +
           square->turn / (width->turn * width->turn);
}

/* Takes the coordinates of a spot from its node in their widths, and its weight. sums: of weighted squares. */
static double weigh_spot(const lattice_widths *width, const double off[3], double to[9],
                         lattice_widths *sums) {
    const lattice_widths square = squares_of(off, to);
    const double weight =
        (DB_STUDENT_FREEDOM + 3) / (DB_STUDENT_FREEDOM + square_in(width, &square));
    sums->place += weight * square.place / 2;
    sums->turn += weight * square.turn;
    for (int i = 0; i < 9; i++) to[i] /= i < 6 ? width->place : width->turn;
    return weight;
}

/* A spot's scattering vector with the beam, distance and tilts of a lattice, and its coordinates. 0: it has none. */
static int place_spot(const db_lattice *lattice, const db_search_pose *pose,
                      const db_search_spot *spot, double to[9], double tilts[2][3], double q[3]) {
    db_search_spot_at(pose, spot, q);
    if (!coordinates_at(spot, to)) return 0;
    slopes_of_tilts(spot, to, tilts);
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 2; d++) q[i] += lattice->tilt[d] * tilts[d][i];
    return 1;
}

/* Adds a spot near a node. limit: its tolerance, which is its width in rounds without widths; those have no tilts. */
static void add_spot(const fitted *f, const numbers *n, const db_search_lattice *cell,
                     const db_search_pose *pose, const db_search_spot *spot, double limit,
                     least_squares *s, lattice_widths *sums) {
    double q[3], h[3], off[3], to[9] = { 0 }, tilts[2][3] = { { 0 } }, change[MOST][3] = { { 0 } },
                               slope[3][MOST], weight = 1;
    const double *const by[PLACE] = { spot->by_beam[0], spot->by_beam[1], spot->by_distance,
                                      tilts[0], tilts[1] };
    if (!f->width)
        db_search_spot_at(pose, spot, q);
    else if (!place_spot(f->lattice, pose, spot, to, tilts, q))
        return;
    off_node(cell, q, off);
    db_apply(cell->real, q, h);
    for (int i = 0; i < 3; i++) h[i] = rint(h[i]);
    for (int k = 0; k < n->basis; k++) db_apply(n->slopes[k], h, change[k]);
    for (int d = 0; d < n->place; d++)
        for (int i = 0; i < 3; i++) change[n->basis + d][i] = -by[d][i];
    if (f->width) {
        weight = weigh_spot(f->width, off, to, sums);
        db_apply(to, off, off);
        for (int k = 0; k < s->count; k++) db_apply(to, change[k], change[k]);
    } else
        weight = 1 / (limit * limit);
    for (int k = 0; k < s->count; k++)
        for (int i = 0; i < 3; i++) slope[i][k] = change[k][i];
    for (int i = 0; i < 3; i++) add_row(s, slope[i], off[i], weight);
}

/* Changes of the numbers that bring nodes nearest to their spots. 0: too few spots. */
static int best_step(const fitted *f, const numbers *n, double angle, double step[MOST]) {
    least_squares s = { .count = n->basis + n->place };
    lattice_widths sums = { 0, 0 };
    db_lattice *const lattice = f->lattice;
    const double used =
                     (double)db_lattice_agreement(lattice, angle, f->spots, f->count, f->near).near,
                 from[PLACE] = { lattice->beam[0], lattice->beam[1], lattice->distance,
                                 lattice->tilt[0], lattice->tilt[1] };
    db_search_lattice cell;
    db_search_pose pose;
    if (used < FEWEST || !place_of(lattice, &cell, &pose)) return 0;
    for (int d = 0; d < n->place; d++) {
        const double held = 1e-9, sigma = d == DISTANCE && f->distance_known ? held : likely[d];
        s.normal[(s.count + 1) * (n->basis + d)] = 1 / (sigma * sigma);
        s.right[n->basis + d] = -from[d] / (sigma * sigma);
    }
    for (size_t i = 0; i < f->count; i++)
        if (f->near[i])
            add_spot(f, n, &cell, &pose, &f->spots[i], db_search_tolerance(&f->spots[i], angle), &s,
                     &sums);
    if (f->width) {
        f->width->place = fmax(least_widths.place, sqrt(sums.place / used));
        f->width->turn = fmax(least_widths.turn, sqrt(sums.turn / used));
    }
    const int solved = solve_scaled(&s);
    memcpy(step, s.right, sizeof s.right);
    return solved;
}

static void move_place(db_lattice *lattice, const numbers *n, const double step[MOST]) {
    double *const place[PLACE] = { &lattice->beam[0], &lattice->beam[1], &lattice->distance,
                                   &lattice->tilt[0], &lattice->tilt[1] };
    for (int d = 0; d < n->place; d++) *place[d] += step[n->basis + d];
}

void db_lattice_fit(db_lattice *lattice, const db_search_spot *spots, size_t count,
                    unsigned char *near) {
    const fitted f = { lattice, spots, count, near, 1, NULL };
    numbers n = { .basis = 9, .place = BEAM };
    double step[MOST], a_star[9];
    for (int k = 0; k < 9; k++) n.slopes[k][k] = 1;
    for (size_t r = 0; r < sizeof angles / sizeof *angles; r++) {
        if (!db_invert(lattice->real, a_star) || !best_step(&f, &n, angles[r], step)) return;
        for (int k = 0; k < 9; k++) a_star[k] += step[k];
        if (!db_invert(a_star, lattice->real)) return;
        move_place(lattice, &n, step);
    }
}

/* A cell with ties, turned. */
typedef struct tied {
    const db_cell_ties *ties;
    double cell[6], turn[9], from_edges[9]; /* the lattice's rows from the cell's */
} tied;

static void rows_of(const tied *t, double real[9]) {
    double standard[9], back[9], turned[9];
    db_lattice_rows(t->cell, standard);
    db_transpose(t->turn, back);
    db_multiply(standard, back, turned);
    db_multiply(t->from_edges, turned, real);
}

/* Polar decomposition, by Newton's method. */
void db_lattice_nearest_turn(const double from[9], const double to[9], double turn[9]) {
    double inverse[9], map[9];
    if (!db_invert(from, inverse)) return;
    db_multiply(inverse, to, map); /* of rows, so its transpose turns */
    db_transpose(map, turn);
    for (int k = 0; k < 8; k++) {
        double dual[9];
        (void)db_dual_basis(turn, dual);
        for (int i = 0; i < 9; i++) turn[i] = (turn[i] + dual[i]) / 2;
    }
}

static int is_free(const db_cell_ties *ties, int i) {
    return ties->follows[i] < 0 && !(ties->fixed[i] > 0);
}

/* Changes a constant of the cell, and constants that follow it. */
static void change(tied *t, int which, double by) {
    for (int i = 0; i < 6; i++)
        if (i == which || t->ties->follows[i] == which) t->cell[i] += by;
}

/* Slopes by turns about the axes and by free constants of the cell. 0: the cell is impossible. */
static int find_slopes(const tied *t, numbers *n) {
    const double small = 1e-5;
    double real[9], a_star[9], moved[9];
    n->basis = 3;
    rows_of(t, real);
    if (!db_invert(real, a_star)) return 0;
    for (int k = 0; k < 3; k++) {
        const double axis[3] = { k == 0, k == 1, k == 2 };
        for (int c = 0; c < 3; c++) {
            const double column[3] = { a_star[c], a_star[3 + c], a_star[6 + c] };
            double across[3];
            db_cross(axis, column, across);
            for (int i = 0; i < 3; i++) n->slopes[k][3 * i + c] = across[i];
        }
    }
    for (int i = 0; i < 6; i++) {
        tied other = *t;
        if (!is_free(t->ties, i)) continue;
        change(&other, i, small);
        rows_of(&other, real);
        if (!db_invert(real, moved)) return 0;
        for (int k = 0; k < 9; k++) n->slopes[n->basis][k] = (moved[k] - a_star[k]) / small;
        n->basis++;
    }
    return 1;
}

static void move(tied *t, const double step[MOST]) {
    const double size = db_length(step),
                 axis[3] = { step[0] / size, step[1] / size, step[2] / size };
    int next = 3;
    if (size > 0) db_turn_columns(axis, size, t->turn);
    for (int i = 0; i < 6; i++)
        if (is_free(t->ties, i)) change(t, i, step[next++]);
}

/* Returns the number of fitted numbers; 0: spots do not determine the lattice. */
static int fit_tied(db_lattice *lattice, const int integers[9], const db_cell_ties *ties,
                    db_lattice_held held, const db_search_spot *spots, size_t count,
                    unsigned char *near, lattice_widths *width) {
    enum { ROUGH = sizeof angles / sizeof *angles, EXACT = 15 }; /* rounds */
    fitted f = { lattice, spots, count, near, held != DB_LATTICE_HOLDS_NOTHING, NULL };
    numbers n = { .place = f.distance_known ? BEAM : BEAM + 1 };
    tied t = { .ties = ties };
    double edges[9], rows[9], standard[9], step[MOST], worst[2];
    for (int i = 0; i < 9; i++) edges[i] = integers[i];
    *width = first_widths;
    if (!db_invert(edges, t.from_edges)) return 0;
    db_multiply(edges, lattice->real, rows);
    db_cell_of_edges(rows, t.cell);
    db_cell_regularize(ties, t.cell, &worst[0], &worst[1]);
    db_lattice_rows(t.cell, standard);
    db_lattice_nearest_turn(standard, rows, t.turn);
    rows_of(&t, lattice->real);
    for (int r = 0; r < ROUGH + EXACT; r++) {
        if (r == ROUGH) {
            f.width = width;
            n.place = held == DB_LATTICE_HOLDS_TILTS ? BEAM : PLACE;
        }
        if (!find_slopes(&t, &n) || !best_step(&f, &n, r < ROUGH ? angles[r] : wide_angle, step))
            return 0;
        move(&t, step);
        rows_of(&t, lattice->real);
        move_place(lattice, &n, step);
    }
    return n.basis + n.place;
}

double db_lattice_fit_tied(db_lattice *lattice, const int integers[9], const db_cell_ties *ties,
                           db_lattice_held held, const db_search_spot *spots, size_t count,
                           unsigned char *near) {
    lattice_widths width;
    return fit_tied(lattice, integers, ties, held, spots, count, near, &width)
               ? width.place * width.place * width.turn
               : (double)NAN;
}

void db_lattice_cut_parts(const db_search_spot *spots, size_t count, double *at,
                          unsigned char *part) {
    double *const room = at + count;
    memset(part, 0, count);
    for (int bit = 0; 1 << bit < DB_LATTICE_PARTS; bit++) {
        for (size_t i = 0; i < count; i++) at[i] = db_dot(spots[i].q, spots[i].by_beam[bit]);
        for (int p = 0; p < 1 << bit; p++) {
            size_t own = 0;
            for (size_t i = 0; i < count; i++)
                if (part[i] == p) room[own++] = at[i];
            const double middle = db_median(room, own);
            for (size_t i = 0; i < count; i++)
                if (part[i] == p && at[i] > middle) part[i] |= (unsigned char)(1 << bit);
        }
    }
}

/* Log likelihood of the marked spots of a part, but for a constant. */
static double part_likelihood(const db_lattice *lattice, const lattice_widths *width,
                              const db_search_spot *spots, size_t count, const unsigned char *part,
                              int which) {
    db_search_lattice cell;
    db_search_pose pose;
    double sum = 0;
    if (!place_of(lattice, &cell, &pose)) return (double)NAN;
    for (size_t i = 0; i < count; i++) {
        double q[3], off[3], to[9], tilts[2][3];
        if (part[i] != which || !place_spot(lattice, &pose, &spots[i], to, tilts, q)) continue;
        off_node(&cell, q, off);
        const lattice_widths square = squares_of(off, to);
        sum -= log(width->place * width->place * width->turn) +
               DB_STUDENT_POWER * log1p(square_in(width, &square) / DB_STUDENT_FREEDOM);
    }
    return sum;
}

double db_lattice_likelihood(db_lattice *lattice, const int integers[9], const db_cell_ties *ties,
                             db_lattice_held held, const db_search_spot *spots, size_t count,
                             unsigned char *near) {
    lattice_widths width;
    if (!fit_tied(lattice, integers, ties, held, spots, count, near, &width)) return (double)NAN;
    memset(near, 0, count);
    return part_likelihood(lattice, &width, spots, count, near, 0);
}

db_lattice_evidence db_lattice_held_out(const db_lattice *from, const int integers[9],
                                        const db_cell_ties *ties, db_lattice_held held,
                                        const db_search_spot *spots, size_t count,
                                        const unsigned char *part, db_search_spot *others,
                                        unsigned char *near) {
    const db_lattice_evidence none = { (double)NAN, 1 };
    db_lattice all = *from;
    lattice_widths width_of_all;
    double held_out = 0, seen = 0;
    const int free_numbers =
        fit_tied(&all, integers, ties, held, spots, count, near, &width_of_all);
    if (!free_numbers) return none;
    for (int p = 0; p < DB_LATTICE_PARTS; p++) {
        db_lattice lattice = *from;
        lattice_widths width;
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if (part[i] != p) others[kept++] = spots[i];
        if (!fit_tied(&lattice, integers, ties, held, others, kept, near, &width)) return none;
        held_out += part_likelihood(&lattice, &width, spots, count, part, p);
        seen += part_likelihood(&all, &width_of_all, spots, count, part, p);
    }
    return (db_lattice_evidence){ held_out, fmax(1, (seen - held_out) / free_numbers) };
}
