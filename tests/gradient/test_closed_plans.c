/* Plans of spots in closed form: slopes at no spread at all, the same bits for any regions, threads
 * and history, what a tolerance may leave out, normal equations of shoeboxes, the check. */
#include "support/context.h"
#include "configurations.h"
#include "engine/gradient_check.h"
#include "images.h"

#include <dualbragg/normal.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const configuration *named(const char *name) {
    for (size_t i = 0; i < closed_configuration_count; i++)
        if (strcmp(closed_configurations[i].name, name) == 0) return &closed_configurations[i];
    fail_msg("no configuration %s", name);
    return NULL;
}

typedef struct job {
    db_experiment e;
    db_plan_options options;
    db_parameter parameters[MOST_PARAMETERS];
} job;

static job job_of(const configuration *which, db_precision precision) {
    job j = { .e = configured(context, which), .options = DB_PLAN_OPTIONS_INIT };
    j.options.parameter_count = parameters_of(which, &j.e, j.parameters);
    j.options.pixel_type = DB_FLOAT64;
    j.options.precision = precision;
    return j;
}

static db_plan *plan_of(job *j) {
    db_plan *plan;
    j->options.parameters = j->parameters;
    assert_int_equal(db_plan_create(context, &j->e, &j->options, &plan), DB_OK);
    return plan;
}

static images gradient_of(db_plan *plan) {
    images made = images_create(db_plan_pixels(plan));
    assert_int_equal(db_plan_gradient(plan, made.image, (void *const *)made.derivative), DB_OK);
    return made;
}

static images rendered(job *j) {
    db_plan *plan = plan_of(j);
    const images made = gradient_of(plan);
    db_plan_destroy(&plan);
    return made;
}

/* A refinement that starts without spreads can leave that start. Modes are amplitudes, and a
 * covariance matters beside its variances only: their slopes are 0 for modes. */
static void variances_have_slopes_where_they_are_0(void **state) {
    (void)state;
    job j = job_of(named("closed: size alone"), DB_PRECISION_DOUBLE);
    images made = rendered(&j);
    size_t spreads = 0;
    for (size_t k = 0; k < j.options.parameter_count; k++) {
        const db_parameter_info *info = db_parameter_describe(j.parameters[k]);
        if (!(info->facts->moves & DB_MOVES_SPREAD)) continue;
        const double most = largest(made.derivative[k], made.pixels);
        const int mode = strncmp(info->name, "mode", 4) == 0;
        assert_true(db_parameter_get(&j.e, j.parameters[k]) == 0);
        if (mode ? most != 0 : !(most > 1e-9 * largest(made.image, made.pixels)))
            fail_msg("%s has the slope %g at 0", info->name, most);
        spreads += !mode;
    }
    assert_int_equal(spreads, 3 + 1 + 6 + 1 + 6 + 1 + 3 + 3 + 3);
    images_destroy(&made);
    db_experiment_clear(&j.e);
}

static void expect_same(const images *a, const images *b, size_t count) {
    assert_memory_equal(a->image, b->image, a->pixels * sizeof *a->image);
    for (size_t k = 0; k < count; k++)
        assert_memory_equal(a->derivative[k], b->derivative[k], a->pixels * sizeof *a->image);
}

/* Shoeboxes that overlap nowhere and cover a panel of 19 x 13 pixels, in no order. */
static const db_region boxes[] = {
    { 0, 7, 5, 12, 8, 5 * 19 + 7, 19 },
    { 0, 0, 0, 7, 13, 0, 19 },
    { 0, 7, 0, 3, 5, 7, 19 },
    { 0, 10, 0, 9, 5, 10, 19 },
};

/* Regions that end within a panel, and within the cell that spots are sorted by. */
static void compare_narrower(job *j, const images *whole, size_t count) {
    for (int32_t wide = 3; wide < 19; wide += 7)
        for (int32_t high = 2; high < 13; high += 9) {
            const db_region narrower[] = { { 0, 0, 0, wide, high, 0, (size_t)wide } };
            const size_t bytes = (size_t)wide * sizeof *whole->image;
            j->options.regions = narrower;
            j->options.region_count = 1;
            images part = rendered(j);
            assert_int_equal(part.pixels, wide * high);
            for (int row = 0; row < high; row++) {
                assert_memory_equal(part.image + wide * row, whole->image + 19 * row, bytes);
                for (size_t k = 0; k < count; k++)
                    assert_memory_equal(part.derivative[k] + wide * row,
                                        whole->derivative[k] + 19 * row, bytes);
            }
            images_destroy(&part);
        }
}

