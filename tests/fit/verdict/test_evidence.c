/* The likelihood of spots under a lattice, against one that is computed naively; and what rivals make of
 * lattices whose nodes are known. */
#include "support/context.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"
#include "fit/verdict/rivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPOTS = 600 };
static const double PLACE = 0.8, TURN = 0.15, ANYWHERE = 0.25;
static const double OFFSET[9] = { 1900, 150, -90, -130, 2000, 60, 12, -8, 190 };

static double uniform(void) { return rand() / (RAND_MAX + 1.0); }
static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

/* Spots at nodes of a lattice that a rule picks, but for some that lie anywhere. */
static void make(const double lattice[9], int (*has)(const int hkl[3]), db_evidence *e) {
    double back[9];
    *e = (db_evidence){ .count = SPOTS, .judged = SPOTS, .s0 = { 0, 0, 1 } };
    memcpy(e->lattice, lattice, sizeof e->lattice);
    e->spot = calloc(SPOTS, sizeof *e->spot);
    e->density[0] = calloc(DB_HALVES * SPOTS, sizeof *e->density[0]);
    e->density[1] = e->density[0] + SPOTS;
    assert_true(db_invert(OFFSET, back));
    srand(7);
    for (size_t i = 0; i < SPOTS; i++) {
        db_evidence_spot *const s = &e->spot[i];
        int hkl[3];
        do
            for (int k = 0; k < 3; k++) hkl[k] = (int)(30 * uniform()) - 15;
        while (has && !has(hkl));
        const int anywhere = uniform() < ANYWHERE;
        const double node[3] = { hkl[0] + anywhere * uniform(), hkl[1] + anywhere * uniform(),
                                 hkl[2] + anywhere * uniform() },
                     off[3] = { PLACE * normal(), PLACE * normal(), TURN * normal() };
        double apart[3];
        db_apply(lattice, node, s->q);
        db_apply(back, off, apart);
        for (int k = 0; k < 3; k++) s->q[k] += anywhere ? 0 : apart[k];
        memcpy(s->offset, OFFSET, sizeof s->offset);
        double cofactors[9];
        s->volume = fabs(db_cofactors(OFFSET, cofactors));
    }
    for (int half = 0; half < DB_HALVES; half++) {
        e->width[half] = (db_evidence_width){ 1.5, 0.3, 0.5 };
        db_evidence_fit(e, half);
    }
}

static const double CELL[9] = { 0.017, 0.001, 0, 0, 0.02, -0.001, 0.0005, 0, 0.012 };

/* Student's distribution about the nearest of all nodes around, written out. */
static double naive(const db_evidence *e, size_t i, const db_evidence_width *w) {
    const double nu = 4, pi = 3.14159265358979323846;
    double to_index[9], index[3], least = INFINITY, cofactors[9];
    assert_true(db_invert(e->lattice, to_index));
    db_apply(to_index, e->spot[i].q, index);
    for (int h = -3; h <= 3; h++)
        for (int k = -3; k <= 3; k++)
            for (int l = -3; l <= 3; l++) {
                const double node[3] = { round(index[0]) + h, round(index[1]) + k,
                                         round(index[2]) + l };
                double g[3], at[3];
                db_apply(e->lattice, node, g);
                for (int n = 0; n < 3; n++) g[n] -= e->spot[i].q[n];
                db_apply(OFFSET, g, at);
                least = fmin(least, (at[0] * at[0] + at[1] * at[1]) / (w->place * w->place) +
                                        at[2] * at[2] / (w->turn * w->turn));
            }
    const double nodes =
        fabs(db_cofactors(e->lattice, cofactors)) * fabs(db_cofactors(OFFSET, cofactors));
    return nodes * tgamma((nu + 3) / 2) / (tgamma(nu / 2) * pow(nu * pi, 1.5)) /
           (w->place * w->place * w->turn) * pow(1 + least / nu, -(nu + 3) / 2);
}

static void densities_are_those_of_a_naive_computation(void **state) {
    (void)state;
    db_evidence e;
    double sum = 0;
    make(CELL, NULL, &e);
    for (size_t i = 0; i < SPOTS; i++) {
        const db_evidence_width *const w = &e.width[!db_evidence_half(i)];
        const double own = naive(&e, i, w);
        assert_true(fabs(e.density[!db_evidence_half(i)][i] / own - 1) < 1e-9 || own < 1e-4);
        sum += log(w->part * own + 1 - w->part);
    }
    assert_true(fabs(db_margin_over_none(&e) - sum) < 1e-3);
    db_evidence_clear(&e);
}

