/* What db_plan_options.tolerance promises, tried on random jobs: images, derivative images and
 * normal equations of plans with a tolerance against those by the oracle, which leaves nothing out;
 * same bits for any region and number of threads; misuse. */
#include "support/unit_test.h"
#include "drawn_amplitudes.h"
#include "engine/slope_bound.h"
#include "engine/plan_cut.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/oracle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const db_parameter some[] = { DB_CELL_A,          DB_CELL_BETA, DB_MISSET_Y,
                                     DB_CELLS_A,         DB_CELLS_B,   DB_CELLS_C,
                                     DB_MOSAIC_SPREAD,   DB_PHI,       DB_WAVELENGTH,
                                     DB_BEAM_HORIZONTAL, DB_B_FACTOR,  DB_DISTANCE,
                                     DB_TWOTHETA,        DB_SCALE };
enum { SOME = sizeof some / sizeof some[0], JOBS = 240 };

static db_context *context;

static db_experiment random_job(int job) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    db_crystal *const c = &e.crystal;
    c->shape = (db_crystal_shape)(job % 4);
    const double cells = scaled(c->shape == DB_SHAPE_SQUARE ? 20 : 5, 300);
    for (int k = 0; k < 3; k++) {
        c->cell[k] = scaled(20, 200);
        c->Ncells[k] = floor(fmax(1, cells * scaled(0.5, 2)));
        c->misset[k] = uniform(0, 360);
    }
    if (once_in(10)) c->Ncells[whole(0, 2)] = 1;
    if (once_in(3)) c->b_factor = uniform(-0.1, 20);
    c->mosaic_spread = scaled(0.01, 2);
    c->mosaic_domains = whole(1, 3);
    c->fudge = once_in(3) ? scaled(0.5, 2) : 1;
    e.goniometer.phi_step = scaled(0.001, 1);
    e.goniometer.phi_steps = once_in(3) ? whole(2, 3) : 1;
    e.structure_factors.default_F = scaled(1, 1000);
    if (once_in(3)) drawn_amplitudes(&e.structure_factors);
    db_detector *const d = &e.detector;
    const double pixel = scaled(0.01, 0.3);
    d->panels[0].fast_pixels = whole(16, 32);
    d->panels[0].slow_pixels = whole(3, 8);
    d->panels[0].pixel_size[0] = d->panels[0].pixel_size[1] = pixel;
    d->distance = scaled(20, 500);
    for (int i = 0; i < 2; i++) d->centre[i] = pixel * uniform(-20, 60);
    d->curved = once_in(10) && 600 * pixel < 3 * d->distance;
    if (once_in(5)) {
        d->sensor_thickness = scaled(10, 500);
        d->attenuation_depth = scaled(100, 1000);
        d->sensor_layers = whole(1, 2);
    }
    e.beam.wavelength = scaled(0.5, 5);
    e.beam.polarized = 1;
    e.beam.polarization = uniform(-0.95, 0.95);
    e.point_pixel = once_in(5);
    e.oversample = once_in(5) ? 2 : 1;
    if (once_in(5)) e.background.water_size = scaled(1, 100);
    if (once_in(5)) e.dmin = scaled(1, 5);
    return e;
}

/* An image, its derivative images, and room for one more image, one behind the other. */
typedef struct {
    size_t pixels;
    double *image;
    void *derivative[SOME];
} images;

static images images_of(const db_plan *plan) {
    images r = { .pixels = db_plan_pixels(plan) };
    r.image = calloc(r.pixels * (SOME + 2), sizeof *r.image);
    assert_non_null(r.image);
    for (size_t k = 0; k < SOME; k++) r.derivative[k] = r.image + (k + 1) * r.pixels;
    return r;
}
static const double *derivative(const images *r, size_t k) {
    return r->image + (k + 1) * r->pixels;
}

static db_plan *plan_of(const db_experiment *e, db_precision precision, double tolerance) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = some;
    options.parameter_count = SOME;
    options.tolerance = tolerance;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    return plan;
}

static double largest(const double *values, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(values[i]));
    return most;
}