static void compare_ways(const configuration *which, db_precision precision, double tolerance) {
    job j = job_of(which, precision);
    const size_t count = j.options.parameter_count;
    j.options.tolerance = tolerance;
    assert_int_equal(db_context_set_threads(context, 1), DB_OK);
    db_plan *plan = plan_of(&j);
    images whole = gradient_of(plan);
    /* there and back */
    const double phi = j.e.goniometer.phi, mosaic = j.e.spread.mosaic;
    j.e.goniometer.phi += 3;
    j.e.spread.mosaic += 0.2;
    assert_int_equal(db_plan_update(plan, &j.e), DB_OK);
    images other = gradient_of(plan);
    assert_true(largest_difference(other.image, whole.image, whole.pixels) > 0);
    images_destroy(&other);
    j.e.goniometer.phi = phi;
    j.e.spread.mosaic = mosaic;
    assert_int_equal(db_plan_update(plan, &j.e), DB_OK);
    other = gradient_of(plan);
    expect_same(&other, &whole, count);
    images_destroy(&other);
    db_plan_destroy(&plan);
    assert_int_equal(db_context_set_threads(context, 2), DB_OK);
    other = rendered(&j);
    expect_same(&other, &whole, count);
    images_destroy(&other);
    if (j.e.detector.panel_count == 1 && whole.pixels == 19 * 13) {
        j.options.regions = boxes;
        j.options.region_count = sizeof boxes / sizeof *boxes;
        other = rendered(&j);
        expect_same(&other, &whole, count);
        images_destroy(&other);
        compare_narrower(&j, &whole, count);
    }
    images_destroy(&whole);
    db_experiment_clear(&j.e);
}

static void pixels_have_the_same_bits_however_they_are_rendered(void **state) {
    (void)state;
    for (size_t i = 0; i < closed_configuration_count; i++)
        compare_ways(&closed_configurations[i], i % 2 ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE,
                     i % 3 ? 0 : 1e-3);
}

static void a_tolerance_is_kept(void **state) {
    (void)state;
    double most = 0; /* of a tolerance that was used */
    for (size_t i = 0; i < closed_configuration_count; i++) {
        job j = job_of(&closed_configurations[i], DB_PRECISION_DOUBLE);
        db_plan *plan = plan_of(&j);
        images all = images_create(db_plan_pixels(plan)), some = images_create(all.pixels);
        assert_int_equal(db_plan_forward(plan, all.image), DB_OK);
        db_plan_destroy(&plan);
        const double peak = largest(all.image, all.pixels);
        for (double part = 1e-9; part < 1; part *= 10) {
            j.options.tolerance = part * peak;
            plan = plan_of(&j);
            assert_int_equal(db_plan_forward(plan, some.image), DB_OK);
            db_plan_destroy(&plan);
            for (size_t p = 0; p < all.pixels; p++) {
                const double lacks = all.image[p] - some.image[p], rounding = 1e-13 * all.image[p];
                if (!(lacks >= -rounding && lacks <= j.options.tolerance + rounding))
                    fail_msg("%s, tolerance %g: pixel %zu of %g lacks %g",
                             closed_configurations[i].name, j.options.tolerance, p, all.image[p],
                             lacks);
                most = fmax(most, lacks / j.options.tolerance);
            }
        }
        images_destroy(&all);
        images_destroy(&some);
        db_experiment_clear(&j.e);
    }
    assert_true(most > 1e-3);
}