/* A node is as near as it comes while the crystal turns, or at one of the wavelengths: both in small steps. */
static void nodes_are_nearest_where_they_are_recorded(void **state) {
    (void)state;
    enum { JUDGED = 60, STEPS = 60 };
    const double pi = 3.14159265358979323846, half = 0.3, band = 0.003;
    static const db_evidence_width w = { 3, 0.2, 0.5 };
    for (int spectrum = 0; spectrum < 2; spectrum++) {
        db_evidence e;
        double density[JUDGED], to_index[9];
        make(CELL, NULL, &e);
        e.axis[1] = 1;
        e.half_rotation = half;
        e.wave_number[0] = spectrum ? 1 / (1 + band) : 1;
        e.wave_number[1] = spectrum ? 1 / (1 - band) : 1;
        e.width[0] = w;
        db_evidence_lattice(&e, e.lattice, 0, JUDGED, density);
        assert_true(db_invert(e.lattice, to_index));
        for (size_t i = 0; i < JUDGED; i++) {
            double index[3], least = INFINITY, cofactors[9];
            db_apply(to_index, e.spot[i].q, index);
            for (int c = 0; c < 8; c++) {
                double node[3], g[3], turned[3], along[3], across[3], at[3];
                for (int k = 0; k < 3; k++) node[k] = floor(index[k]) + (c >> k & 1);
                db_apply(e.lattice, node, g);
                db_cross(e.axis, g, turned);
                db_apply(OFFSET, g, along);
                db_apply(OFFSET, turned, across);
                for (int k = 0; k < 3; k++) g[k] -= e.spot[i].q[k];
                db_apply(OFFSET, g, at);
                double best = 0, nearest = INFINITY; /* along the spectrum first */
                for (int n = -STEPS * STEPS; n <= STEPS * STEPS * spectrum; n++) {
                    const double by = spectrum * band * n / (STEPS * STEPS);
                    double square = 0;
                    for (int k = 0; k < 3; k++)
                        square += pow((at[k] + by * along[k]) / (k < 2 ? w.place : w.turn), 2);
                    if (square < nearest) best = by;
                    nearest = fmin(nearest, square);
                }
                for (int n = -STEPS * STEPS; n <= STEPS * STEPS; n++) {
                    const double by = half * pi / 180 * n / (STEPS * STEPS);
                    double square = 0;
                    for (int k = 0; k < 3; k++)
                        square += pow((at[k] + best * along[k] + by * across[k]) /
                                          (k < 2 ? w.place : w.turn),
                                      2);
                    least = fmin(least, square);
                }
            }
            const double nodes =
                fabs(db_cofactors(e.lattice, cofactors)) * fabs(db_cofactors(OFFSET, cofactors));
            const double expected = nodes * 0.07460387957432595 / (w.place * w.place * w.turn) *
                                    pow(1 + least / 4, -3.5);
            assert_true(fabs(density[i] / expected - 1) < 1e-3);
        }
        db_evidence_clear(&e);
    }
}

static void widths_and_part_are_those_of_the_spots(void **state) {
    (void)state;
    db_evidence e;
    make(CELL, NULL, &e);
    for (int half = 0; half < DB_HALVES; half++) {
        const db_evidence_width *const w = &e.width[half];
        print_message("place %.3f turn %.3f part %.3f\n", w->place, w->turn, w->part);
        /* of a Gaussian a Student's distribution is narrower */
        assert_true(w->place > 0.75 * PLACE && w->place < 1.05 * PLACE);
        assert_true(w->turn > 0.75 * TURN && w->turn < 1.05 * TURN);
        assert_true(fabs(w->part - (1 - ANYWHERE)) < 0.06);
    }
    db_evidence_clear(&e);
}

/* Nodes of a thickness turn farther near the beam. Thin ones keep their likelihood. */
static void turns_of_thick_nodes_grow_near_the_beam(void **state) {
    (void)state;
    const double thickness = 0.1;
    double back[9], before;
    db_evidence e;
    make(CELL, NULL, &e);
    before = db_margin_over_none(&e);
    assert_int_equal(db_evidence_thicken(context, &e), DB_OK);
    assert_true(db_margin_over_none(&e) == before);
    assert_true(db_invert(OFFSET, back));
    for (size_t i = 0; i < SPOTS; i++) {
        double *const q = e.spot[i].q, apart[3];
        const double off[3] = { 0, 0, TURN * normal() * thickness / hypot(q[0], q[1]) };
        db_apply(back, off, apart);
        for (int k = 0; k < 3; k++) q[k] += apart[k];
    }
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
    before = db_margin_over_none(&e);
    assert_int_equal(db_evidence_thicken(context, &e), DB_OK);
    print_message("log likelihood %.1f, thick %.1f\n", before, db_margin_over_none(&e));
    assert_true(db_margin_over_none(&e) > before + 10);
    for (int half = 0; half < DB_HALVES; half++)
        assert_true(e.width[half].turn > 0.75 * TURN && e.width[half].turn < 1.05 * TURN);
    db_evidence_clear(&e);
}

