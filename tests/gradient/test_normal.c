/* Normal equations and products with a cotangent or a direction, in every instruction set and
 * precision, are the sums over the stored image and derivative images. */
#include "support/unit_test.h"
#include "support/instruction_sets.h"
#include "support/by_parameters.h"
#include "configurations.h"
#include "images.h"

#include <dualbragg/products.h>
#include <dualbragg/expert/instruction_set.h>

#include <math.h>
#include <stdlib.h>

/* Relative to the lengths of the two images that are multiplied: float and double after a few
 * roundings of many pixels. */
static const double bounds[] = { 1e-12, 1e-6 };

typedef struct {
    db_parameter parameters[MOST_PARAMETERS];
    size_t count, pixels;
    float *data, *weight;
} problem;

typedef struct {
    double chi2, gradient[MOST_PARAMETERS], curvature[MOST_PARAMETERS * MOST_PARAMETERS];
} equations;

static db_plan *plan_of(db_context *context, const db_experiment *e, const problem *p,
                        db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = p->parameters;
    options.parameter_count = p->count;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    return plan;
}

/* Data around the model, and a mask of every seventh pixel with worthless data behind it. */
static void make_data(const images *model, problem *p) {
    const double mean = largest(model->image, model->pixels) / 50;
    p->pixels = model->pixels;
    p->data = malloc(p->pixels * sizeof(float));
    p->weight = malloc(p->pixels * sizeof(float));
    assert_true(p->data && p->weight);
    for (size_t i = 0; i < p->pixels; i++) {
        const double off = 0.1 * (double)(i * 7919 % 11) - 0.4;
        p->data[i] = (float)(model->image[i] * (1 + off) + mean * off);
        p->weight[i] = (float)(1 / (mean + (double)p->data[i] * (double)p->data[i]));
        if (i % 7 != 3) continue;
        p->weight[i] = i % 2 ? 0.0F : -0.0F;
        p->data[i] = i % 3 ? NAN : INFINITY;
    }
}

static equations sums_of(const images *stored, const problem *p) {
    equations r;
    long double chi2 = 0;
    for (size_t k = 0; k < p->count; k++) {
        long double by_k = 0;
        for (size_t i = 0; i < p->pixels; i++) {
            if (p->weight[i] == 0) continue;
            const long double w = p->weight[i],
                              residual = (long double)stored->image[i] - p->data[i];
            if (k == 0) chi2 += w * residual * residual;
            by_k += w * residual * stored->derivative[k][i];
        }
        r.gradient[k] = (double)by_k;
        for (size_t l = 0; l < p->count; l++) {
            long double both = 0;
            for (size_t i = 0; i < p->pixels; i++)
                both +=
                    (long double)p->weight[i] * stored->derivative[k][i] * stored->derivative[l][i];
            r.curvature[k * p->count + l] = (double)both;
        }
    }
    r.chi2 = (double)chi2;
    return r;
}

static void expect(const db_context *context, const char *what, const char *name, double found,
                   double expected, double bound) {
    if (fabs(found - expected) <= bound) return;
    print_error("%s: %s of %s is %.17g, expected %.17g, bound %g\n", db_context_isa(context), what,
                name, found, expected, bound);
    fail();
}

/* Length of the difference between an image of float and of double, as the sums weigh it. */
static double rounded_off(const problem *p, const double *image, const double *in_double) {
    double sum = 0;
    for (size_t i = 0; i < p->pixels; i++)
        if (p->weight[i] != 0) sum += (double)p->weight[i] * pow(image[i] - in_double[i], 2);
    return sqrt(sum);
}

/* Of both signs, and 0 where the data are worthless. */
static double *cotangent_of(const problem *p) {
    double *c = malloc(p->pixels * sizeof *c);
    assert_non_null(c);
    for (size_t i = 0; i < p->pixels; i++)
        c[i] = p->weight[i] == 0 ? 0 : (0.3 - 0.1 * (double)(i * 104729 % 13)) * p->weight[i];
    return c;
}

