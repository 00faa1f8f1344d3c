/* Derivatives by all structure factors, in every instruction set and precision. An image is a quadratic
 * form of them, so that half the difference of the images of two tables is exactly the derivative along
 * half their difference, of any size. */
#include "support/unit_test.h"
#include "support/instruction_sets.h"
#include "support/by_parameters.h"
#include "images.h"
#include "table_scene.h"

#include <dualbragg/expert/instruction_set.h>
#include <dualbragg/expert/oracle.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double bounds[] = { 1e-12, 1e-6 }; /* relative to the largest pixels */

static double product(const double *a, const double *b, size_t count) {
    long double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (long double)a[i] * b[i];
    return (double)sum;
}

static void expect(const table_scene *s, const char *what, size_t number, double found,
                   double expected, double room) {
    if (fabs(found - expected) <= room) return;
    print_error("%s: %s %zu is %.17g, expected %.17g, bound %g\n", db_context_isa(s->context), what,
                number, found, expected, room);
    fail();
}

/* above, below: images of the amplitudes plus and minus the step. */
static void render_both(table_scene *s, db_plan *plan, const double *step) {
    scene_put_amplitudes(s, step, 1);
    assert_int_equal(db_plan_update(plan, &s->e), DB_OK);
    assert_int_equal(db_plan_forward(plan, s->above), DB_OK);
    scene_put_amplitudes(s, step, -1);
    assert_int_equal(db_plan_update(plan, &s->e), DB_OK);
    assert_int_equal(db_plan_forward(plan, s->below), DB_OK);
    scene_put_amplitudes(s, step, 0);
    assert_int_equal(db_plan_update(plan, &s->e), DB_OK);
}

static double half_difference(table_scene *s, size_t i) { return (s->above[i] - s->below[i]) / 2; }

/* Largest of the two images, without what does not depend on amplitudes: the room of a pixel. */
static double brightest(const table_scene *s) {
    double most = 0;
    for (size_t i = 0; i < s->pixels; i++)
        most = fmax(most, fmax(fabs(s->above[i]), fabs(s->below[i])));
    return most;
}

static void compare_tangent(table_scene *s, db_plan *plan, double bound) {
    const db_plan_vector direction = scene_vector(s, s->direction);
    render_both(s, plan, s->direction);
    assert_int_equal(db_plan_jvp(plan, &direction, s->image, s->tangent), DB_OK);
    const double room = bound * brightest(s);
    for (size_t i = 0; i < s->pixels; i++)
        expect(s, "tangent of pixel", i, s->tangent[i], half_difference(s, i), room);
}

/* Of the whole table in one direction, and of some entries alone, default_F among them. */
static void compare_gradient(table_scene *s, db_plan *plan, double bound) {
    const db_plan_vector gradient = scene_vector(s, s->gradient);
    const double length = sqrt(product(s->cotangent, s->cotangent, s->pixels));
    assert_int_equal(db_plan_vjp(plan, s->cotangent, NULL, &gradient), DB_OK);
    const double along = product(s->cotangent, s->tangent, s->pixels);
    expect(s, "product of gradient and direction, scene", 0,
           product(s->gradient, s->direction, s->entries + 1), along,
           2 * bound * length * sqrt(product(s->tangent, s->tangent, s->pixels)) +
               bound * length * brightest(s));
    for (size_t n = 0; n <= 4; n++) {
        const size_t i = s->entries * n / 4 - (n % 2 && s->entries > 9 ? 2 : 0);
        double *step = scene_numbers(s->entries + 1), sum = 0;
        step[i] = 5 + s->amplitude[i];
        render_both(s, plan, step);
        for (size_t p = 0; p < s->pixels; p++) sum += s->cotangent[p] * half_difference(s, p);
        expect(s, "gradient by entry", i, s->gradient[i] * step[i], sum,
               bound * length * brightest(s) * sqrt((double)s->pixels) / 4);
        free(step);
    }
}