/* A node that turns while it is recorded has its spot anywhere along its way: the coordinate along it tells no width there. */
static void widths_are_those_across_recorded_lines(void **state) {
    (void)state;
    const double degree = 3.14159265358979323846 / 180;
    double back[9];
    db_evidence e;
    make(CELL, NULL, &e);
    e.axis[1] = 1;
    e.half_rotation = 1.5;
    assert_true(db_invert(OFFSET, back));
    for (size_t i = 0; i < SPOTS; i++) {
        db_evidence_spot *const s = &e.spot[i];
        const double by = (2 * uniform() - 1) * e.half_rotation * degree;
        double moved[3];
        db_cross(e.axis, s->q, moved);
        for (int k = 0; k < 3; k++) s->q[k] += by * moved[k];
        db_apply(OFFSET, moved, s->sweep[0]);
        for (int k = 0; k < 3; k++) s->sweep[0][k] *= 2 * e.half_rotation * degree;
    }
    for (int half = 0; half < DB_HALVES; half++) {
        const db_evidence_width *const w = &e.width[half];
        e.width[half] = (db_evidence_width){ 1.5, 0.3, 0.5 };
        db_evidence_fit(&e, half);
        print_message("place %.3f turn %.3f part %.3f\n", w->place, w->turn, w->part);
        assert_true(w->place > 0.7 * PLACE && w->place < 1.1 * PLACE);
        assert_true(w->turn > 0.7 * TURN && w->turn < 1.1 * TURN);
        assert_true(fabs(w->part - (1 - ANYWHERE)) < 0.1);
    }
    db_evidence_clear(&e);
}

/* Spots at a grid of points of a cell. */
enum { EDGE = 40, POINTS = EDGE * EDGE * EDGE };

static void spread_out(db_evidence *e) {
    double moved[3], swept[3];
    e->spot = realloc(e->spot, POINTS * sizeof *e->spot);
    assert_non_null(e->spot);
    e->count = POINTS;
    for (size_t i = 0; i < POINTS; i++) {
        const double at[3] = { 9 + (double)(i % EDGE) / EDGE, 4 + (double)(i / EDGE % EDGE) / EDGE,
                               11 + (double)(i / EDGE / EDGE) / EDGE };
        e->spot[i] = e->spot[0];
        db_apply(e->lattice, at, e->spot[i].q);
        db_cross(e->axis, e->spot[i].q, moved);
        db_apply(OFFSET, moved, swept);
        for (int k = 0; k < 3; k++)
            e->spot[i].sweep[0][k] = 2 * e->half_rotation * 3.14159265358979323846 / 180 * swept[k];
        db_apply(OFFSET, e->spot[i].q, swept);
        for (int k = 0; k < 3; k++)
            e->spot[i].sweep[1][k] = (e->wave_number[1] - e->wave_number[0]) * swept[k];
    }
}

/* On the average: the density of a lattice, with a spectrum, of one that rotates, and of its rows. */
static void spots_anywhere_have_the_density_1(void **state) {
    (void)state;
    static double density[POINTS];
    static const db_evidence_width w = { 3, 0.2, 0.5 };
    for (int kind = -3; kind < DB_ROW_DIRECTIONS; kind++) {
        db_evidence e;
        double sum = 0;
        make(CELL, NULL, &e);
        e.width[0] = w;
        e.axis[1] = 1;
        e.half_rotation = kind == -2 ? 0.3 : 0; /* degree */
        e.wave_number[0] = kind == -3 ? 0.99 : 1;
        e.wave_number[1] = kind == -3 ? 1.01 : 1;
        spread_out(&e);
        if (kind < 0)
            db_evidence_lattice(&e, e.lattice, 0, POINTS, density);
        else
            db_evidence_rows(&e, kind, 0, POINTS, density);
        for (size_t i = 0; i < POINTS; i++) sum += density[i] / POINTS;
        print_message("%d: density %.3f\n", kind, sum);
        assert_true(sum > 0.95 && sum < 1.05); /* far tails are another node's */
        db_evidence_clear(&e);
    }
}