static double length_of(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* The gradient is the sum of products with stored images; with the image or without, when groups of
 * pixels without cotangent are left out. Relative to the lengths of the two images multiplied, as for
 * normal equations. */
static void compare_vjp(db_context *context, const problem *p, db_plan *plan, const images *stored,
                        const images *exact, double bound) {
    double *c = cotangent_of(p), gradient[2][MOST_PARAMETERS];
    images made = images_create(p->pixels);
    assert_int_equal(vjp_by_parameters(plan, c, NULL, gradient[0]), DB_OK);
    assert_int_equal(vjp_by_parameters(plan, c, made.image, gradient[1]), DB_OK);
    assert_memory_equal(made.image, stored->image, p->pixels * sizeof *made.image);
    for (size_t k = 0; k < p->count; k++) {
        char name[64];
        long double sum = 0;
        double square = 0;
        db_parameter_name(p->parameters[k], name, sizeof name);
        for (size_t i = 0; i < p->pixels; i++) {
            sum += (long double)c[i] * exact->derivative[k][i];
            square += pow(stored->derivative[k][i] - exact->derivative[k][i], 2);
        }
        const double room = (bound * length_of(exact->derivative[k], p->pixels) + sqrt(square)) *
                            length_of(c, p->pixels);
        expect(context, "product with a cotangent", name, gradient[0][k], (double)sum, room);
        expect(context, "the same beside an image", name, gradient[1][k], (double)sum, room);
    }
    images_destroy(&made);
    free(c);
}

/* The tangent is the combination of stored images. Relative to the largest values of what it adds up. */
static void compare_jvp(db_context *context, const problem *p, db_plan *plan, const images *stored,
                        const images *exact, double bound) {
    double direction[MOST_PARAMETERS], room = 0;
    images made = images_create(p->pixels);
    for (size_t k = 0; k < p->count; k++) {
        const double step = db_parameter_describe(p->parameters[k])->scale;
        direction[k] = k % 5 == 3 ? 0 : step * (k % 2 ? -0.7 : 1.3);
        room += fabs(direction[k]) *
                (bound * largest(exact->derivative[k], p->pixels) +
                 largest_difference(stored->derivative[k], exact->derivative[k], p->pixels));
    }
    assert_int_equal(jvp_by_parameters(plan, direction, made.image, made.derivative[0]), DB_OK);
    assert_memory_equal(made.image, stored->image, p->pixels * sizeof *made.image);
    for (size_t i = 0; i < p->pixels; i++) {
        double sum = 0;
        for (size_t k = 0; k < p->count; k++) sum += direction[k] * exact->derivative[k][i];
        expect(context, "tangent", "a pixel", made.derivative[0][i], sum, room);
    }
    images_destroy(&made);
}

static double *doubles_of(const float *pixels, size_t count) {
    double *made = malloc(count * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; i++) made[i] = pixels[i];
    return made;
}

/* Data in doubles that floats hold give the same bits; a background counts as data of the other sign. */
static void compare_typed(const problem *p, db_plan *plan, const equations *of_floats) {
    equations found;
    double *data = doubles_of(p->data, p->pixels), *weight = doubles_of(p->weight, p->pixels),
           *background = doubles_of(p->weight, p->pixels);
    const size_t size = p->count * sizeof(double);
    for (int with_background = 0; with_background < 2; with_background++) {
        for (size_t i = 0; with_background && i < p->pixels; i++) {
            background[i] = isfinite(data[i]) ? data[i] : 0; /* nothing is rounded away */
            data[i] += background[i];
        }
        assert_int_equal(db_plan_set_background(plan, with_background ? background : NULL), DB_OK);
        assert_int_equal(db_plan_normal(plan, DB_FLOAT64, data, weight, &found.chi2, found.gradient,
                                        found.curvature),
                         DB_OK);
        assert_true(found.chi2 == of_floats->chi2);
        assert_memory_equal(found.gradient, of_floats->gradient, size);
        assert_memory_equal(found.curvature, of_floats->curvature, p->count * size);
    }
    assert_int_equal(db_plan_set_background(plan, NULL), DB_OK);
    free(data);
    free(weight);
    free(background);
}

/* Normal equations of spots in closed form are summed over spots, not over images
 * (kernel/spot_products.h), and rounding does something else to them in mixed precision: there they
 * have to be as close to double precision as the images are. A parameter's slope is a sum of ten terms
 * that may be much larger, and the products of these are what is rounded.
 * in_double: images made in double precision, used in mixed precision. */
static void compare(db_context *context, const db_experiment *e, const problem *p,
                    db_precision precision, images *in_double) {
    const int spot_by_spot = precision == DB_PRECISION_MIXED && e->spread.spots == DB_SPOTS_CLOSED;
    const double bound = (spot_by_spot ? 20 : 1) * bounds[precision];
    double off[MOST_PARAMETERS + 1] = { 0 };
    db_plan *plan = plan_of(context, e, p, precision);
    images stored = images_create(p->pixels);
    assert_int_equal(db_plan_gradient(plan, stored.image, (void *const *)stored.derivative), DB_OK);
    const equations expected = sums_of(spot_by_spot ? in_double : &stored, p);
    equations found;
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, p->data, p->weight, &found.chi2,
                                    found.gradient, found.curvature),
                     DB_OK);
    assert_true(expected.chi2 > 0);
    expect(context, "chi2", "the image", found.chi2, expected.chi2, bound * expected.chi2);
    for (size_t k = 0; k < p->count && spot_by_spot; k++)
        off[k] = rounded_off(p, stored.derivative[k], in_double->derivative[k]);
    const double residual_off = spot_by_spot ? rounded_off(p, stored.image, in_double->image) : 0,
                 residual = sqrt(expected.chi2);
    for (size_t k = 0; k < p->count; k++) {
        char name[64];
        db_parameter_name(p->parameters[k], name, sizeof name);
        const double length = sqrt(expected.curvature[k * p->count + k]);
        expect(context, "gradient", name, found.gradient[k], expected.gradient[k],
               bound * length * residual + off[k] * residual + length * residual_off);
        for (size_t l = 0; l < p->count; l++) {
            const double other = sqrt(expected.curvature[l * p->count + l]);
            expect(context, "curvature", name, found.curvature[k * p->count + l],
                   expected.curvature[k * p->count + l],
                   bound * length * other + off[k] * other + length * off[l]);
        }
    }
    if (p->count < 3 || p->count > 8) { /* rows of all lengths are for products of two */
        compare_typed(p, plan, &found);
        compare_vjp(context, p, plan, &stored, spot_by_spot ? in_double : &stored, bound);
        compare_jvp(context, p, plan, &stored, spot_by_spot ? in_double : &stored, bound);
    }
    if (precision == DB_PRECISION_DOUBLE)
        *in_double = stored;
    else
        images_destroy(&stored);
    db_plan_destroy(&plan);
}