/* How much was left out, in parts of the tolerance or what it makes of derivatives. */
typedef struct {
    double image, derivative;
} shares;

/* rounding: of largest values, what other errors the tried images may have. */
static void compare_images(const images *tried, const images *exact, double tolerance,
                           double rounding, shares *worst) {
    const double allowed = rounding * largest(exact->image, exact->pixels);
    for (size_t i = 0; i < exact->pixels; i++) {
        const double lacks = exact->image[i] - tried->image[i];
        assert_true(lacks >= -allowed && lacks <= tolerance + allowed);
        worst->image = fmax(worst->image, (lacks - allowed) / tolerance);
    }
}

/* Sums of derivatives lose digits: they have both signs. */
static void compare(db_plan *plan, const images *tried, const images *exact, double tolerance,
                    double rounding, shares *worst) {
    double allowed[SOME];
    images slope = images_of(plan);
    assert_int_equal(db_plan_slope_bounds(plan, (double *const *)slope.derivative), DB_OK);
    compare_images(tried, exact, tolerance, rounding, worst);
    for (size_t k = 0; k < SOME; k++)
        allowed[k] = 10 * rounding * largest(derivative(exact, k), exact->pixels);
    for (size_t i = 0; i < exact->pixels; i++) {
        for (size_t k = 0; k < SOME; k++) {
            const double off = fabs(derivative(exact, k)[i] - derivative(tried, k)[i]),
                         bound = tolerance * derivative(&slope, k)[i];
            assert_true(off <= bound + allowed[k]);
            if (bound > 0) worst->derivative = fmax(worst->derivative, (off - allowed[k]) / bound);
        }
    }
    free(slope.image);
}

/* Normal equations are those of the images with the tolerance, whose errors are known. */
static void compare_normals(db_plan *plan, const images *tried, const images *exact) {
    const size_t pixels = exact->pixels;
    float *data = malloc(pixels * sizeof *data);
    double chi2, gradient[SOME], curvature[SOME * SOME], sum = 0, by[SOME] = { 0 },
                                                         length[SOME] = { 0 };
    assert_non_null(data);
    for (size_t i = 0; i < pixels; i++) data[i] = (float)(exact->image[i] * uniform(0.5, 1.5));
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, data, NULL, &chi2, gradient, curvature),
                     DB_OK);
    for (size_t i = 0; i < pixels; i++) {
        const double residual = tried->image[i] - (double)data[i];
        sum += residual * residual;
        for (size_t k = 0; k < SOME; k++) {
            by[k] += residual * derivative(tried, k)[i];
            length[k] += derivative(tried, k)[i] * derivative(tried, k)[i];
        }
    }
    assert_true(fabs(chi2 - sum) <= 1e-9 * sum);
    for (size_t k = 0; k < SOME; k++) {
        assert_true(fabs(gradient[k] - by[k]) <= 1e-9 * sqrt(sum * length[k]));
        assert_true(fabs(curvature[k * SOME + k] - length[k]) <= 1e-9 * length[k]);
    }
    free(data);
}

/* Mixed precision is compared with itself: its rounding is another matter. */
static void render_exactly(db_plan *plan, images *exact) {
    if (plan->precision == DB_PRECISION_DOUBLE)
        assert_int_equal(db_plan_oracle(plan, exact->image, (double *const *)exact->derivative),
                         DB_OK);
    else
        assert_int_equal(db_plan_gradient(plan, exact->image, exact->derivative), DB_OK);
}

