/* How far the kernels' images and derivatives are from the oracle's, over crystals from 5 to 1000
 * cells, beside the direct beam, with it on the detector, and of the pixels next to it alone, of
 * all smooth shapes, with and without mosaic domains, in both precisions, with every instruction
 * set. docs/reference/precision.md has what this prints. */
#include "support/unit_test.h"
#include "support/instruction_sets.h"
#include "engine/trial_pixels.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/oracle.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 256, STRIPS = 48, STRIP = 16, PIXELS = STRIPS * STRIP };

static const db_parameter wanted[] = {
    DB_CELL_A,        DB_CELL_BETA,       DB_MISSET_X,      DB_MISSET_Y, DB_MISSET_Z,
    DB_CELLS_A,       DB_MOSAIC_SPREAD,   DB_B_FACTOR,      DB_PHI,      DB_WAVELENGTH,
    DB_BEAM_VERTICAL, DB_BEAM_HORIZONTAL, DB_POLARIZATION,  DB_DISTANCE, DB_BEAM_FAST,
    DB_BEAM_SLOW,     DB_DETECTOR_ROTX,   DB_DETECTOR_ROTY, DB_TWOTHETA, DB_PANEL_TURN_NORMAL,
};
enum { WANTED = sizeof wanted / sizeof wanted[0] };

typedef struct scene {
    int cells, domains;
    enum { BEAM_OFF, BEAM_ON, BEAM_ALONE } beam;
    db_crystal_shape shape;
} scene;

/* Largest differences to the oracle, in parts of the largest values; of what places the detector
 * and of all other parameters. */
typedef struct differences {
    double image, detector, other;
} differences;

static void keep(differences *most, const differences *d) {
    most->image = fmax(most->image, d->image);
    most->detector = fmax(most->detector, d->detector);
    most->other = fmax(most->other, d->other);
}

static db_experiment experiment_of(db_context *context, const scene *s) {
    db_experiment e;
    const double cell[6] = { 78, 81, 38, 88, 93, 97 };
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    memcpy(e.crystal.cell, cell, sizeof cell);
    for (int j = 0; j < 3; j++) {
        e.crystal.Ncells[j] = s->cells;
        e.crystal.misset[j] = 3 + 11 * j;
    }
    e.crystal.shape = s->shape;
    e.crystal.mosaic_domains = s->domains;
    e.crystal.mosaic_spread = s->domains > 1 ? 0.3 : 0;
    e.structure_factors.default_F = 100;
    e.beam.wavelength = 1;
    e.detector.distance = 100;
    db_panel *const panel = e.detector.panels;
    panel->fast_pixels = panel->slow_pixels = SIZE;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.1;
    for (int i = 0; i < 2; i++)
        e.detector.centre[i] = s->beam == BEAM_OFF ? -31.7 : 12.82 + 0.06 * i;
    return e;
}

/* Strips of pixels: some evenly spread, most where reflections are bright; or next to the direct
 * beam. */
static void lay_strips(db_context *context, const scene *s, const db_experiment *e,
                       db_region strips[STRIPS]) {
    const db_region all = { .fast_count = SIZE, .slow_count = SIZE, .stride = SIZE };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    db_trial_spread(&all, 1, strips, STRIPS);
    for (int i = 0; i < STRIPS && s->beam == BEAM_ALONE; i++) {
        strips[i].fast_start = SIZE / 2 - STRIP / 2;
        strips[i].slow_start = SIZE / 2 - STRIPS / 2 + i;
    }
    if (s->beam == BEAM_ALONE) return;
    options.regions = strips;
    options.region_count = STRIPS;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_int_equal(db_trial_move_to_spots(plan, &all, 1, STRIPS / 8, 8 * STRIPS), DB_OK);
    memcpy(strips, plan->tiles.regions, STRIPS * sizeof *strips);
    db_plan_destroy(&plan);
}