/* Beside parameters, and with the image, nothing changes; threads do not matter. */
static void same_bits(table_scene *s, db_precision precision) {
    static const db_parameter both[] = { DB_DISTANCE, DB_CELL_B };
    double *again = scene_numbers(s->entries + 1), by_parameter[2], alone[2], tangent_alone;
    double *one = scene_numbers(s->pixels);
    const db_plan_vector first = scene_vector(s, s->gradient);
    db_plan_vector second = scene_vector(s, again);
    second.parameters = by_parameter;
    db_plan *plan = scene_plan(s, both, 2, precision);
    db_context_set_threads(s->context, 1);
    assert_int_equal(db_plan_vjp(plan, s->cotangent, NULL, &first), DB_OK);
    assert_int_equal(vjp_by_parameters(plan, s->cotangent, one, alone), DB_OK);
    for (int threads = 1; threads <= 3; threads++) {
        db_context_set_threads(s->context, threads);
        assert_int_equal(db_plan_vjp(plan, s->cotangent, s->image, &second), DB_OK);
        assert_memory_equal(again, s->gradient, (s->entries + 1) * sizeof *again);
        assert_memory_equal(by_parameter, alone, sizeof alone);
        assert_memory_equal(one, s->image, s->pixels * sizeof *one);
    }
    /* the tangent of both is the sum of two */
    double step[2] = { 0.3, -0.2 };
    const db_plan_vector along = scene_vector(s, s->direction);
    db_plan_vector all = along;
    all.parameters = step;
    assert_int_equal(jvp_by_parameters(plan, step, s->image, s->above), DB_OK);
    assert_int_equal(db_plan_jvp(plan, &along, s->image, s->below), DB_OK);
    assert_int_equal(db_plan_jvp(plan, &all, s->image, s->tangent), DB_OK);
    for (size_t i = 0; i < s->pixels; i++) {
        tangent_alone = s->above[i] + s->below[i];
        assert_true(s->tangent[i] == tangent_alone);
    }
    free(again);
    free(one);
    db_plan_destroy(&plan);
}

/* Duals of full width, by the amplitudes that the configuration names. */
static void compare_oracle(const configuration *which, table_scene *s) {
    db_parameter parameters[MOST_PARAMETERS];
    const size_t count = parameters_of(which, &s->e, parameters);
    for (size_t k = 0; k < count; k++) {
        if ((int)parameters[k] < DB_AMPLITUDE_FIRST) continue;
        db_plan *plan = scene_plan(s, &parameters[k], 1, DB_PRECISION_DOUBLE);
        double *slope = s->tangent, *alone = scene_numbers(s->entries + 1);
        const db_plan_vector gradient = scene_vector(s, alone);
        assert_int_equal(db_plan_oracle(plan, s->image, &slope), DB_OK);
        assert_int_equal(db_plan_vjp(plan, s->cotangent, NULL, &gradient), DB_OK);
        /* which entry it is: the one that the parameter moves */
        double *const list = s->e.structure_factors.amplitude;
        const double value = db_parameter_get(&s->e, parameters[k]);
        size_t at = 0;
        db_parameter_set(&s->e, parameters[k], -1);
        while (list[at] != -1) at++;
        db_parameter_set(&s->e, parameters[k], value);
        const double length = sqrt(product(s->cotangent, s->cotangent, s->pixels) *
                                   product(s->tangent, s->tangent, s->pixels));
        expect(s, "gradient, beside the oracle, by entry", at, alone[at],
               product(s->cotangent, s->tangent, s->pixels), 1e-11 * length);
        free(alone);
        db_plan_destroy(&plan);
    }
}