/* Returns whether the plan with the tolerance leaves out anything at all. */
static int try_plan(const db_experiment *e, db_precision precision, double depth, shares *worst) {
    db_plan *plain = plan_of(e, precision, 0);
    images exact = images_of(plain), tried = images_of(plain), forward = images_of(plain);
    render_exactly(plain, &exact);
    /* not below what is always left out of Gaussian spots, a perfect peak of 4 pi sr times 1e-24 */
    const double perfect =
        db_perfect_peak(&plain->job, 12.6, db_largest_intensity(&e->structure_factors));
    const double tolerance = fmax(depth * largest(exact.image, exact.pixels), 1e-23 * perfect);
    const double rounding = precision == DB_PRECISION_DOUBLE ? 1e-9 : 1e-5;
    db_plan *plan = plan_of(e, precision, tolerance);
    assert_int_equal(db_plan_gradient(plan, tried.image, tried.derivative), DB_OK);
    assert_int_equal(db_plan_forward(plan, forward.image), DB_OK);
    compare(plan, &tried, &exact, tolerance, rounding, worst);
    compare_images(&forward, &exact, tolerance, rounding, worst);
    if (precision == DB_PRECISION_DOUBLE) compare_normals(plan, &tried, &exact);
    const int cuts = plan->job.cuts;
    free(exact.image);
    free(tried.image);
    free(forward.image);
    db_plan_destroy(&plan);
    db_plan_destroy(&plain);
    return cuts;
}

static int try_job(int job, shares worst[2]) {
    db_experiment e = random_job(job);
    const double depth = scaled(1e-4, 0.3);
    const int cuts = try_plan(&e, DB_PRECISION_DOUBLE, depth, &worst[0]);
    (void)try_plan(&e, DB_PRECISION_MIXED, depth, &worst[1]);
    db_experiment_clear(&e);
    return cuts;
}

static void images_lack_at_most_the_tolerance(void **unused) {
    (void)unused;
    shares worst[4][2];
    int cut[4] = { 0 };
    memset(worst, 0, sizeof worst);
    for (int job = 0; job < JOBS; job++) cut[job % 4] += try_job(job, worst[job % 4]);
    static const char *const name[] = { "square", "round", "gauss", "tophat" };
    for (int shape = 0; shape < 4; shape++)
        printf("%-6s %2d of %d jobs cut; of the bounds, images %.2g and %.2g (mixed), derivatives "
               "%.2g and %.2g\n",
               name[shape], cut[shape], JOBS / 4, worst[shape][0].image, worst[shape][1].image,
               worst[shape][0].derivative, worst[shape][1].derivative);
    for (int shape = 0; shape < 4; shape++) {
        assert_true(cut[shape] >= JOBS / 16);
        if (shape != DB_SHAPE_TOPHAT)
            assert_true(worst[shape][0].image > 0.02 && worst[shape][1].image > 0.02);
    }
}

/* Gradient and image (the one more) of a plan with these regions. */
static images rendered(const db_experiment *e, db_precision precision, double tolerance,
                       const db_region *regions, size_t count) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = some;
    options.parameter_count = SOME;
    options.tolerance = tolerance;
    options.regions = regions;
    options.region_count = count;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_true(plan->job.cuts);
    images r = images_of(plan);
    assert_int_equal(db_plan_gradient(plan, r.image, r.derivative), DB_OK);
    assert_int_equal(db_plan_forward(plan, r.image + (SOME + 1) * r.pixels), DB_OK);
    db_plan_destroy(&plan);
    return r;
}

/* A crystal of 60 cells on 100 x 30 pixels, of which all shapes leave out most. */
static db_experiment sharp_spots(int shape) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    e.crystal.shape = (db_crystal_shape)shape;
    for (int j = 0; j < 3; j++) {
        e.crystal.Ncells[j] = 60 + j;
        e.crystal.cell[j] = 50 + 9 * j;
        e.crystal.misset[j] = 12 + 7 * j;
    }
    e.crystal.mosaic_domains = 20;
    e.crystal.mosaic_spread = 0.5;
    e.structure_factors.default_F = 50;
    e.detector.panels[0].fast_pixels = 100;
    e.detector.panels[0].slow_pixels = 30;
    e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 0.05;
    e.detector.centre[0] = -3;
    return e;
}

static double enough(const db_experiment *e) {
    db_plan *plan = plan_of(e, DB_PRECISION_DOUBLE, 0);
    images r = images_of(plan);
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    const double tolerance = 1e-2 * largest(r.image, r.pixels);
    db_plan_destroy(&plan);
    free(r.image);
    return tolerance;
}