static double largest(const double *v) {
    double most = 0;
    for (int i = 0; i < PIXELS; i++) most = fmax(most, fabs(v[i]));
    return most;
}
static double apart(const double *a, const double *b) {
    double most = 0;
    for (int i = 0; i < PIXELS; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static double image[2][PIXELS], slope[2][WANTED][PIXELS]; /* of the oracle, of a kernel */

static db_plan *plan_of(db_context *context, const db_experiment *e, const db_region *strips,
                        db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = wanted;
    options.parameter_count = WANTED;
    options.regions = strips;
    options.region_count = STRIPS;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    return plan;
}

static differences compared(void) {
    differences d = { apart(image[0], image[1]) / largest(image[0]), 0, 0 };
    for (int k = 0; k < WANTED; k++) {
        const double scale = largest(slope[0][k]);
        double *const worst = db_parameter_describe(wanted[k])->facts->moves & DB_MOVES_PANELS
                                  ? &d.detector
                                  : &d.other;
        if (scale > 0) *worst = fmax(*worst, apart(slope[0][k], slope[1][k]) / scale);
    }
    return d;
}

/* brightest: of the shapes of this scene; what is a million times fainter has no spot in it, and is
 * not compared. Returns 0 then. */
static int measure(db_context *context, const scene *s, double *brightest, differences found[2]) {
    double *exact[WANTED];
    void *tried[WANTED];
    db_region strips[STRIPS];
    db_experiment e = experiment_of(context, s);
    lay_strips(context, s, &e, strips);
    for (int k = 0; k < WANTED; k++) {
        exact[k] = slope[0][k];
        tried[k] = slope[1][k];
    }
    for (int precision = 0; precision < 2; precision++) {
        db_plan *plan = plan_of(context, &e, strips, (db_precision)precision);
        if (precision == 0) assert_int_equal(db_plan_oracle(plan, image[0], exact), DB_OK);
        db_plan_destroy(&plan);
        for (size_t set = 0; use_next_instruction_set(context, &set);) {
            plan = plan_of(context, &e, strips, (db_precision)precision);
            assert_int_equal(db_plan_gradient(plan, image[1], tried), DB_OK);
            const differences d = compared();
            keep(&found[precision], &d);
            db_plan_destroy(&plan);
        }
    }
    db_experiment_clear(&e);
    *brightest = fmax(*brightest, largest(image[0]));
    return largest(image[0]) > 1e-6 * *brightest;
}

/* What docs/reference/precision.md says. */
static void judge(const scene *s, const differences d[2]) {
    const double n = s->cells, mixed = 5e-5, beside_beam = 5e-4;
    assert_true(d[0].image <= 1e-12 * n && d[0].detector <= 2e-12 * n && d[0].other <= 2e-12 * n);
    assert_true(d[1].image <= (n <= 100 ? 5e-6 : 1e-5) && d[1].other <= mixed);
    assert_true(d[1].detector <= (s->beam == BEAM_ALONE ? beside_beam : mixed));
}

static void kernels_agree_with_the_oracle(void **state) {
    (void)state;
    static const int cells[] = { 5, 20, 50, 100, 300, 1000 };
    static const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_ROUND, DB_SHAPE_GAUSS };
    static const char *const beam_name[] = { "off", "on", "alone" };
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    print_message("%5s %-5s %8s %8s %8s   %8s %8s %8s\n", "N", "beam", "double:", "detector",
                  "other", "mixed:", "detector", "other");
    for (size_t n = 0; n < sizeof cells / sizeof cells[0]; n++)
        for (int beam = BEAM_OFF; beam <= BEAM_ALONE; beam++) {
            differences worst[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
            scene s = { .cells = cells[n] };
            for (int domains = 1; domains <= 40; domains += 39) {
                double brightest = 0;
                for (int shape = 0; shape < 3; shape++) {
                    differences d[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
                    s = (scene){ cells[n], domains, (unsigned)beam, shapes[shape] };
                    if (!measure(context, &s, &brightest, d)) continue;
                    judge(&s, d);
                    for (int precision = 0; precision < 2; precision++)
                        keep(&worst[precision], &d[precision]);
                }
            }
            print_message("%5d %-5s %8.1e %8.1e %8.1e   %8.1e %8.1e %8.1e\n", s.cells,
                          beam_name[beam], worst[0].image, worst[0].detector, worst[0].other,
                          worst[1].image, worst[1].detector, worst[1].other);
        }
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(kernels_agree_with_the_oracle) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