/* Beside a row, across it in widths, the density falls as Student's distribution of two numbers. */
static void rows_are_as_far_as_they_are_across(void **state) {
    (void)state;
    static const db_evidence_width w = { 3, 0.2, 0.5 };
    static const double far = 1.2;
    const double width[3] = { w.place, w.place, w.turn };
    double back[9], density[2];
    assert_true(db_invert(OFFSET, back));
    for (int d = 0; d < DB_ROW_DIRECTIONS; d++) {
        db_evidence e;
        make(CELL, NULL, &e);
        e.width[0] = w;
        double node[3] = { 9, 4, 11 }, step[3], along[3], across[3], apart[3];
        node[d] += 0.3;
        for (int k = 0; k < 3; k++) step[k] = e.lattice[3 * k + d];
        db_apply(OFFSET, step, along);
        for (int k = 0; k < 3; k++) along[k] /= width[k];
        db_cross(along, (double[3]){ 1, 1, 1 }, across);
        const double length = db_length(across);
        for (int k = 0; k < 3; k++) across[k] *= far * width[k] / length;
        db_apply(back, across, apart);
        for (int i = 0; i < 2; i++) {
            db_apply(e.lattice, node, e.spot[i].q);
            for (int k = 0; k < 3; k++) e.spot[i].q[k] += i * apart[k];
        }
        db_evidence_rows(&e, d, 0, 2, density);
        assert_true(fabs(density[1] / density[0] * pow(1 + far * far / 4, 3) - 1) < 1e-9);
        db_evidence_clear(&e);
    }
}

/* ln of the likelihood of two kinds of spots of a half, beside random places. */
static double likelihood(size_t judged, int half, const double *density, const double *beside,
                         const double part[2]) {
    double sum = 0;
    for (size_t i = 0; i < judged; i++)
        if (db_evidence_half(i) == half)
            sum += log(part[0] * density[i] + part[1] * beside[i] + 1 - part[0] - part[1]);
    return sum;
}

/* Of two kinds, each near its spots, beside spots that are near neither; an odd number of spots, and few of them, so that
 * one more counts. */
static void parts_are_the_likeliest(void **state) {
    (void)state;
    enum { JUDGED = 31 };
    static const double none[JUDGED + 1];
    double density[JUDGED + 1] = { 0 }, beside[JUDGED + 1] = { 0 };
    srand(3);
    for (size_t i = 0; i < JUDGED; i++) {
        density[i] = i % 5 < 3 ? 5 + 9 * uniform() : 0.1;
        beside[i] = i % 5 == 3 ? 5 + 9 * uniform() : 0.2;
    }
    for (int kinds = 1; kinds <= DB_HALVES; kinds++) {
        double part[DB_HALVES], other[DB_HALVES];
        const double *const second = kinds == 1 ? none : beside, by = 0.02;
        db_evidence_parts(JUDGED, density, kinds == 1 ? NULL : beside, part, other);
        for (int half = 0; half < DB_HALVES; half++) {
            const double found[2] = { part[half], other[half] },
                         best = likelihood(JUDGED, half, density, second, found);
            print_message("%d: %.4f and %.4f\n", half, part[half], other[half]);
            assert_true(part[half] > 0.1 && (kinds == 1 ? other[half] == 0 : other[half] > 0.01));
            for (int k = 0; k < kinds; k++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    double off[2] = { found[0], found[1] };
                    off[k] += sign * fmin(by, found[k] / 2);
                    assert_true(likelihood(JUDGED, half, density, second, off) < best);
                }
        }
    }
}

/* The margin over rows, written out: each half of the spots is judged with widths and parts of the other half. */
static void margins_are_those_of_spots_held_out(void **state) {
    (void)state;
    static double density[DB_HALVES][SPOTS], none[SPOTS];
    double margins[DB_ROW_DIRECTIONS];
    db_evidence e;
    make(CELL, NULL, &e);
    e.width[0].place *= 2; /* as different as halves never are */
    assert_int_equal(db_margins_over_rows(context, &e, DB_RIVAL_INSTEAD, margins), DB_OK);
    for (int d = 0; d < DB_ROW_DIRECTIONS; d++) {
        double sum = 0;
        for (int half = 0; half < DB_HALVES; half++) {
            double best = -INFINITY, part = 0;
            db_evidence_rows(&e, d, half, SPOTS, density[half]);
            for (int n = 1; n < 2000; n++) {
                const double now =
                    likelihood(SPOTS, half, density[half], none, (double[2]){ 5e-4 * n, 0 });
                if (now > best) part = 5e-4 * n;
                best = fmax(best, now);
            }
            for (size_t i = 0; i < SPOTS; i++)
                if (db_evidence_half(i) != half)
                    sum += db_evidence_of_spot(&e, i) - log(part * density[half][i] + 1 - part);
        }
        print_message("%d: %.4f, expected %.4f\n", d, margins[d], sum);
        assert_true(fabs(margins[d] - sum) < 0.02);
    }
    db_evidence_clear(&e);
}

static int even_h(const int hkl[3]) { return hkl[0] % 2 == 0; }
static int even_sum(const int hkl[3]) { return (hkl[0] + hkl[1]) % 2 == 0; }
static int centred(const int hkl[3]) { return (hkl[0] + hkl[1] + hkl[2]) % 2 == 0; }
static int face_centred(const int hkl[3]) {
    return (hkl[0] + hkl[1]) % 2 == 0 && (hkl[1] + hkl[2]) % 2 == 0;
}