/* Sites make F a function of the energy: there is no list to take derivatives by. A halo takes F of many nodes. */
static void is_refused(table_scene *s) {
    const db_plan_vector direction = scene_vector(s, s->direction);
    db_plan *plan = scene_plan(s, NULL, 0, DB_PRECISION_DOUBLE);
    assert_int_equal(db_plan_vjp(plan, s->cotangent, NULL, &direction), DB_ERROR_UNSUPPORTED);
    assert_int_equal(db_plan_jvp(plan, &direction, s->image, s->tangent), DB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(db_context_message(s->context),
                           s->e.structure_factors.sites ? "photon energy" : "halo"));
    db_plan_destroy(&plan);
}

static void derivatives_by_structure_factors(void **state) {
    const configuration *which = *state;
    table_scene s = { 0 };
    scene_arrange(which, &s);
    if (s.e.structure_factors.sites || s.e.crystal.diffuse_gamma[0] > 0) {
        is_refused(&s);
        scene_clear(&s);
        return;
    }
    for (size_t tried = 0; use_next_instruction_set(s.context, &tried);) {
        for (int precision = 0; precision < 2; precision++) {
            db_plan *plan = scene_plan(&s, NULL, 0, (db_precision)precision);
            compare_tangent(&s, plan, bounds[precision]);
            compare_gradient(&s, plan, bounds[precision]);
            db_plan_destroy(&plan);
            same_bits(&s, (db_precision)precision);
        }
    }
    compare_oracle(which, &s);
    scene_clear(&s);
}

/* Mates share one value: its gradient is the sum of theirs, and a direction moves all of them. */
static void mates_share_a_value(void **state) {
    static const db_symmetry twofold = {
        2, { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { -1, 0, 0, 0, 1, 0, 0, 0, -1 } }
    };
    const configuration *which = *state;
    table_scene s = { 0 };
    scene_arrange(which, &s);
    uint32_t *value = malloc((s.entries + 1) * sizeof *value);
    assert_non_null(value);
    size_t count = db_amplitude_classes(&s.e.structure_factors, &twofold, 1, value);
    assert_true(count < s.entries && count > s.entries / 8);
    const int *low = s.e.structure_factors.min;
    const int *extent = s.e.structure_factors.extent;
    for (int h = 0; h < extent[0]; h++)
        for (int k = 0; k < extent[1]; k++)
            for (int l = 0; l < extent[2]; l++) {
                /* -h k -l, and by inversion h -k l */
                const int mate[2][3] = { { -2 * low[0] - h, k, -2 * low[2] - l },
                                         { h, -2 * low[1] - k, l } };
                for (int m = 0; m < 2; m++) {
                    int inside = 1;
                    for (int j = 0; j < 3; j++) inside &= mate[m][j] >= 0 && mate[m][j] < extent[j];
                    if (inside)
                        assert_int_equal(
                            value[(h * extent[1] + k) * extent[2] + l],
                            value[(mate[m][0] * extent[1] + mate[m][1]) * extent[2] + mate[m][2]]);
                }
            }
    value[3] = DB_NO_AMPLITUDE;
    db_plan *plan = scene_plan(&s, NULL, 0, DB_PRECISION_DOUBLE);
    double *shared = scene_numbers(count), *step = scene_numbers(count), by_default,
           *expected = scene_numbers(count);
    db_plan_vector own = scene_vector(&s, s.gradient), classes = DB_PLAN_VECTOR_INIT;
    assert_int_equal(db_plan_vjp(plan, s.cotangent, NULL, &own), DB_OK);
    assert_int_equal(db_plan_describe(plan).amplitude_count, s.entries);
    assert_int_equal(db_plan_share_amplitudes(plan, value, count), DB_OK);
    assert_int_equal(db_plan_describe(plan).amplitude_count, count);
    classes.amplitudes = shared;
    classes.default_F = &by_default;
    assert_int_equal(db_plan_vjp(plan, s.cotangent, NULL, &classes), DB_OK);
    double default_expected = s.gradient[s.entries], room = 0;
    for (size_t i = 0; i < s.entries; i++) {
        room = fmax(room, 1e-12 * fabs(s.gradient[i]));
        *(value[i] == DB_NO_AMPLITUDE ? &default_expected : &expected[value[i]]) += s.gradient[i];
    }
    for (size_t i = 0; i < count; i++) {
        step[i] = 1 + (double)(i % 5);
        expect(&s, "gradient by class", i, shared[i], expected[i], room);
    }
    expect(&s, "gradient by default_F of scene", 0, by_default, default_expected, room);
    assert_true(room > 0);
    for (size_t i = 0; i < s.entries; i++)
        s.direction[i] = value[i] == DB_NO_AMPLITUDE ? 7 : step[value[i]];
    double default_step = s.direction[s.entries] = 7;
    classes.amplitudes = step;
    classes.default_F = &default_step;
    assert_int_equal(db_plan_jvp(plan, &classes, s.image, s.above), DB_OK);
    assert_int_equal(db_plan_share_amplitudes(plan, NULL, 0), DB_OK);
    own = scene_vector(&s, s.direction);
    assert_int_equal(db_plan_jvp(plan, &own, s.image, s.below), DB_OK);
    assert_memory_equal(s.above, s.below, s.pixels * sizeof *s.above);
    value[5] = (uint32_t)count;
    assert_int_equal(db_plan_share_amplitudes(plan, value, count), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(s.context), "entry 5 of the box"));
    free(value);
    free(shared);
    free(step);
    free(expected);
    db_plan_destroy(&plan);
    scene_clear(&s);
}

