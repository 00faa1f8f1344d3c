/* Images of every configuration are those of a second, naive implementation: what kernels, oracle
 * and finite differences have in common cannot hide an error from it. */
#include "support/context.h"
#include "configurations.h"
#include "naive_image.h"

#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that fill lanes, of as large a detector. Weights that move the mean wavelength away from the
 * beam's, rays that diverge both ways, amorphous matter that scatters negatively. */
static void widen(db_experiment *e) {
    for (size_t j = 0; j < e->beam.source_count; j++) {
        e->beam.sources[j].weight *= 1 + (double)(j % 5);
        e->beam.sources[j].spread[0] += 0.3;
        e->beam.sources[j].spread[1] -= 0.2;
    }
    e->beam.divergence[0] = 14; /* both at once: their order matters */
    e->beam.divergence[1] = 11;
    for (size_t i = 0; i < e->background.count; i++) e->background.amplitude[i] *= -1;
    for (size_t p = 0; p < e->detector.panel_count; p++) {
        db_panel *panel = &e->detector.panels[p];
        panel->pixel_size[0] *= panel->fast_pixels / 160.0;
        panel->fast_pixels = 160;
        panel->pixel_size[1] *= panel->slow_pixels / 2.0;
        panel->slow_pixels = 2;
    }
}

/* More cells than a polynomial serves, one and two cells, even numbers; lists that end, or begin,
 * at the nodes in sight. */
static void move_list(db_experiment *e, int first) {
    for (int i = 0; i < 3 && e->structure_factors.amplitude; i++)
        e->structure_factors.min[i] = first;
}
static void grow(db_experiment *e) {
    move_list(e, -12); /* of 13 entries */
    e->crystal.Ncells[0] = 23;
    e->crystal.Ncells[1] = 8;
    e->crystal.Ncells[2] = 1;
}
static void shrink(db_experiment *e) {
    move_list(e, 0);
    e->crystal.Ncells[0] = 1;
    e->crystal.Ncells[1] = 2;
    e->crystal.Ncells[2] = 6;
}

/* More samples than are summed at a time, of a crystal that is not mounted along the axes. */
static void mount(db_experiment *e) {
    static const double orientation[9] = { 0.48, -0.64, 0.6, 0.8, 0.6, 0, -0.36, 0.48, 0.8 };
    memcpy(e->crystal.orientation, orientation, sizeof orientation);
    e->crystal.mosaic_spread = 0.7;
    e->crystal.mosaic_domains = 19;
    e->goniometer.phi_step = 1.5;
    e->goniometer.phi_steps = 2;
    for (size_t p = 0; p < e->detector.panel_count; p++) {
        e->detector.panels[p].fast_pixels = 9;
        e->detector.panels[p].slow_pixels = 4;
    }
}

static const struct {
    const char *name;
    void (*vary)(db_experiment *e);
    int square_only;
    double mixed_tolerance; /* of the brightest pixel, which is far from a peak of many cells */
} variants[] = { { "as it is", NULL, 0, 2e-6 },
                 { "long rows", widen, 0, 2e-6 },
                 { "many cells", grow, 1, 1e-4 },
                 { "few cells", shrink, 1, 5e-6 },
                 { "many samples", mount, 0, 5e-6 } };
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* Of the brightest pixel. Angles of mosaic domains are rounded to single precision. */
static double tolerance_of(const db_experiment *e, db_precision precision, int variant) {
    const double largest =
        fmax(e->crystal.Ncells[0], fmax(e->crystal.Ncells[1], e->crystal.Ncells[2]));
    return precision == DB_PRECISION_MIXED ? variants[variant].mixed_tolerance
           : e->crystal.mosaic_domains > 1 ? 2e-7 * largest
                                           : 1e-10;
}

static double *naive(const db_experiment *e) {
    double *image = malloc(db_experiment_pixels(e) * sizeof *image), *next = image;
    assert_non_null(image);
    for (size_t p = 0; p < e->detector.panel_count; p++)
        for (int slow = 0; slow < e->detector.panels[p].slow_pixels; slow++)
            for (int fast = 0; fast < e->detector.panels[p].fast_pixels; fast++)
                *next++ = naive_pixel(e, p, fast, slow);
    return image;
}

static void compare(const db_experiment *e, const char *name, int variant, const double *expected,
                    db_precision precision, const db_parameter *parameters, size_t count) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = parameters;
    options.parameter_count = count;
    db_plan *plan = NULL;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    const size_t pixels = db_plan_pixels(plan);
    double *image = malloc((count + 1) * pixels * sizeof *image), largest = 0;
    void *derivative[DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS];
    assert_non_null(image);
    for (size_t k = 0; k < count; k++) derivative[k] = image + (k + 1) * pixels;
    assert_int_equal(
        count ? db_plan_gradient(plan, image, derivative) : db_plan_forward(plan, image), DB_OK);
    for (size_t i = 0; i < pixels; i++) largest = fmax(largest, expected[i]);
    const double tolerance = tolerance_of(e, precision, variant) * largest;
    assert_true(largest > 0);
    for (size_t i = 0; i < pixels; i++)
        if (!(fabs(image[i] - expected[i]) <= tolerance))
            fail_msg(
                "%s, %s, %s, %zu derivatives: pixel %zu is %.12g, expected %.12g (largest %.3g)",
                name, variants[variant].name, precision == DB_PRECISION_MIXED ? "mixed" : "double",
                count, i, image[i], expected[i], largest);
    free(image);
    db_plan_destroy(&plan);
}

static void compare_configuration(const configuration *which, int variant) {
    db_experiment e = configured(context, which);
    db_parameter parameters[DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS];
    const size_t all = parameters_of(which, &e, parameters);
    size_t count = 0;
    if (!variants[variant].square_only ||
        (e.crystal.shape == DB_SHAPE_SQUARE && !e.structure_factors.interpolate)) {
        if (variants[variant].vary) variants[variant].vary(&e);
        for (size_t k = 0; k < all; k++) /* a list that moved has other reflections */
            if (db_parameter_exists(&e, parameters[k])) parameters[count++] = parameters[k];
        double *expected = naive(&e);
        for (int precision = 0; precision < 2; precision++) {
            const db_precision p = precision ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
            compare(&e, which->name, variant, expected, p, parameters, 0);
            compare(&e, which->name, variant, expected, p, parameters, 2); /* not by N */
            compare(&e, which->name, variant, expected, p, parameters, count);
        }
        free(expected);
    }
    db_experiment_clear(&e);
}

static void images_follow_from_first_principles(void **state) {
    (void)state;
    for (size_t i = 0; i < configuration_count; i++)
        for (int variant = 0; variant < VARIANTS; variant++)
            compare_configuration(&configurations[i], variant);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(images_follow_from_first_principles, open_context,
                                        close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