static void cells_that_are_too_large_are_told(void **state) {
    (void)state;
    static const double tetragonal[9] = { 0.012, 0, 0, 0, 0.012, 0, 0, 0, 0.01 };
    static const double cells[][6] = { { 83.3, 83.3, 100, 90, 90, 90 },
                                       { 83.3, 90, 100, 90, 90, 90 },
                                       { 83.3, 83.3, 83.3, 90, 90, 90 } };
    enum { TETRAGONAL, ORTHORHOMBIC, CUBIC };
    static const struct {
        int (*has)(const int hkl[3]);
        int kind, centring, right;
        double edge; /* the shortest of the cell that is named */
    } of[] = { { NULL, TETRAGONAL, 0, 1, 0 },
               { even_h, TETRAGONAL, 0, 0, 41.67 },
               { even_sum, TETRAGONAL, 0, 0, 58.93 },
               { even_sum, ORTHORHOMBIC, 0, 1, 0 },
               { centred, TETRAGONAL, 0, 1, 0 },
               { even_sum, TETRAGONAL, 'C', 1, 0 },
               { even_h, TETRAGONAL, 'C', 0, 41.67 },
               { even_sum, TETRAGONAL, 'P', 0, 58.93 },
               { even_sum, CUBIC, 0, 0, 58.93 },
               { centred, CUBIC, 0, 1, 0 },
               { face_centred, CUBIC, 0, 1, 0 },
               { face_centred, ORTHORHOMBIC, 0, 1, 0 },
               { even_sum, CUBIC, 'F', 0, 58.93 },
               { face_centred, TETRAGONAL, 'F', 1, 0 },
               { face_centred, TETRAGONAL, 0, 0, 58.93 } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        db_evidence e;
        db_other_cell other;
        make(tetragonal, of[i].has, &e);
        assert_int_equal(
            db_margin_over_smaller(context, &e, cells[of[i].kind], of[i].centring, &other), DB_OK);
        print_message("%zu: %.1f over %.2f %.2f %.2f\n", i, other.margin, other.cell[0],
                      other.cell[1], other.cell[2]);
        assert_int_equal(other.margin > 32, of[i].right);
        if (!of[i].right) assert_true(fabs(fmin(other.cell[0], other.cell[1]) - of[i].edge) < 0.01);
        db_evidence_clear(&e);
    }
}

static int obverse(const int hkl[3]) { return (hkl[1] - hkl[0] + hkl[2]) % 3 == 0; }

/* The likeliest centring that the cell allows, unless it is named; spots at other nodes speak against all. */
static void centrings_are_recognized(void **state) {
    (void)state;
    static const double right_angles[9] = { 0.012, 0, 0, 0, 0.0111, 0, 0, 0, 0.01 },
                        hexagonal[9] = { 0.012, 0.006, 0, 0, 0.01039230, 0, 0, 0, 0.01 },
                        cells[2][6] = { { 83.3, 90, 100, 90, 90, 90 },
                                        { 96.2, 96.2, 100, 90, 90, 120 } };
    static const struct {
        int (*has)(const int hkl[3]);
        int is_hexagonal, named, letter;
    } of[] = { { NULL, 0, 0, 0 },
               { even_sum, 0, 0, 'C' },
               { centred, 0, 'P', 'I' },
               { face_centred, 0, 0, 'F' },
               { face_centred, 0, 'C', 'F' },
               { centred, 0, 'I', 'I' },
               { obverse, 1, 'P', 'R' },
               { NULL, 1, 0, 0 } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        db_evidence e;
        db_centrings likely;
        double gain;
        make(of[i].is_hexagonal ? hexagonal : right_angles, of[i].has, &e);
        assert_int_equal(
            db_centrings_of_spots(context, &e, cells[of[i].is_hexagonal], of[i].named, &likely),
            DB_OK);
        const int letter = db_unnamed_centring(&likely, &gain);
        print_message("%zu: %c, %.1f\n", i, letter ? letter : '-', gain);
        assert_int_equal(letter, of[i].letter == of[i].named ? 0 : of[i].letter);
        assert_true(letter ? gain > 32 : gain == 0);
        db_evidence_clear(&e);
    }
}