static void a_pixel_has_the_same_bits_in_any_region(void **unused) {
    (void)unused;
    for (int shape = 0; shape < 4; shape++)
        for (int precision = 0; precision < 2; precision++) {
            db_experiment e = sharp_spots(shape);
            const double tolerance = enough(&e);
            const db_region all = { .fast_count = 100, .slow_count = 30, .stride = 100 };
            const images whole_panel = rendered(&e, (db_precision)precision, tolerance, &all, 1);
            for (int fast = 1; fast < 100; fast += 13) {
                const int wide = fast % 5 * 9 + 1, start = fast + wide > 100 ? 100 - wide : fast;
                const db_region box = { .fast_start = start,
                                        .slow_start = fast % 20,
                                        .fast_count = wide,
                                        .slow_count = 7,
                                        .stride = (size_t)wide };
                const images part = rendered(&e, (db_precision)precision, tolerance, &box, 1);
                for (size_t k = 0; k <= SOME + 1; k++)
                    for (int row = 0; row < 7; row++)
                        assert_memory_equal(part.image + k * part.pixels + (size_t)(row * wide),
                                            whole_panel.image + k * whole_panel.pixels +
                                                (size_t)((box.slow_start + row) * 100 + start),
                                            (size_t)wide * sizeof(double));
                free(part.image);
            }
            free(whole_panel.image);
            db_experiment_clear(&e);
        }
}

static void same_bits_for_any_number_of_threads(void **unused) {
    (void)unused;
    const db_region all = { .fast_count = 100, .slow_count = 30, .stride = 100 };
    for (int shape = 0; shape < 4; shape++) {
        db_experiment e = sharp_spots(shape);
        const double tolerance = enough(&e);
        db_context_set_threads(context, 1);
        const images one = rendered(&e, DB_PRECISION_MIXED, tolerance, &all, 1);
        db_context_set_threads(context, 3);
        const images three = rendered(&e, DB_PRECISION_MIXED, tolerance, &all, 1);
        db_context_set_threads(context, 0);
        assert_memory_equal(one.image, three.image, one.pixels * (SOME + 2) * sizeof(double));
        free(one.image);
        free(three.image);
        db_experiment_clear(&e);
    }
}

/* Without a tolerance nothing but Gaussian and flat spots is cut off; and crystals of few cells,
 * which have nothing to leave out, never. */
static void nothing_is_left_out_unasked(void **unused) {
    (void)unused;
    for (int shape = 0; shape < 4; shape++)
        for (int few = 0; few < 2; few++) {
            db_experiment e = sharp_spots(shape);
            for (int j = 0; j < 3 && few; j++) e.crystal.Ncells[j] = 1;
            db_plan *without = plan_of(&e, DB_PRECISION_DOUBLE, 0),
                    *with = plan_of(&e, DB_PRECISION_DOUBLE, enough(&e));
            const int flat = shape == DB_SHAPE_TOPHAT;
            assert_int_equal(without->job.cuts, flat || (shape == DB_SHAPE_GAUSS && !few));
            assert_int_equal(with->job.cuts, flat || !few);
            db_plan_destroy(&without);
            db_plan_destroy(&with);
            db_experiment_clear(&e);
        }
}

static void expect_refusal(double tolerance) {
    db_experiment e = sharp_spots(DB_SHAPE_SQUARE);
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.tolerance = tolerance;
    assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_ERROR_USAGE);
    assert_null(plan);
    assert_non_null(strstr(db_context_message(context), "tolerance: expected a finite number"));
    db_experiment_clear(&e);
}

static void absurd_tolerances_are_refused(void **unused) {
    (void)unused;
    expect_refusal(-1);
    expect_refusal(NAN);
    expect_refusal(INFINITY);
}

static int start(void **unused) {
    (void)unused;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int finish(void **unused) {
    (void)unused;
    db_context_destroy(&context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_lack_at_most_the_tolerance),
        cmocka_unit_test(a_pixel_has_the_same_bits_in_any_region),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(nothing_is_left_out_unasked),
        cmocka_unit_test(absurd_tolerances_are_refused),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
