/* Predicted reflections against what the simulator renders, and against the Ewald condition. */

#include "support/unit_test.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/pixels/predict.h"
#include "base/vector.h"
#include "support/naive_geometry.h"

#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 600 };
static db_context *context;
static db_experiment crystal;

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK || db_experiment_init(context, &crystal) != DB_OK)
        return -1;
    const double cell[6] = { 41, 52, 67, 90, 96, 90 }, misset[3] = { 20, -35, 50 };
    memcpy(crystal.crystal.cell, cell, sizeof cell);
    memcpy(crystal.crystal.misset, misset, sizeof misset);
    crystal.crystal.shape = DB_SHAPE_GAUSS;
    for (int i = 0; i < 3; i++) crystal.crystal.Ncells[i] = 20;
    crystal.structure_factors.default_F = 1;
    crystal.beam.wavelength = 1.1;
    db_panel *const panel = &crystal.detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = PIXELS;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.2;
    crystal.detector.distance = 100;
    crystal.detector.centre[0] = 55;
    crystal.detector.centre[1] = 63;
    return 0;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&crystal);
    db_context_destroy(&context);
    return 0;
}

/* Centroid of the rendered image in a small window around a point. */
static int rendered_centroid(const float *image, const double at[2], double centroid[2]) {
    const int f0 = (int)at[0] - 4, s0 = (int)at[1] - 4;
    double sum = 0, f = 0, s = 0;
    if (f0 < 0 || s0 < 0 || f0 + 9 > PIXELS || s0 + 9 > PIXELS) return 0;
    for (int y = s0; y < s0 + 9; y++) {
        for (int x = f0; x < f0 + 9; x++) {
            const double w = (double)image[y * PIXELS + x];
            sum += w;
            f += w * (x + 0.5);
            s += w * (y + 0.5);
        }
    }
    if (!(sum > 0)) return 0;
    centroid[0] = f / sum;
    centroid[1] = s / sum;
    return 1;
}