static void cells_that_are_too_small_are_told(void **state) {
    (void)state;
    static const double small[9] = { 0.024, 0, 0, 0, 0.012, 0, 0, 0, 0.01 };
    db_evidence right, wrong;
    db_other_cell other;
    double half[9];
    memcpy(half, small, sizeof half);
    half[0] /= 2;
    make(half, NULL, &right);
    make(half, NULL, &wrong);
    memcpy(wrong.lattice, small, sizeof small);
    for (int h = 0; h < DB_HALVES; h++) db_evidence_fit(&wrong, h);
    assert_int_equal(db_margin_over_larger(context, &right, &other), DB_OK);
    print_message("right: %.1f\n", other.margin);
    assert_true(other.margin > 32);
    assert_int_equal(db_margin_over_larger(context, &wrong, &other), DB_OK);
    print_message("too small: %.1f\n", other.margin);
    assert_true(other.margin < -32);
    assert_true(fabs(other.cell[0] - 1 / half[0]) < 0.01 ||
                fabs(other.cell[1] - 1 / half[0]) < 0.01);
    db_evidence_clear(&right);
    db_evidence_clear(&wrong);
}

/* A model with two or three times as many nodes as the crystal, turned, beside a beam centre that is one of its nodes
 * off: in each part of the image the spots are at every third node, but not at the same third. A smaller cell in the model's
 * own orientation does not explain them. */
static void fewer_nodes_in_another_place_are_told(void **state) {
    (void)state;
    static const double crystal[9] = { 0.0135, 0, 0, 0, 0.0094, 0, 0, 0, 0.021 };
    /* the direction with more nodes, the node at which the crystal's lattice begins, and a turn (degree) */
    static const struct {
        int times, direction, node[3];
        double turn;
    } of[] = { { 3, 0, { 1, 0, 0 }, 0.7 },
               { 3, 0, { 1, 0, 0 }, 2.5 },
               { 3, 1, { 0, 1, 0 }, 0.7 },
               { 2, 0, { 1, 0, 0 }, 0.7 } };
    for (size_t c = 0; c < sizeof of / sizeof *of; c++)
        for (int turned = 0; turned < 2; turned++) {
            db_evidence e;
            db_other_cell smaller;
            db_moved_model moved;
            const double axis[3] = { of[c].direction != 0, of[c].direction != 1, 1 },
                         node[3] = { turned * of[c].node[0], turned * of[c].node[1],
                                     turned * of[c].node[2] };
            double unit[3] = { axis[0], axis[1], axis[2] }, by[3];
            make(crystal, NULL, &e);
            for (int i = 0; i < 3; i++) e.lattice[3 * i + of[c].direction] /= of[c].times;
            db_apply(e.lattice, node, by);
            for (size_t i = 0; i < SPOTS; i++)
                for (int k = 0; k < 3; k++) e.spot[i].q[k] += by[k];
            assert_true(db_normalize(unit));
            db_turn_columns(unit, turned * of[c].turn * 3.14159265358979323846 / 180, e.lattice);
            for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
            assert_int_equal(db_margin_over_smaller(
                                 context, &e, (double[6]){ 70, 80, 90, 90, 90, 90 }, 'P', &smaller),
                             DB_OK);
            assert_int_equal(db_margin_over_moved(context, &e, &moved), DB_OK);
            print_message(
                "%zu: over a smaller cell %.1f, over 1/%d of the nodes, turned by %.2f and "
                "shifted by %.1f %.1f: %.1f\n",
                c, smaller.margin, moved.times, moved.turn, moved.shift[0], moved.shift[1],
                moved.margin);
            assert_true(turned ? smaller.margin > 32 || of[c].turn > 1 : smaller.margin < 32);
            if (turned) {
                assert_true(fabs(moved.turn - of[c].turn) < 0.1);
                assert_true(moved.margin < -32);
                assert_int_equal(moved.times, of[c].times);
            } else {
                assert_true(isnan(moved.margin)); /* where the model is, it is no rival */
            }
            db_evidence_clear(&e);
        }
}

/* One edge is 6 % off: spots stay in their rows. */
static void rows_are_told_from_nodes(void **state) {
    (void)state;
    db_evidence e;
    double rows[DB_ROW_DIRECTIONS];
    make(CELL, NULL, &e);
    assert_int_equal(db_margins_over_rows(context, &e, DB_RIVAL_INSTEAD, rows), DB_OK);
    for (int d = 0; d < DB_ROW_DIRECTIONS; d++) assert_true(rows[d] > 32);
    for (int i = 0; i < 3; i++) e.lattice[3 * i + 1] *= 1.06;
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
    assert_int_equal(db_margins_over_rows(context, &e, DB_RIVAL_INSTEAD, rows), DB_OK);
    print_message("%.1f %.1f %.1f\n", rows[0], rows[1], rows[2]);
    assert_true(rows[1] < -32 && rows[1] < rows[0] && rows[1] < rows[2]);
    db_evidence_clear(&e);
}

/* Places of spots in quarters of neighbours. */
static void cut(const db_evidence *e, db_place place[SPOTS]) {
    for (size_t i = 0; i < SPOTS; i++) {
        place[i].number = i;
        memcpy(place[i].q, e->spot[i].q, sizeof place[i].q);
    }
    db_regions_cut(place, SPOTS, DB_QUARTERS);
}