/* Two of the boxes, one of them with a weight for each pixel. */
static void normal_equations_of_shoeboxes_are_products_of_images(void **state) {
    (void)state;
    static const double bound[] = { 1e-12, 1e-6 };
    for (int precision = 0; precision < 2; precision++) {
        job j = job_of(named("closed: one degree"),
                       precision ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE);
        j.options.regions = boxes;
        j.options.region_count = 2;
        const size_t count = j.options.parameter_count;
        assert_true(count > 60);
        db_plan *plan = plan_of(&j);
        images made = gradient_of(plan);
        const size_t pixels = made.pixels;
        float *data = malloc(pixels * sizeof *data), *weight = calloc(pixels, sizeof *weight);
        double *sums = malloc((count + count * count) * sizeof *sums), chi2;
        for (size_t i = 0; i < pixels; i++) data[i] = (float)(0.8 * made.image[i] + 20);
        for (size_t b = 0; b < 2; b++)
            for (int s = 0; s < boxes[b].slow_count; s++)
                for (int f = 0; f < boxes[b].fast_count; f++)
                    weight[boxes[b].offset + (size_t)s * 19 + (size_t)f] =
                        (s + 3 * f) % 5 ? 0.01F * (float)(1 + f) : 0;
        assert_int_equal(db_plan_normal(plan, DB_FLOAT32, data, weight, &chi2, sums, sums + count),
                         DB_OK);
        double length[MOST_PARAMETERS], square = 0;
        for (size_t k = 0; k < count; k++) length[k] = sqrt(sums[count + k * count + k]);
        for (size_t i = 0; i < pixels; i++)
            square += weight[i] * (made.image[i] - data[i]) * (made.image[i] - data[i]);
        assert_true(fabs(chi2 - square) <= bound[precision] * square);
        for (size_t k = 0; k < count; k++) {
            double by_k = 0;
            for (size_t i = 0; i < pixels; i++)
                by_k += weight[i] * made.derivative[k][i] * (made.image[i] - data[i]);
            assert_true(fabs(by_k - sums[k]) <= bound[precision] * length[k] * sqrt(square));
            for (size_t l = 0; l < count; l++) {
                double both = 0;
                for (size_t i = 0; i < pixels; i++)
                    both += weight[i] * made.derivative[k][i] * made.derivative[l][i];
                assert_true(fabs(both - sums[count + k * count + l]) <=
                            bound[precision] * length[k] * length[l]);
            }
        }
        free(data);
        free(weight);
        free(sums);
        images_destroy(&made);
        db_plan_destroy(&plan);
        db_experiment_clear(&j.e);
    }
}

/* The check says so; and notices a derivative of a spread that is wrong. */
static void spoil(void *user, int oracle, db_parameter parameter, double *image, size_t pixels) {
    (void)user;
    if (!oracle && parameter == DB_MOSAIC_VARIANCE)
        for (size_t i = 0; i < pixels; i++) image[i] *= 1.01;
}

static void the_check_passes_and_notices_what_is_wrong(void **state) {
    (void)state;
    static const char *const names[] = { "closed: size alone", "closed: one degree",
                                         "closed: structure factors" };
    const db_region part = { .fast_start = 5, .slow_start = 4, .fast_count = 4, .slow_count = 4 };
    static db_gradient_check_row row[MOST_PARAMETERS + 1];
    db_gradient_check_extent extent;
    for (size_t n = 0; n < 3; n++) {
        db_gradient_check_options o = { .regions = &part,
                                        .region_count = 1,
                                        .contraction_tolerance = 1e-11,
                                        .difference_tolerance = 1e-7 };
        job j = job_of(named(names[n]), DB_PRECISION_DOUBLE);
        size_t count = j.options.parameter_count, more;
        if (n == 2) {
            assert_int_equal(db_gradient_check_beyond_table(context, &j.e, &o, j.parameters, &more),
                             DB_OK);
            assert_int_equal(more, 4);
            count = more;
        }
        assert_int_equal(db_gradient_check(context, &j.e, j.parameters, count, &o, row, &extent),
                         DB_OK);
        for (size_t k = 0; k <= count; k++)
            if (row[k].verdict != DB_CHECK_OK)
                fail_msg("%s: number %zu: %s, off by %g and %g", names[n], k, row[k].failed,
                         row[k].contraction, row[k].difference);
        if (n == 1) {
            const db_parameter two[] = { DB_MOSAIC_VARIANCE, DB_STRAIN_VARIANCE };
            o.falsify = spoil;
            assert_int_equal(db_gradient_check(context, &j.e, two, 2, &o, row, &extent), DB_OK);
            assert_int_equal(row[0].verdict, DB_CHECK_DIFFERS);
            assert_int_equal(row[1].verdict, DB_CHECK_OK);
        }
        db_experiment_clear(&j.e);
    }
}