/* Two regions that share elements, and elements of none: a background is added once, where the plan
 * renders; as a gradient it is the cotangent. */
static void a_background_is_added(void **state) {
    const configuration *which = *state;
    table_scene s = { 0 };
    scene_arrange(which, &s);
    const db_region regions[] = { { 0, 2, 1, 9, 6, 4, 20 }, { 0, 4, 3, 9, 6, 4 + 2 * 20 + 2, 20 } };
    static const db_parameter scale = DB_SCALE;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    for (int type = 0; type < 2; type++) {
        const size_t each = type ? sizeof(double) : sizeof(float);
        db_plan *plan;
        options.pixel_type = type ? DB_FLOAT64 : DB_FLOAT32;
        options.parameters = &scale;
        options.parameter_count = 1;
        options.regions = regions;
        options.region_count = 2;
        assert_int_equal(db_plan_create(s.context, &s.e, &options, &plan), DB_OK);
        const size_t pixels = db_plan_pixels(plan);
        assert_true(pixels < s.pixels);
        memset(s.image, 0xff, pixels * each); /* NaN: shows which elements are rendered */
        memset(s.above, 0xff, pixels * each);
        memset(s.below, 0xff, pixels * each);
        memset(s.tangent, 0xff, pixels * each);
        char *background = (char *)scene_numbers(pixels), *slopes = (char *)scene_numbers(pixels);
        void *derivative = slopes;
        assert_int_equal(db_plan_gradient(plan, s.image, &derivative), DB_OK);
        for (size_t i = 0; i < pixels; i++)
            if (type)
                ((double *)(void *)background)[i] = 3.5 + (double)i;
            else
                ((float *)(void *)background)[i] = 3.5F + (float)i;
        assert_int_equal(db_plan_set_background(plan, background), DB_OK);
        db_plan_vector v = DB_PLAN_VECTOR_INIT;
        double by_scale, step = 0.25;
        v.parameters = &by_scale;
        v.background = s.tangent;
        assert_int_equal(db_plan_vjp(plan, background, s.above, &v), DB_OK);
        assert_int_equal(db_plan_gradient(plan, s.below, &derivative), DB_OK);
        assert_memory_equal(s.above, s.below, pixels * each);
        for (size_t i = 0; i < pixels; i++) {
            const double plain = type ? s.image[i] : (double)((float *)s.image)[i],
                         with = type ? s.above[i] : (double)((float *)s.above)[i],
                         own = type ? ((double *)(void *)background)[i]
                                    : (double)((float *)(void *)background)[i],
                         gradient = type ? s.tangent[i] : (double)((float *)s.tangent)[i];
            assert_true(isnan(plain) == isnan(with) && isnan(plain) == isnan(gradient));
            if (isnan(plain)) continue;
            assert_true(gradient == own);
            assert_true(with == (type ? plain + own : (double)(float)(plain + own)));
        }
        /* the image's own derivative by the scale, and the background's */
        v.parameters = &step;
        v.background = background;
        assert_int_equal(db_plan_jvp(plan, &v, s.image, s.tangent), DB_OK);
        assert_memory_equal(s.image, s.above, pixels * each);
        v.parameters = NULL;
        assert_int_equal(db_plan_jvp(plan, &v, s.image, s.below), DB_OK);
        for (size_t i = 0; i < pixels; i++) {
            const double image = type ? s.image[i] : (double)((float *)s.image)[i],
                         tangent = type ? s.tangent[i] : (double)((float *)s.tangent)[i],
                         alone = type ? s.below[i] : (double)((float *)s.below)[i],
                         own = type ? ((double *)(void *)background)[i]
                                    : (double)((float *)(void *)background)[i],
                         slope = type ? ((double *)(void *)slopes)[i]
                                      : (double)((float *)(void *)slopes)[i];
            if (isnan(image)) continue;
            assert_true(alone == own);
            assert_true(fabs(tangent - (own + step * slope)) <= 1e-6 * fabs(own + image));
        }
        if (type)
            ((double *)(void *)background)[5] = NAN;
        else
            ((float *)(void *)background)[5] = NAN;
        assert_int_equal(db_plan_set_background(plan, background), DB_ERROR_INPUT);
        assert_non_null(strstr(db_context_message(s.context), "background: element 5"));
        free(background);
        free(slopes);
        db_plan_destroy(&plan);
    }
    scene_clear(&s);
}