/* A quarter of the spots, all neighbours, lies half way between nodes. */
static void a_quarter_beside_its_nodes_is_told(void **state) {
    (void)state;
    db_evidence e;
    db_place place[SPOTS];
    double least, between[3];
    make(CELL, NULL, &e);
    assert_int_equal(db_margin_in_quarters(context, &e, &least), DB_OK);
    assert_true(least > 32);
    cut(&e, place);
    db_apply(e.lattice, (const double[3]){ 0.5, 0.5, 0.5 }, between);
    for (size_t i = db_region_start(SPOTS, DB_QUARTERS, 2);
         i < db_region_start(SPOTS, DB_QUARTERS, 3); i++)
        for (int k = 0; k < 3; k++) e.spot[place[i].number].q[k] += between[k];
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
    assert_int_equal(db_margin_in_quarters(context, &e, &least), DB_OK);
    print_message("quarter %.1f of %.1f\n", least, db_margin_over_none(&e));
    assert_true(least < -32 && db_margin_over_none(&e) > 32);
    db_evidence_clear(&e);
}

/* A model whose edges and angles are a little wrong, fitted to either half of the spots, predicts those of the other. */
static void halves_predict_each_other(void **state) {
    (void)state;
    db_evidence e;
    double right, wrong;
    make(CELL, NULL, &e);
    const double over_none = db_margin_over_none(&e);
    assert_int_equal(db_margin_in_halves(context, &e, &right), DB_OK);
    assert_true(right > 0.95 * over_none && right < over_none + 32);
    for (int i = 0; i < 3; i++) {
        e.lattice[3 * i] *= 1.002;
        e.lattice[3 * i + 1] += 0.003 * CELL[3 * i];
        e.lattice[3 * i + 2] += 0.002 * CELL[3 * i] - 0.003 * CELL[3 * i + 1];
    }
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
    assert_int_equal(db_margin_in_halves(context, &e, &wrong), DB_OK);
    print_message("halves %.1f of %.1f; %.1f of %.1f with another cell\n", right, over_none, wrong,
                  db_margin_over_none(&e));
    assert_true(db_margin_over_none(&e) < 0.9 * over_none);
    assert_true(fabs(wrong - right) < 1);
    db_evidence_clear(&e);
}

/* Two quarters lie half way between nodes, in any two places: no lattice of one half predicts the other. */
static void spots_beside_nodes_are_told_by_the_other_half(void **state) {
    (void)state;
    for (int other = 1; other < DB_QUARTERS; other++) {
        db_evidence e;
        db_place place[SPOTS];
        double least, between[3];
        make(CELL, NULL, &e);
        cut(&e, place);
        db_apply(e.lattice, (const double[3]){ 0.5, 0.5, 0.5 }, between);
        for (int q = 0; q < DB_QUARTERS; q++)
            for (size_t i = db_region_start(SPOTS, DB_QUARTERS, q);
                 i < db_region_start(SPOTS, DB_QUARTERS, q + 1) && q != 0 && q != other; i++)
                for (int k = 0; k < 3; k++) e.spot[place[i].number].q[k] += between[k];
        for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
        assert_int_equal(db_margin_in_halves(context, &e, &least), DB_OK);
        print_message("quarters 0 and %d at nodes: %.1f of %.1f\n", other, least,
                      db_margin_over_none(&e));
        assert_true(least < -32 && db_margin_over_none(&e) > 32);
        db_evidence_clear(&e);
    }
}

/* Spots of two quarters cannot be at nodes: a model that is fitted to them alone explains no other, and not those that the model
 * before it did. */
static void lost_spots_explain_no_others(void **state) {
    (void)state;
    db_evidence e;
    db_place place[SPOTS];
    double least;
    make(CELL, NULL, &e);
    cut(&e, place);
    for (int q = 1; q < DB_QUARTERS; q += 2)
        for (size_t i = db_region_start(SPOTS, DB_QUARTERS, q);
             i < db_region_start(SPOTS, DB_QUARTERS, q + 1); i++)
            e.spot[place[i].number].volume = 0;
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
    assert_int_equal(db_margin_in_halves(context, &e, &least), DB_OK);
    assert_true(least < 0.5 * SPOTS * log(1 - e.width[1].part));
    db_evidence_clear(&e);
}