static void in_every_instruction_set(db_context *context, const db_experiment *e,
                                     const problem *p) {
    for (size_t tried = 0; use_next_instruction_set(context, &tried);) {
        images in_double;
        compare(context, e, p, DB_PRECISION_DOUBLE, &in_double);
        compare(context, e, p, DB_PRECISION_MIXED, &in_double);
        images_destroy(&in_double);
    }
}

static void sums_equal_those_of_stored_images(void **state) {
    const configuration *which = *state;
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_experiment e = configured(context, which);
    problem p;
    p.count = parameters_of(which, &e, p.parameters);
    db_plan *plan = plan_of(context, &e, &p, DB_PRECISION_DOUBLE);
    images model = images_create(db_plan_pixels(plan));
    assert_int_equal(db_plan_forward(plan, model.image), DB_OK);
    make_data(&model, &p);
    in_every_instruction_set(context, &e, &p);
    /* rows of vectors of other lengths; the lattice by its parameters, and not at all; closed spots
     * one by one, which takes fewer parameters than there are */
    for (p.count = 1; p.count < 9; p.count += 2) in_every_instruction_set(context, &e, &p);
    if (e.spread.spots == DB_SPOTS_CLOSED) {
        p.count = 60;
        in_every_instruction_set(context, &e, &p);
    }
    p.parameters[0] = DB_SCALE;
    p.parameters[1] = DB_DISTANCE;
    p.count = 2;
    in_every_instruction_set(context, &e, &p);
    free(p.data);
    free(p.weight);
    images_destroy(&model);
    db_plan_destroy(&plan);
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

int main(void) {
    struct CMUnitTest tests[64];
    for (size_t i = 0; i < configurations_and_closed(); i++)
        tests[i] = (struct CMUnitTest){ configuration_or_closed(i)->name,
                                        sums_equal_those_of_stored_images, NULL, NULL,
                                        (void *)(uintptr_t)configuration_or_closed(i) };
    return _cmocka_run_group_tests("normal", tests, configurations_and_closed(), NULL, NULL);
}