/* Light is proportional to squares of structure factors, wherever it is: the sum of F times the slope by F is twice
 * the image. In parts of the image that show few spots none of them may be left out. */
static void squares_of_structure_factors(void **state) {
    enum { SIDE = 3 };
    const configuration *which = *state;
    table_scene s = { 0 };
    scene_arrange(which, &s);
    s.e.background.water_size = 0;
    const db_panel *const panel = &s.e.detector.panels[0];
    double ones[SIDE * SIDE], image[SIDE * SIDE], most = 0;
    for (int i = 0; i < SIDE * SIDE; i++) ones[i] = 1;
    for (int fast = 0; fast + SIDE <= panel->fast_pixels; fast += SIDE)
        for (int slow = 0; slow + SIDE <= panel->slow_pixels; slow += SIDE) {
            const db_region part = { 0, fast, slow, SIDE, SIDE, 0, SIDE };
            db_plan_options options = DB_PLAN_OPTIONS_INIT;
            db_plan *plan;
            options.precision = DB_PRECISION_DOUBLE;
            options.pixel_type = DB_FLOAT64;
            options.region_count = 1;
            options.regions = &part;
            const db_plan_vector gradient = scene_vector(&s, s.gradient);
            assert_int_equal(db_plan_create(s.context, &s.e, &options, &plan), DB_OK);
            assert_int_equal(db_plan_vjp(plan, ones, image, &gradient), DB_OK);
            double light = 0, sum = 0;
            for (int i = 0; i < SIDE * SIDE; i++) light += image[i];
            for (size_t i = 0; i <= s.entries; i++) sum += s.amplitude[i] * s.gradient[i];
            most = fmax(most, light);
            assert_true(fabs(sum - 2 * light) <= 1e-9 * light);
            db_plan_destroy(&plan);
        }
    assert_true(most > 0);
    scene_clear(&s);
}