/* A few spots of one layer of nodes, or of one row, on a sphere that is nearly flat there. tilt: of the crystal from the model. */
static void make_few(int is_row, double tilt, uint32_t seed, db_evidence *e) {
    static const double lattice[9] = { 0.1, 0, -0.03, 0, 0.137, 0, 0, 0, 0.09 };
    make(lattice, NULL, e);
    srand(seed);
    e->judged = 10 + seed;
    for (size_t i = 0; i < e->judged; i++) {
        db_evidence_spot *const s = &e->spot[i];
        const double node[3] = { floor(9 * uniform()) - 4, is_row ? 0 : floor(9 * uniform()) - 4,
                                 0 };
        double cofactors[9], turn;
        db_apply(lattice, node, s->q);
        turn = 57.3 / (0.05 + db_length(s->q)); /* degree, of 1/A along the beam */
        const double offset[9] = { 200, 0, 0, 0, 200, 0, 0, 0, turn },
                     off[3] = { 0.5 * normal() / 200, 0.5 * normal() / 200, 0.3 * normal() / turn };
        for (int k = 0; k < 3; k++) s->q[k] += off[k];
        s->q[2] += tilt * s->q[0];
        memcpy(s->offset, offset, sizeof offset);
        s->volume = fabs(db_cofactors(offset, cofactors));
    }
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(e, half);
}

/* Frames of electrons show such spots. They do not determine how rivals move, which do not go astray: spots of a row do not
 * tell turns about it. And a smaller cell, which explains spots of a layer, too, has not moved, even if the layer has. */
static void rivals_of_few_spots_stay_near(void **state) {
    (void)state;
    static const double tilts[] = { 0, 0.6 / 57.3 };
    for (int kind = 0; kind < 3; kind++)
        for (uint32_t seed = 1; seed <= 40; seed++) {
            const int is_row = kind == 1;
            db_evidence e;
            db_moved_model moved;
            make_few(is_row, tilts[kind > 1], seed, &e);
            assert_int_equal(db_margin_over_moved(context, &e, &moved), DB_OK);
            print_message("%zu spots of a %s: %.1f: turn %.3g shift %.2f %.2f, 1/%d\n", e.judged,
                          is_row ? "row" : "layer", moved.margin, moved.turn, moved.shift[0],
                          moved.shift[1], moved.times);
            assert_true(is_row || !(moved.margin < -32));
            assert_true(moved.turn < 9 && hypot(moved.shift[0], moved.shift[1]) < 36);
            db_evidence_clear(&e);
        }
}

static void a_shift_of_all_spots_is_found(void **state) {
    (void)state;
    static const double shift[3] = { 2.5, -1.5, 0 };
    db_evidence e;
    db_moved_model moved;
    double back[9], by[3];
    make(CELL, NULL, &e);
    assert_int_equal(db_margin_over_moved(context, &e, &moved), DB_OK);
    assert_true(isnan(moved.margin));
    assert_true(db_invert(OFFSET, back));
    db_apply(back, shift, by);
    for (size_t i = 0; i < SPOTS; i++)
        for (int k = 0; k < 3; k++) e.spot[i].q[k] += by[k];
    for (int half = 0; half < DB_HALVES; half++) db_evidence_fit(&e, half);
    assert_int_equal(db_margin_over_moved(context, &e, &moved), DB_OK);
    print_message("%.1f: turn %.3f shift %.2f %.2f\n", moved.margin, moved.turn, moved.shift[0],
                  moved.shift[1]);
    assert_true(moved.margin < -32);
    assert_true(fabs(moved.shift[0] - shift[0]) < 0.2 && fabs(moved.shift[1] - shift[1]) < 0.2);
    db_evidence_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_are_those_of_a_naive_computation),
        cmocka_unit_test(parts_are_the_likeliest),
        cmocka_unit_test(margins_are_those_of_spots_held_out),
        cmocka_unit_test(nodes_are_nearest_where_they_are_recorded),
        cmocka_unit_test(widths_and_part_are_those_of_the_spots),
        cmocka_unit_test(turns_of_thick_nodes_grow_near_the_beam),
        cmocka_unit_test(widths_are_those_across_recorded_lines),
        cmocka_unit_test(spots_anywhere_have_the_density_1),
        cmocka_unit_test(cells_that_are_too_large_are_told),
        cmocka_unit_test(centrings_are_recognized),
        cmocka_unit_test(cells_that_are_too_small_are_told),
        cmocka_unit_test(rows_are_as_far_as_they_are_across),
        cmocka_unit_test(fewer_nodes_in_another_place_are_told),
        cmocka_unit_test(rows_are_told_from_nodes),
        cmocka_unit_test(a_quarter_beside_its_nodes_is_told),
        cmocka_unit_test(halves_predict_each_other),
        cmocka_unit_test(spots_beside_nodes_are_told_by_the_other_half),
        cmocka_unit_test(lost_spots_explain_no_others),
        cmocka_unit_test(rivals_of_few_spots_stay_near),
        cmocka_unit_test(a_shift_of_all_spots_is_found),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