static void expect_spots_where_predicted(double farthest) {
    static float image[PIXELS * PIXELS];
    const db_prediction_range range = { 2.2, 20, 0.03, 0 };
    db_predicted_spots prediction;
    db_plan *plan;
    int compared = 0;
    crystal.detector.rotation[0] = 2; /* nothing is parallel to anything */
    crystal.detector.rotation[1] = -3;
    crystal.detector.twotheta = 4;
    crystal.beam.tilt[0] = 3;
    crystal.beam.tilt[1] = -2;
    crystal.goniometer.phi = 7;
    crystal.oversample = 3;
    assert_int_equal(db_plan_create(context, &crystal, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    assert_int_equal(db_predict(context, &crystal, &range, &prediction), DB_OK);
    for (size_t i = 0; i < prediction.count; i++) {
        double centroid[2];
        if (fabs(prediction.spot[i].turn) > 0.03) continue; /* seen off its centre */
        if (!rendered_centroid(image, prediction.spot[i].position, centroid)) continue;
        const double off = hypot(centroid[0] - prediction.spot[i].position[0],
                                 centroid[1] - prediction.spot[i].position[1]);
        if (off > farthest)
            fail_msg("reflection %d %d %d appears %.2f pixels off", prediction.spot[i].hkl[0],
                     prediction.spot[i].hkl[1], prediction.spot[i].hkl[2], off);
        compared++;
    }
    assert_true(compared > 10);
    db_predicted_spots_clear(&prediction);
}

static void spots_appear_where_predicted(void **state) {
    (void)state;
    expect_spots_where_predicted(0.25);
}

/* Twice as thick as usual, so that parallax is more than a pixel. */
static void spots_in_a_sensor_appear_where_predicted(void **state) {
    (void)state;
    crystal.detector.sensor_thickness = 900;
    crystal.detector.attenuation_depth = 520;
    for (int layers = 1; layers < 5; layers += 3) {
        crystal.detector.sensor_layers = layers;
        expect_spots_where_predicted(0.3);
    }
    crystal.detector.layers_at_front = 1;
    expect_spots_where_predicted(0.3);
    crystal.detector.layers_at_front = 0;
    crystal.detector.sensor_thickness = 0;
}

/* A pink beam: lines across three percent, the middle ones ten times as strong as the ends. */
static void make_pink(double width) {
    enum { LINES = 61 };
    double wavelength[LINES], weight[LINES];
    for (int i = 0; i < LINES; i++) {
        const double x = 2.0 * i / (LINES - 1) - 1;
        wavelength[i] = 1.1 * (1 + 0.5 * width * x);
        weight[i] = pow(10, -x * x);
    }
    assert_int_equal(db_beam_set_spectrum(context, &crystal.beam, wavelength, weight, LINES, 1),
                     DB_OK);
}

/* Of each reflection the light within a few pixels of a place; NAN: too near an edge. */
static double light_around(const float *image, const double at[2]) {
    const int f0 = (int)at[0] - 4, s0 = (int)at[1] - 4;
    double sum = 0;
    if (f0 < 0 || s0 < 0 || f0 + 9 > PIXELS || s0 + 9 > PIXELS) return NAN;
    for (int y = s0; y < s0 + 9; y++)
        for (int x = f0; x < f0 + 9; x++) sum += (double)image[y * PIXELS + x];
    return sum;
}

/* A crystal without mosaic spread picks its wavelengths from a pink beam, reflection by reflection:
 * spots appear where those are diffracted to, pixels from where the central one would be. */
static void pink_spots_appear_where_predicted(void **state) {
    (void)state;
    static float image[PIXELS * PIXELS];
    const db_prediction_range range = { 2.2, 20, 0.03, 0 };
    db_predicted_spots pink, central;
    db_plan *plan;
    int compared = 0, elsewhere = 0;
    const db_prediction_range all = { 2.2, 20, 3, 0 };
    for (int i = 0; i < 3; i++) crystal.crystal.Ncells[i] = 40;
    /* the same reflections in light of the central wavelength alone */
    assert_int_equal(db_predict(context, &crystal, &all, &central), DB_OK);
    make_pink(0.03);
    crystal.oversample = 4;
    assert_int_equal(db_plan_create(context, &crystal, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    assert_int_equal(db_predict(context, &crystal, &range, &pink), DB_OK);
    size_t c = 0;
    for (size_t i = 0; i < pink.count; i++) {
        const db_spot *const r = &pink.spot[i];
        double centroid[2];
        while (c < central.count && memcmp(central.spot[c].hkl, r->hkl, sizeof r->hkl) != 0) c++;
        if (c == central.count || fabs(r->turn) > 0.02) {
            c = c == central.count ? 0 : c;
            continue;
        }
        if (!rendered_centroid(image, r->position, centroid)) continue;
        const double off = hypot(centroid[0] - r->position[0], centroid[1] - r->position[1]);
        if (off > 0.3)
            fail_msg("reflection %d %d %d appears %.2f pixels off", r->hkl[0], r->hkl[1], r->hkl[2],
                     off);
        const double *const there = central.spot[c].position;
        elsewhere += hypot(centroid[0] - there[0], centroid[1] - there[1]) > 1;
        compared++;
    }
    if (!(compared > 80 && elsewhere > compared / 3))
        fail_msg("%d spots, %d of them not where the central wavelength has them", compared,
                 elsewhere);
    db_predicted_spots_clear(&pink);
    db_predicted_spots_clear(&central);
}

/* A named centring leaves out what it forbids, and nothing else. R leaves out what it forbids in hexagonal axes (obverse), and in
 * its own axes nothing. */
static void forbidden_reflections_are_not_predicted(void **state) {
    (void)state;
    static const struct {
        int letter, edges_at_120; /* 1: hexagonal axes */
    } of[] = { { 'P', 0 }, { 'A', 0 }, { 'B', 0 }, { 'C', 0 },
               { 'I', 0 }, { 'F', 0 }, { 'R', 0 }, { 'R', 1 } };
    for (size_t n = 0; n < sizeof of / sizeof *of; n++) {
        const db_prediction_range all = { 2.2, 20, 0.3, 0 },
                                  centred = { 2.2, 20, 0.3, of[n].letter };
        db_predicted_spots whole, part;
        size_t at = 0;
        crystal.crystal.cell[1] =
            of[n].edges_at_120 ? crystal.crystal.cell[0] : crystal.crystal.cell[1];
        crystal.crystal.cell[5] = of[n].edges_at_120 ? 120 : 90;
        assert_int_equal(db_predict(context, &crystal, &all, &whole), DB_OK);
        assert_int_equal(db_predict(context, &crystal, &centred, &part), DB_OK);
        for (size_t i = 0; i < whole.count; i++) {
            const int *const m = whole.spot[i].hkl, h = m[0], k = m[1], l = m[2];
            const int forbidden = of[n].letter == 'A'   ? (k + l) % 2 != 0
                                  : of[n].letter == 'B' ? (h + l) % 2 != 0
                                  : of[n].letter == 'C' ? (h + k) % 2 != 0
                                  : of[n].letter == 'I' ? (h + k + l) % 2 != 0
                                  : of[n].letter == 'F'
                                      ? (h + k) % 2 != 0 || (k + l) % 2 != 0
                                      : of[n].edges_at_120 && (k - h + l) % 3 != 0;
            const int there = at < part.count && memcmp(part.spot[at].hkl, m, 3 * sizeof *m) == 0;
            assert_int_equal(there, !forbidden);
            at += (size_t)there;
        }
        assert_int_equal(at, part.count);
        db_predicted_spots_clear(&whole);
        db_predicted_spots_clear(&part);
    }
}

/* All light of the image is around predicted positions, though none of them is turned at all: the
 * spectrum's width counts, not only the angle that is allowed. */
static void a_pink_beam_excites_more(void **state) {
    (void)state;
    static float image[PIXELS * PIXELS];
    const db_prediction_range range = { 2.2, 0, 0.01, 0 };
    db_predicted_spots one, pink;
    db_plan *plan;
    double around = 0, total = 0;
    for (int i = 0; i < 3; i++) crystal.crystal.Ncells[i] = 60;
    assert_int_equal(db_predict(context, &crystal, &range, &one), DB_OK);
    make_pink(0.03);
    assert_int_equal(db_predict(context, &crystal, &range, &pink), DB_OK);
    assert_true(pink.count > 2 * one.count);
    assert_int_equal(db_plan_create(context, &crystal, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    db_fit_geometry geometry;
    assert_int_equal(db_fit_geometry_of(context, &crystal, &geometry), DB_OK);
    for (int i = 0; i < PIXELS * PIXELS; i++) {
        const double d = db_fit_geometry_resolution(&geometry, 0, i % PIXELS, i / PIXELS);
        if (d < 2.3 || d > 40) image[i] = 0;
        total += (double)image[i];
    }
    db_fit_geometry_clear(&geometry);
    for (size_t i = 0; i < pink.count; i++) {
        const double light = light_around(image, pink.spot[i].position);
        const int f0 = (int)pink.spot[i].position[0] - 4, s0 = (int)pink.spot[i].position[1] - 4;
        if (isnan(light)) continue;
        around += light;
        for (int y = s0; y < s0 + 9; y++)
            for (int x = f0; x < f0 + 9; x++) image[y * PIXELS + x] = 0; /* counts once */
    }
    if (!(around > 0.98 * total)) fail_msg("%g of the light is predicted", around / total);
    db_predicted_spots_clear(&one);
    db_predicted_spots_clear(&pink);
}

static void reflections_within_the_angle_are_all_predicted_and_no_others(void **state) {
    (void)state;
    const db_prediction_range wide = { 2.5, 0, 2.0, 0 }, narrow = { 2.5, 12, 0.4, 0 };
    db_predicted_spots all, some, sized;
    size_t expected = 0;
    for (int i = 0; i < 3; i++) crystal.crystal.Ncells[i] = 1e6; /* nodes are points */
    assert_int_equal(db_predict(context, &crystal, &wide, &all), DB_OK);
    assert_int_equal(db_predict(context, &crystal, &narrow, &some), DB_OK);
    for (size_t i = 0; i < all.count; i++) {
        assert_true(all.spot[i].resolution >= 2.5 && fabs(all.spot[i].turn) <= 2);
        expected += fabs(all.spot[i].turn) <= 0.4 && all.spot[i].resolution <= 12;
    }
    assert_int_equal(some.count, expected);
    assert_true(expected > 50 && all.count > 4 * expected);
    for (int i = 0; i < 3; i++) crystal.crystal.Ncells[i] = 20; /* nodes are balls */
    assert_int_equal(db_predict(context, &crystal, &narrow, &sized), DB_OK);
    assert_true(sized.count > some.count);
    db_predicted_spots_clear(&all);
    db_predicted_spots_clear(&some);
    db_predicted_spots_clear(&sized);
}

/* Sampled orientations are those at the steps; in closed form the whole last step counts, too. */
static void the_middle_of_a_rotation_is_found(void **state) {
    (void)state;
    double half;
    crystal.goniometer.phi = 10;
    crystal.goniometer.phi_step = 0.5;
    crystal.goniometer.phi_steps = 3;
    assert_true(db_goniometer_middle(&crystal, &half) == 10.5 && half == 0.5);
    crystal.spread.spots = DB_SPOTS_CLOSED;
    assert_true(db_goniometer_middle(&crystal, &half) == 10.75 && half == 0.75);
}

/* Number of spots of a reflection, and the sum of what is recorded of it. */
static size_t count_alike(const db_spot *spot, size_t count, const int hkl[3], double *recorded) {
    size_t alike = 0;
    *recorded = 0;
    for (size_t i = 0; i < count; i++) {
        if (db_compare_hkl(spot[i].hkl, hkl) != 0) continue;
        *recorded += spot[i].recorded;
        alike++;
    }
    return alike;
}

/* Spots of a turned crystal; of a passage that begins or ends on another frame there is no spot, or one more. */
static void spots_are_predicted_again(void **state) {
    (void)state;
    const db_prediction_range range = { 5, 0, 0.1, 0 };
    db_predicted_spots before, after, same;
    size_t fewer = 0, more = 0, gone = 0, twice = 0;
    crystal.spread.spots = DB_SPOTS_CLOSED;
    crystal.goniometer.phi_step = 170;
    assert_int_equal(db_predict(context, &crystal, &range, &before), DB_OK);
    assert_int_equal(db_predict(context, &crystal, &range, &same), DB_OK);
    assert_int_equal(db_predict_again(context, &crystal, 0.1, same.spot, same.count), DB_OK);
    assert_memory_equal(before.spot, same.spot, before.count * sizeof *before.spot);
    crystal.goniometer.phi += 5;
    assert_int_equal(db_predict(context, &crystal, &range, &after), DB_OK);
    assert_int_equal(db_predict_again(context, &crystal, 0.1, same.spot, same.count), DB_OK);
    for (size_t i = 0; i < before.count; i++) {
        const int *const hkl = before.spot[i].hkl;
        double whole, listed;
        const size_t now = count_alike(after.spot, after.count, hkl, &whole),
                     then = count_alike(same.spot, same.count, hkl, &listed);
        assert_int_equal(db_compare_hkl(same.spot[i].hkl, hkl), 0);
        fewer += now && now < then;
        more += now > then;
        gone += !now;
        twice += now == 2 && then == 2;
        assert_true(now > then ? listed <= whole : fabs(listed - whole) < 1e-12);
        if (now == 1 && then == 1)
            assert_true(fabs(same.spot[i].recorded - whole) < 1e-12 &&
                        same.spot[i].position[0] > 0);
    }
    print_message("%zu spots, %zu with fewer passages, %zu with more, %zu gone, %zu twice\n",
                  before.count, fewer, more, gone, twice);
    assert_true(fewer && more && gone && twice);
    assert_int_equal(db_predict_again(context, &crystal, 0.1, NULL, 0), DB_OK);
    db_predicted_spots_clear(&before);
    db_predicted_spots_clear(&after);
    db_predicted_spots_clear(&same);
}

/* In the middle of the exposure, wherever the goniometer has turned it. */
static void a_crystal_off_the_origin_sees_pixels_from_there(void **state) {
    (void)state;
    db_fit_geometry geometry;
    memcpy(crystal.crystal.position, (double[]){ 1.5, -2, 0.7 }, 3 * sizeof(double));
    memcpy(crystal.crystal.misset_frame, (double[]){ 40, -25, 65 }, 3 * sizeof(double));
    crystal.goniometer.phi = 30;
    crystal.goniometer.phi_step = 8;
    for (int closed = 0; closed < 2; closed++) {
        crystal.spread.spots = closed ? DB_SPOTS_CLOSED : DB_SPOTS_SAMPLED;
        assert_int_equal(db_fit_geometry_of(context, &crystal, &geometry), DB_OK);
        for (int n = 0; n < 5; n++) {
            const double pixel[2] = { 137.0 * n, 600 - 91.0 * n };
            const naive_place at = naive_place_of(&crystal, 0, 0.2 * pixel[0], 0.2 * pixel[1], 0);
            double q[3];
            db_fit_geometry_scattering(&geometry, 0, pixel, q);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(q[i] - (at.x[i] / sqrt(naive_dot(at.x, at.x)) -
                                         crystal.beam.direction[i]) /
                                            1.1) < 1e-12);
        }
        db_fit_geometry_clear(&geometry);
    }
}

/* Four domains of a cap at three steps are spread as blocks of its variance that turn from the first step to
 * the last. */
static void samples_are_predicted_by_their_spread(void **state) {
    (void)state;
    const db_prediction_range range = { 2.5, 12, 0.1, 0 };
    const double variance = 0.739 / 3; /* about an axis, of a cap of 1 */
    db_predicted_spots sampled, closed;
    db_fit_geometry of_sampled, of_closed;
    crystal.goniometer.phi_step = 0.3;
    crystal.goniometer.phi_steps = 3;
    crystal.crystal.mosaic_spread = 0.4;
    crystal.crystal.mosaic_domains = 4;
    assert_int_equal(db_predict(context, &crystal, &range, &sampled), DB_OK);
    assert_int_equal(db_fit_geometry_of(context, &crystal, &of_sampled), DB_OK);
    crystal.goniometer.phi_step = 0.6;
    crystal.goniometer.phi_steps = 1;
    crystal.spread.spots = DB_SPOTS_CLOSED;
    crystal.spread.mosaic = 0.4 * 0.4 * variance;
    crystal.crystal.mosaic_domains = 1;
    assert_int_equal(db_predict(context, &crystal, &range, &closed), DB_OK);
    assert_int_equal(db_fit_geometry_of(context, &crystal, &of_closed), DB_OK);
    assert_true(of_sampled.mosaic_angle > 0.19 &&
                fabs(of_sampled.mosaic_angle - of_closed.mosaic_angle) < 1e-3);
    db_fit_geometry_clear(&of_sampled);
    db_fit_geometry_clear(&of_closed);
    assert_true(sampled.count > 100);
    assert_int_equal(sampled.count, closed.count);
    for (size_t i = 0; i < closed.count; i++) {
        const db_spot *const a = &sampled.spot[i], *const b = &closed.spot[i];
        assert_memory_equal(a->hkl, b->hkl, sizeof a->hkl);
        assert_true(hypot(a->position[0] - b->position[0], a->position[1] - b->position[1]) < 0.01);
        assert_true(fabs(a->recorded - b->recorded) < 0.01);
    }
    db_predicted_spots_clear(&sampled);
    db_predicted_spots_clear(&closed);
}

static void resolution_follows_bragg(void **state) {
    (void)state;
    db_fit_geometry geometry;
    assert_int_equal(db_fit_geometry_of(context, &crystal, &geometry), DB_OK);
    const double r = 0.2 * 150, theta = 0.5 * atan(r / 100);
    const double d = db_fit_geometry_resolution(&geometry, 0, 55 / 0.2 + 150, 63 / 0.2);
    assert_true(fabs(d - 1.1 / (2 * sin(theta))) < 1e-9);
    assert_true(db_fit_geometry_finest(&geometry) <
                db_fit_geometry_resolution(&geometry, 0, 300, 599));
    db_fit_geometry_clear(&geometry);
}

static void a_pixel_belongs_to_the_nearest_reflection(void **state) {
    (void)state;
    db_spot list[3] = { { .position = { 50, 50 } },
                        { .position = { 58, 50 } },
                        { .position = { 50, 90 } } };
    const db_predicted_spots prediction = { 3, list };
    db_panel panel = { .fast_pixels = 100, .slow_pixels = 100 };
    const db_detector detector = { .panel_count = 1, .panels = &panel };
    const db_region region = {
        .fast_start = 42, .slow_start = 42, .fast_count = 17, .slow_count = 17, .stride = 17
    };
    uint8_t own[17 * 17];
    db_reflection_grid grid;
    memset(own, 1, sizeof own);
    assert_int_equal(db_reflection_grid_make(context, &prediction, &detector, 27, &grid), DB_OK);
    db_reflection_grid_share(&grid, 0, &region, own);
    for (int i = 0; i < 17 * 17; i++) assert_int_equal(own[i], 42 + i % 17 + 0.5 <= 54);
    db_reflection_grid_clear(&grid);
}

/* Of many, some near enough to take only a corner. */
static void pixels_belong_to_the_nearest_of_many(void **state) {
    (void)state;
    enum { COUNT = 60, HALF = 8, WIDTH = 2 * HALF + 1 };
    db_spot list[COUNT] = { 0 };
    const db_predicted_spots prediction = { COUNT, list };
    db_panel panel = { .fast_pixels = 100, .slow_pixels = 100 };
    const db_detector detector = { .panel_count = 1, .panels = &panel };
    db_reflection_grid grid;
    int lost = 0, kept = 0;
    for (int i = 0; i < COUNT; i++) /* multiples of irrational numbers spread evenly */
        for (int k = 0; k < 2; k++)
            list[i].position[k] =
                100 * fmod((i + 1) * (k ? 0.5698402909980532 : 0.7548776662466927), 1);
    assert_int_equal(db_reflection_grid_make(context, &prediction, &detector, 3 * HALF + 3, &grid),
                     DB_OK);
    for (size_t n = 0; n < COUNT; n++) {
        const double *const at = list[n].position;
        const db_region region = { .fast_start = (int)floor(at[0]) - HALF,
                                   .slow_start = (int)floor(at[1]) - HALF,
                                   .fast_count = WIDTH,
                                   .slow_count = WIDTH,
                                   .stride = WIDTH };
        uint8_t own[WIDTH * WIDTH];
        memset(own, 1, sizeof own);
        db_reflection_grid_share(&grid, n, &region, own);
        for (int i = 0; i < WIDTH * WIDTH; i++) {
            const double fast = region.fast_start + i % WIDTH + 0.5,
                         slow = region.slow_start + i / WIDTH + 0.5;
            int nearest = 1;
            for (size_t m = 0; m < COUNT; m++)
                nearest &= hypot(fast - list[m].position[0], slow - list[m].position[1]) >=
                           hypot(fast - at[0], slow - at[1]);
            if (own[i] != nearest) fail_msg("reflection %zu, pixel %d: %d", n, i, own[i]);
            lost += !nearest;
            kept += nearest;
        }
    }
    assert_true(lost > 1000 && kept > 1000);
    db_reflection_grid_clear(&grid);
}

/* A panel cut into two along its rows records what the whole one does. */
static void two_halves_of_a_panel_record_what_the_whole_does(void **state) {
    (void)state;
    enum { UPPER = 250 };
    const db_prediction_range range = { 2.5, 0, 1, 0 };
    db_predicted_spots whole, halves;
    crystal.detector.rotation[0] = 5;
    assert_int_equal(db_predict(context, &crystal, &range, &whole), DB_OK);
    db_panel *const panels = malloc(2 * sizeof *panels);
    assert_non_null(panels);
    panels[0] = panels[1] = crystal.detector.panels[0];
    panels[0].slow_pixels = UPPER;
    panels[1].slow_pixels = PIXELS - UPPER;
    panels[1].origin[1] = UPPER * 0.2;
    free(crystal.detector.panels);
    crystal.detector.panels = panels;
    crystal.detector.panel_count = 2;
    assert_int_equal(db_predict(context, &crystal, &range, &halves), DB_OK);
    assert_true(whole.count > 100);
    assert_int_equal(whole.count, halves.count);
    size_t lower = 0;
    for (size_t i = 0; i < whole.count; i++) {
        const db_spot *const a = &whole.spot[i], *const b = &halves.spot[i];
        assert_memory_equal(a->hkl, b->hkl, sizeof a->hkl);
        assert_int_equal(b->panel, a->position[1] >= UPPER);
        assert_true(fabs(a->position[0] - b->position[0]) < 1e-9);
        assert_true(fabs(a->position[1] - b->position[1] - (b->panel ? UPPER : 0)) < 1e-9);
        lower += b->panel;
    }
    assert_true(lower > 20 && lower < whole.count - 20);
    db_fit_geometry geometry;
    assert_int_equal(db_fit_geometry_of(context, &crystal, &geometry), DB_OK);
    assert_true(fabs(db_fit_geometry_resolution(&geometry, 0, 100, UPPER) -
                     db_fit_geometry_resolution(&geometry, 1, 100, 0)) < 1e-9);
    db_fit_geometry_clear(&geometry);
    db_predicted_spots_clear(&whole);
    db_predicted_spots_clear(&halves);
}

/* Reflections of another panel take no pixels away, however near their numbers are. */
static void pixels_are_shared_within_a_panel_only(void **state) {
    (void)state;
    db_spot list[2] = { { .position = { 50, 50 } }, { .panel = 1, .position = { 54, 50 } } };
    const db_predicted_spots prediction = { 2, list };
    db_panel panel = { .fast_pixels = 100, .slow_pixels = 100 };
    const db_detector detector = { .panel_count = 1, .panels = &panel };
    const db_region region = {
        .fast_start = 42, .slow_start = 42, .fast_count = 17, .slow_count = 17, .stride = 17
    };
    uint8_t own[17 * 17];
    db_reflection_grid grid;
    memset(own, 1, sizeof own);
    assert_int_equal(db_reflection_grid_make(context, &prediction, &detector, 27, &grid), DB_OK);
    db_reflection_grid_share(&grid, 0, &region, own);
    for (int i = 0; i < 17 * 17; i++) assert_int_equal(own[i], 1);
    db_reflection_grid_clear(&grid);
}

/* A ray meets a panel where its scattering vector, on the Ewald sphere, is found again. */
static void expect_that_points_know_their_rays(void) {
    db_fit_geometry geometry;
    assert_int_equal(db_fit_geometry_of(context, &crystal, &geometry), DB_OK);
    for (int i = 0; i < 200; i++) {
        const double at[2] = { PIXELS * fmod(0.7548776662466927 * i, 1),
                               PIXELS * fmod(0.5698402909980532 * i, 1) };
        double q[3], s1[3], pixel[2];
        db_fit_geometry_scattering(&geometry, 0, at, q);
        for (int k = 0; k < 3; k++) s1[k] = geometry.s0[k] + q[k];
        assert_true(fabs(db_length(s1) / db_length(geometry.s0) - 1) < 1e-12);
        assert_int_equal(db_fit_geometry_on_panel(&geometry, 0, s1, pixel), 1);
        assert_true(hypot(pixel[0] - at[0], pixel[1] - at[1]) < 1e-7);
    }
    db_fit_geometry_clear(&geometry);
}

static void a_ray_and_its_point_know_each_other(void **state) {
    (void)state;
    crystal.detector.rotation[1] = 12;
    expect_that_points_know_their_rays();
    crystal.detector.sensor_thickness = 900;
    crystal.detector.attenuation_depth = 520;
    expect_that_points_know_their_rays();
    crystal.detector.layers_at_front = 1;
    crystal.detector.sensor_layers = 3;
    expect_that_points_know_their_rays();
}

static void too_many_reflections_are_refused(void **state) {
    (void)state;
    const db_prediction_range range = { 0, 0, 1, 0 };
    db_predicted_spots prediction;
    crystal.crystal.cell[0] = crystal.crystal.cell[1] = crystal.crystal.cell[2] = 20000;
    assert_int_equal(db_predict(context, &crystal, &range, &prediction), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "dmin"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spots_appear_where_predicted, make, drop),
        cmocka_unit_test_setup_teardown(spots_in_a_sensor_appear_where_predicted, make, drop),
        cmocka_unit_test_setup_teardown(pink_spots_appear_where_predicted, make, drop),
        cmocka_unit_test_setup_teardown(forbidden_reflections_are_not_predicted, make, drop),
        cmocka_unit_test_setup_teardown(a_pink_beam_excites_more, make, drop),
        cmocka_unit_test_setup_teardown(
            reflections_within_the_angle_are_all_predicted_and_no_others, make, drop),
        cmocka_unit_test_setup_teardown(the_middle_of_a_rotation_is_found, make, drop),
        cmocka_unit_test_setup_teardown(spots_are_predicted_again, make, drop),
        cmocka_unit_test_setup_teardown(a_crystal_off_the_origin_sees_pixels_from_there, make,
                                        drop),
        cmocka_unit_test_setup_teardown(samples_are_predicted_by_their_spread, make, drop),
        cmocka_unit_test_setup_teardown(resolution_follows_bragg, make, drop),
        cmocka_unit_test_setup_teardown(a_pixel_belongs_to_the_nearest_reflection, make, drop),
        cmocka_unit_test_setup_teardown(pixels_belong_to_the_nearest_of_many, make, drop),
        cmocka_unit_test_setup_teardown(two_halves_of_a_panel_record_what_the_whole_does, make,
                                        drop),
        cmocka_unit_test_setup_teardown(pixels_are_shared_within_a_panel_only, make, drop),
        cmocka_unit_test_setup_teardown(a_ray_and_its_point_know_each_other, make, drop),
        cmocka_unit_test_setup_teardown(too_many_reflections_are_refused, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