static void misuse_is_refused_with_a_reason(void **state) {
    const configuration *which = *state;
    table_scene s = { 0 };
    scene_arrange(which, &s);
    db_plan *plan = scene_plan(&s, NULL, 0, DB_PRECISION_MIXED);
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
#define VJP db_plan_vjp(plan, s.cotangent, NULL, &v)
#define JVP db_plan_jvp(plan, &v, s.image, s.tangent)
    scene_refuses(&s, VJP, DB_ERROR_USAGE, "found all NULL");
    scene_refuses(&s, JVP, DB_ERROR_USAGE, "found all NULL");
    v.parameters = s.gradient;
    scene_refuses(&s, VJP, DB_ERROR_USAGE, "without parameters");
    v.parameters = NULL;
    v.amplitudes = s.direction;
    v.size -= 8;
    scene_refuses(&s, VJP, DB_ERROR_USAGE, "DB_PLAN_VECTOR_INIT");
    v.size += 8;
    scene_refuses(&s, db_plan_vjp(plan, NULL, NULL, &v), DB_ERROR_USAGE, "NULL for the cotangent");
    scene_refuses(&s, db_plan_vjp(plan, s.cotangent, NULL, NULL), DB_ERROR_USAGE, "found NULL");
    scene_refuses(&s, db_plan_jvp(plan, &v, s.image, NULL), DB_ERROR_USAGE, "NULL for the tangent");
    s.direction[7] = NAN;
    scene_refuses(&s, JVP, DB_ERROR_INPUT, "structure factor 7");
    s.direction[7] = 0;
    v.default_F = &s.direction[s.entries];
    s.direction[s.entries] = INFINITY;
    scene_refuses(&s, JVP, DB_ERROR_INPUT, "default_F");
    v.amplitudes = v.default_F = NULL;
    v.background = s.cotangent;
    s.cotangent[1] = NAN;
    scene_refuses(&s, JVP, DB_ERROR_INPUT, "direction: background: element 1");
    v.background = NULL;
    v.amplitudes = s.gradient;
    scene_refuses(&s, VJP, DB_ERROR_INPUT, "cotangent of pixel (1, 0)");
    s.cotangent[1] = 1e300;
    scene_refuses(&s, VJP, DB_ERROR_INPUT, "not finite");
#undef VJP
#undef JVP
    db_plan_destroy(&plan);
    scene_clear(&s);
}

int main(void) {
    struct CMUnitTest tests[64];
    size_t count = 0;
    for (size_t i = 0; i < configurations_and_closed(); i++) {
        const configuration *which = configuration_or_closed(i);
        const int chosen = i < configuration_count || strstr(which->name, "structure") ||
                           strstr(which->name, "sources") || strstr(which->name, "rotation") ||
                           strstr(which->name, "background") || strstr(which->name, "panels");
        if (chosen)
            tests[count++] = (struct CMUnitTest){ which->name, derivatives_by_structure_factors,
                                                  NULL, NULL, (void *)(uintptr_t)which };
    }
    static const struct {
        const char *name, *scene;
        CMUnitTestFunction test;
    } others[] = {
        { "mates, sampled", "structure factor list", mates_share_a_value },
        { "mates, interpolated", "interpolation", mates_share_a_value },
        { "mates, closed", "closed: structure factors", mates_share_a_value },
        { "background, sampled", "structure factor list", a_background_is_added },
        { "background, closed", "closed: structure factors", a_background_is_added },
        { "squares, sampled", "structure factor list", squares_of_structure_factors },
        { "squares, closed", "closed: structure factors", squares_of_structure_factors },
        { "misuse, sampled", "structure factor list", misuse_is_refused_with_a_reason },
        { "misuse, closed", "closed: structure factors", misuse_is_refused_with_a_reason },
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tests[count++] =
            (struct CMUnitTest){ others[i].name, others[i].test, NULL, NULL,
                                 (void *)(uintptr_t)configuration_named(others[i].scene) };
    return _cmocka_run_group_tests("amplitudes", tests, count, NULL, NULL);
}
