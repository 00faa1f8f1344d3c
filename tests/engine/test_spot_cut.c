/* What kernel/spot_cut.h promises of samples that do not count, tried with duals at random places
 * of random crystals. */
#include "support/unit_test.h"
#define DRAWS_START 2463534242U
#include "support/draws.h"
#include "engine/plan_state.h"

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/spot_cut.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdio.h>

/* A crystal, an offset from the node and a part of the peak. Half of the offsets are near the
 * nodes' planes, where the large slopes are. */
typedef struct {
    double cells[3], offset[3], fudge, part;
} place;

static place random_place(void) {
    place p = { .fudge = scaled(0.3, 3), .part = scaled(1e-18, 1e-2) };
    for (int j = 0; j < 3; j++) {
        p.cells[j] = scaled(1, 300);
        if (uniform(0, 2) < 1) p.cells[j] = floor(p.cells[j]);
        p.offset[j] =
            uniform(0, 2) < 1 ? uniform(-0.5, 0.5) : fmin(0.5, scaled(0.01, 10) / p.cells[j]);
    }
    return p;
}

static int counts(db_crystal_shape shape, const place *p) {
    const double cut = spot_cut(shape, p->part);
    return shape == DB_SHAPE_SQUARE ? on_streaks(p->offset, p->cells, cut)
                                    : near_node(p->offset, p->cells, p->fudge, cut);
}

/* Bounds of the relative slopes, as the header has them: m_j / N_j, and c_j. */
static double slope_by_index(db_crystal_shape shape, const place *p) {
    const double pi = acos(-1), root = sqrt(p->fudge);
    switch (shape) {
    case DB_SHAPE_GAUSS: return 4 / 0.63 * root * sqrt(spot_cut(shape, p->part));
    case DB_SHAPE_ROUND: return 2.8 * pi * root;
    case DB_SHAPE_SQUARE: return pi * pi;
    case DB_SHAPE_TOPHAT: break;
    }
    return 0;
}
static double slope_by_cells(db_crystal_shape shape, const place *p, double cells) {
    const double pi = acos(-1);
    switch (shape) {
    case DB_SHAPE_GAUSS: return (2 + 4 / 0.63 * spot_cut(shape, p->part)) / cells;
    case DB_SHAPE_ROUND: return 2 / cells + 1.4 * pi * sqrt(p->fudge);
    case DB_SHAPE_SQUARE: return pi;
    case DB_SHAPE_TOPHAT: break;
    }
    return 0;
}

/* Largest value and slopes among what does not count, in parts of their bounds. */
typedef struct {
    double value, by_index, by_cells;
    int left_out;
} shares;

static void try_place(db_crystal_shape shape, const place *p, shares *s) {
    if (counts(shape, p)) return;
    num offset[3], cells[3];
    double peak = 1;
    for (int j = 0; j < 3; j++) {
        offset[j] = n_seed(p->offset[j], j);
        cells[j] = n_seed(p->cells[j], 3 + j);
        peak *= p->cells[j] * p->cells[j];
    }
    const num f = lattice_amplitude_squared(shape, p->fudge, offset, cells);
    const double bound = p->part * peak * (1 + 1e-9);
    s->left_out++;
    s->value = fmax(s->value, f.v / bound);
    for (int j = 0; j < 3; j++) {
        const double by_index = slope_by_index(shape, p) * p->cells[j] * bound,
                     by_cells = slope_by_cells(shape, p, p->cells[j]) * bound;
        if (shape == DB_SHAPE_TOPHAT) {
            assert_true(f.d[j] == 0);
            continue;
        }
        s->by_index = fmax(s->by_index, fabs(f.d[j]) / by_index);
        s->by_cells = fmax(s->by_cells, fabs(f.d[3 + j]) / by_cells);
    }
}

/* The bounds hold, and are not far from what occurs. */
static void what_does_not_count_is_below_its_bounds(void **unused) {
    (void)unused;
    static const char *const name[] = { "square", "round", "gauss", "tophat" };
    for (int shape = DB_SHAPE_SQUARE; shape <= DB_SHAPE_TOPHAT; shape++) {
        shares s = { 0 };
        for (int i = 0; i < 60000; i++) {
            const place p = random_place();
            try_place((db_crystal_shape)shape, &p, &s);
        }
        printf("%-6s %6d left out: of the bounds, values %.2g, slopes by h %.2g, by N %.2g\n",
               name[shape], s.left_out, s.value, s.by_index, s.by_cells);
        assert_true(s.left_out > 5000);
        assert_true(s.value <= 1 && s.by_index <= 1 && s.by_cells <= 1);
        if (shape == DB_SHAPE_TOPHAT)
            assert_true(s.value == 0);
        else
            assert_true(s.value > 0.5 && s.by_index > 0.1);
    }
}

/* The cubic of the header, below the sine everywhere. */
static void the_cubic_is_below_the_sine(void **unused) {
    (void)unused;
    const double pi = acos(-1);
    for (int i = 0; i <= 100000; i++) {
        const double d = 0.5 * i / 100000, ratio = d * (3 - 4 * d * d) / sin(pi * d);
        assert_true(i == 0 || (ratio > 0.954 && ratio <= 1 + 1e-15));
    }
}

static void centres_always_count(void **unused) {
    (void)unused;
    for (int i = 0; i < 10000; i++) {
        place p = random_place();
        p.part = scaled(1e-18, 1e-2);
        for (int j = 0; j < 3; j++) p.offset[j] = uniform(-0.1, 0.1) / p.cells[j];
        for (int shape = DB_SHAPE_SQUARE; shape <= DB_SHAPE_TOPHAT; shape++)
            assert_true(counts((db_crystal_shape)shape, &p));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_count_is_below_its_bounds),
        cmocka_unit_test(the_cubic_is_below_the_sine),
        cmocka_unit_test(centres_always_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