static double largest_of(db_experiment *e, db_precision precision, double *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    double largest = 0;
    options.pixel_type = DB_FLOAT64;
    options.precision = precision;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    for (size_t i = 0; i < db_plan_pixels(plan); i++) largest = fmax(largest, image[i]);
    db_plan_destroy(&plan);
    return largest;
}

/* The rest of spots far outside the range of a rotation, on both sides: images of a few
 * pixels beside the beam, with spots in some of them. */
static void tails_of_rotations_keep_their_digits(void **state) {
    (void)state;
    enum { PIXELS = 64, ANGLES = 60 };
    static double mixed[PIXELS], exact[PIXELS];
    static const double size[] = { 5, 6, 7 }, ranges[] = { 0.3, 1, 3 },
                        blocks[] = { 0.05, 0.2, 0.5 };
    db_experiment e;
    double brightest = 0;
    int faint = 0;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = size[i];
        e.crystal.Ncells[i] = 1000;
        e.crystal.misset[i] = 10 * (i + 1);
        if (i < 2) e.detector.centre[i] = -20;
        if (i < 2) e.detector.panels[0].pixel_size[i] = 2;
    }
    e.detector.distance = 60;
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = 8;
    e.structure_factors.default_F = 100;
    e.spread.spots = DB_SPOTS_CLOSED;
    double largest[ANGLES], error[ANGLES];
    for (int k = 0; k < ANGLES; k++) {
        e.goniometer.phi = 3.1 * k;
        e.goniometer.phi_step = ranges[k % 3];
        e.goniometer.phi_steps = 1;
        e.spread.mosaic = blocks[k % 3] * blocks[k % 3];
        largest[k] = largest_of(&e, DB_PRECISION_DOUBLE, exact);
        (void)largest_of(&e, DB_PRECISION_MIXED, mixed);
        error[k] = 0;
        for (int i = 0; i < PIXELS; i++) error[k] = fmax(error[k], fabs(mixed[i] - exact[i]));
        brightest = fmax(brightest, largest[k]);
    }
    for (int k = 0; k < ANGLES; k++) {
        faint += largest[k] > 0 && largest[k] < 1e-6 * brightest;
        if (!(error[k] <= 1e-5 * largest[k]))
            fail_msg("phi %g: off by %g of %g", 3.1 * k, error[k], largest[k]);
    }
    assert_true(faint >= 3);
    db_experiment_clear(&e);
}

/* A job that is large by its spots is tried, and mixed precision is good enough. */
static void precision_is_found_by_trial(void **state) {
    (void)state;
    db_experiment e = configured(context, named("closed: rotations"));
    db_precision_advice advice;
    assert_int_equal(db_precision_recommend(context, &e, NULL, &advice), DB_OK);
    assert_int_equal(advice.precision, DB_PRECISION_DOUBLE);
    assert_true(isnan(advice.error));
    for (int i = 0; i < 3; i++) e.crystal.Ncells[i] = 20;
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = 300;
    e.detector.panels[0].pixel_size[0] = e.detector.panels[0].pixel_size[1] = 0.1;
    e.oversample = 6;
    assert_int_equal(db_precision_recommend(context, &e, NULL, &advice), DB_OK);
    if (advice.precision != DB_PRECISION_MIXED)
        fail_msg("double precision: %s (%g)", advice.reason, advice.error);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variances_have_slopes_where_they_are_0),
        cmocka_unit_test(pixels_have_the_same_bits_however_they_are_rendered),
        cmocka_unit_test(a_tolerance_is_kept),
        cmocka_unit_test(normal_equations_of_shoeboxes_are_products_of_images),
        cmocka_unit_test(the_check_passes_and_notices_what_is_wrong),
        cmocka_unit_test(tails_of_rotations_keep_their_digits),
        cmocka_unit_test(precision_is_found_by_trial),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
