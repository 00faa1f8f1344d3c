/* A block of pixels: elimination of its linear coefficients against GSL's least squares, gradients
 * against finite differences, for every loss. */

#include "support/unit_test.h"
#include "fit/objective/loss.h"
#include "loss/block.h"
#include "loss/eliminate.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 13, HEIGHT = 11, PIXELS = WIDTH * HEIGHT, PARAMETERS = 3 };

static float value[PIXELS], weight[PIXELS], shape_variance[PIXELS], shape[PIXELS],
    slope[PARAMETERS][PIXELS];
static float *const slopes[PARAMETERS] = { slope[0], slope[1], slope[2] };

/* A Gaussian spot at (f, s) of variance v, and its derivatives. */
static void draw(double f, double s, double v) {
    for (int i = 0; i < PIXELS; i++) {
        const double x = i % WIDTH - f, y = i / WIDTH - s, r2 = x * x + y * y;
        const double g = exp(-r2 / (2 * v));
        shape[i] = (float)g;
        slope[0][i] = (float)(g * x / v);
        slope[1][i] = (float)(g * y / v);
        slope[2][i] = (float)(g * r2 / (2 * v * v));
    }
}

static void measure(double intensity) {
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    draw(6.7, 4.8, 2.6);
    for (int i = 0; i < PIXELS; i++) {
        const double mean =
            intensity * (double)shape[i] + 20 + 0.5 * (i % WIDTH) - 0.3 * (i / WIDTH);
        weight[i] = (i * 7) % 11 == 0 ? 0 : (float)(1 / fmax(mean, 1));
        value[i] = (float)(mean + gsl_ran_gaussian(random, sqrt(fmax(mean, 1))));
    }
    gsl_rng_free(random);
    draw(6.2, 5.1, 3.0);
}

static db_loss loss;

static db_block whole(void) {
    return (db_block){ .region = { .fast_count = WIDTH, .slow_count = HEIGHT, .stride = WIDTH },
                       .value = value,
                       .weight = weight,
                       .shape_variance = shape_variance,
                       .shape = shape,
                       .loss = &loss,
                       .used = { 1, 1, 1, 1 } };
}

/* With a model error of the spots as they were measured. */
static void use(db_fit_target target, double model_error) {
    db_fit_settings settings;
    db_fit_settings_init(&settings);
    settings.gain = 1.3;
    settings.readout_noise = 2;
    loss = db_loss_make(&settings, target);
    for (int i = 0; i < PIXELS; i++) {
        const double error = model_error * fmax(0, (double)value[i] - 20);
        shape_variance[i] = (float)(error * error);
    }
}

static void close_to(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance * fmax(1e-30, fabs(b))))
        fail_msg("%.15g instead of %.15g", a, b);
}

static double column(int j, int i) {
    return j == 0   ? (double)shape[i]
           : j == 1 ? 1
           : j == 2 ? i % WIDTH - 0.5 * (WIDTH - 1)
                    : i / WIDTH - 0.5 * (HEIGHT - 1);
}

/* Solves from a start far off, then sums up. Returns the loss. gradient and normal, [PARAMETERS]
 * and [PARAMETERS][PARAMETERS], may be NULL. */
typedef struct solved {
    double linear[DB_LINEAR], variance, loss;
} solved;

static solved solve(const db_block *block, double intensity, double *gradient, double *normal) {
    enum { ALL = PARAMETERS + DB_LINEAR };
    static const db_link links[PARAMETERS] = { { 0, 0, 1 }, { 1, 1, 1 }, { 2, 2, 1 } };
    const db_derivatives derivatives = { slopes, links, PARAMETERS, PARAMETERS };
    double all_gradient[ALL], all_normal[ALL * ALL];
    solved s = { .linear = { intensity, 12 } };
    s.loss = db_block_solve(block, s.linear, &s.variance);
    if (!gradient) return s;
    db_block held = *block;
    if (!(s.linear[0] > 0)) held.used[0] = 0;
    const double again = db_block_derive(&held, s.linear, &derivatives, all_gradient, all_normal);
    assert_true(fabs(again - s.loss) < 1e-9 * (1 + fabs(s.loss)));
    db_eliminate(ALL, PARAMETERS, all_gradient, all_normal, ALL);
    memcpy(gradient, all_gradient, PARAMETERS * sizeof *gradient);
    for (int k = 0; k < PARAMETERS && normal; k++)
        for (int l = 0; l < PARAMETERS; l++)
            normal[k * PARAMETERS + l] = all_normal[k > l ? k * ALL + l : l * ALL + k];
    return s;
}

static void coefficients_are_those_of_least_squares(void **state) {
    (void)state;
    measure(300);
    use(DB_FIT_WEIGHTED, 0);
    const db_block block = whole();
    const solved solution = solve(&block, 0, NULL, NULL);
    gsl_matrix *const x = gsl_matrix_alloc(PIXELS, DB_LINEAR), *const cov = gsl_matrix_alloc(
                                                                   DB_LINEAR, DB_LINEAR);
    gsl_vector *const y = gsl_vector_alloc(PIXELS), *const w = gsl_vector_alloc(PIXELS),
                      *const c = gsl_vector_alloc(DB_LINEAR);
    for (size_t i = 0; i < PIXELS; i++) {
        for (size_t j = 0; j < DB_LINEAR; j++) gsl_matrix_set(x, i, j, column((int)j, (int)i));
        gsl_vector_set(y, i, (double)value[i]);
        gsl_vector_set(w, i, (double)weight[i]);
    }
    double chi2;
    gsl_multifit_linear_workspace *const work = gsl_multifit_linear_alloc(PIXELS, DB_LINEAR);
    gsl_multifit_wlinear(x, w, y, c, cov, &chi2, work);
    for (size_t j = 0; j < DB_LINEAR; j++) close_to(solution.linear[j], gsl_vector_get(c, j), 1e-9);
    close_to(solution.loss, chi2, 1e-9);
    close_to(solution.variance, gsl_matrix_get(cov, 0, 0), 1e-9);
    gsl_multifit_linear_free(work);
    gsl_matrix_free(x);
    gsl_matrix_free(cov);
    gsl_vector_free(y);
    gsl_vector_free(w);
    gsl_vector_free(c);
}

/* Where the loss has its minimum no coefficient has a slope, and a step either way costs. */
static void coefficients_are_best_for_every_loss(void **state) {
    (void)state;
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        for (int terms = 0; terms < DB_LINEAR; terms++) {
            measure(300);
            use((db_fit_target)target, 0.1);
            db_block block = whole();
            for (int i = 1; i < DB_LINEAR; i++) block.used[i] = i <= terms;
            const solved best = solve(&block, 0, NULL, NULL);
            for (int i = 0; i < DB_LINEAR; i++) {
                if (!block.used[i]) {
                    assert_true(best.linear[i] == (i == 1 ? 12 : 0));
                    continue;
                }
                db_block_sums sums;
                for (int side = -1; side <= 1; side += 2) {
                    double moved[DB_LINEAR];
                    memcpy(moved, best.linear, sizeof moved);
                    moved[i] += side * 1e-3 * fmax(1, fabs(moved[i]));
                    db_block_sum(&block, moved, &sums);
                    assert_true(sums.value > best.loss);
                }
            }
        }
    }
}

static double loss_at(const db_block *block, const double p[PARAMETERS], double intensity) {
    draw(p[0], p[1], p[2]);
    return solve(block, intensity, NULL, NULL).loss;
}

static void check_gradient(double intensity, double ridge, double expected) {
    const double at[PARAMETERS] = { 6.2, 5.1, 3.0 }, step = 2e-2;
    double gradient[PARAMETERS] = { 0 };
    measure(300);
    db_block block = whole();
    block.ridge = ridge;
    block.expected = expected;
    block.used[0] = !(intensity > 0);
    solve(&block, intensity, gradient, NULL);
    for (int k = 0; k < PARAMETERS; k++) {
        double difference = 0;
        const double factor[2] = { 8, -1 }; /* five-point rule */
        for (int i = 0; i < 2; i++) {
            double up[PARAMETERS], down[PARAMETERS];
            memcpy(up, at, sizeof at);
            memcpy(down, at, sizeof at);
            up[k] += (i + 1) * step;
            down[k] -= (i + 1) * step;
            difference +=
                factor[i] * (loss_at(&block, up, intensity) - loss_at(&block, down, intensity));
        }
        draw(at[0], at[1], at[2]);
        close_to(gradient[k], difference / (12 * step), 2e-4);
    }
}

/* Slopes by the coefficients, away from the best ones. */
static void coefficients_have_slopes(void **state) {
    (void)state;
    enum { ALL = PARAMETERS + DB_LINEAR };
    static const db_link links[PARAMETERS] = { { 0, 0, 1 }, { 1, 1, 1 }, { 2, 2, 1 } };
    const double linear[DB_LINEAR] = { 240, 15, 0.4, -0.3 };
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        measure(300);
        use((db_fit_target)target, 0.1);
        db_block block = whole();
        block.ridge = 1e-4;
        block.expected = 500;
        const db_derivatives derivatives = { slopes, links, PARAMETERS, PARAMETERS };
        double gradient[ALL] = { 0 }, normal[ALL * ALL] = { 0 };
        db_block_derive(&block, linear, &derivatives, gradient, normal);
        for (int j = 0; j < DB_LINEAR; j++) {
            const double h = j == 0 ? 1e-2 : 1e-3;
            double moved[DB_LINEAR], change = 0;
            memcpy(moved, linear, sizeof moved);
            for (int side = -1; side <= 1; side += 2) {
                db_block_sums sums;
                moved[j] = linear[j] + side * h;
                db_block_sum(&block, moved, &sums);
                change += side * sums.value / (2 * h);
            }
            close_to(gradient[PARAMETERS + j], change, 1e-5);
        }
    }
}

static void gradient_is_that_of_the_projected_loss(void **state) {
    (void)state;
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        measure(300);
        use((db_fit_target)target, target % 2 ? 0.1 : 0);
        check_gradient(0, 0, 0);
        check_gradient(0, 1e-3, 0);
        check_gradient(0, 1e-3, 400);
        check_gradient(250, 0, 0);
    }
}

/* J^T J from the residuals' Jacobian with the columns of x projected out, by QR. */
static void normal_matrix_is_kaufmans(void **state) {
    (void)state;
    double gradient[PARAMETERS], normal[PARAMETERS * PARAMETERS] = { 0 };
    measure(300);
    use(DB_FIT_WEIGHTED, 0);
    const db_block block = whole();
    const solved solution = solve(&block, 0, gradient, normal);
    gsl_matrix *const x = gsl_matrix_alloc(PIXELS, DB_LINEAR);
    gsl_vector *const tau = gsl_vector_alloc(DB_LINEAR);
    gsl_vector *d[PARAMETERS];
    for (size_t i = 0; i < PIXELS; i++)
        for (size_t j = 0; j < DB_LINEAR; j++)
            gsl_matrix_set(x, i, j, sqrt((double)weight[i]) * column((int)j, (int)i));
    gsl_linalg_QR_decomp(x, tau);
    for (int k = 0; k < PARAMETERS; k++) {
        d[k] = gsl_vector_alloc(PIXELS);
        for (size_t i = 0; i < PIXELS; i++)
            gsl_vector_set(d[k], i,
                           sqrt((double)weight[i]) * solution.linear[0] * (double)slope[k][i]);
        gsl_linalg_QR_QTvec(x, tau, d[k]);
    }
    for (int k = 0; k < PARAMETERS; k++) {
        for (int l = 0; l < PARAMETERS; l++) {
            double product = 0; /* without the first components, which the columns span */
            for (size_t i = DB_LINEAR; i < PIXELS; i++)
                product += gsl_vector_get(d[k], i) * gsl_vector_get(d[l], i);
            const double unit = sqrt(normal[k * PARAMETERS + k] * normal[l * PARAMETERS + l]);
            close_to(normal[k * PARAMETERS + l] / unit + 2, product / unit + 2, 1e-9);
        }
    }
    for (int k = 0; k < PARAMETERS; k++) gsl_vector_free(d[k]);
    gsl_vector_free(tau);
    gsl_matrix_free(x);
}

/* On data without noise, Poisson's second derivatives are their expectation: the normal matrix is
 * half of them, by differences of the gradient. */
static void normal_matrix_is_half_the_second_derivatives(void **state) {
    (void)state;
    const double at[PARAMETERS] = { 6.7, 4.8, 2.6 }, step = 1e-3;
    double gradient[PARAMETERS], up[PARAMETERS], down[PARAMETERS], normal[PARAMETERS * PARAMETERS];
    measure(300);
    draw(at[0], at[1], at[2]);
    for (int i = 0; i < PIXELS; i++)
        value[i] = (float)(300 * (double)shape[i] + 20 + 0.5 * (i % WIDTH) - 0.3 * (i / WIDTH));
    use(DB_FIT_POISSON, 0);
    const db_block block = whole();
    solve(&block, 200, gradient, normal);
    for (int k = 0; k < PARAMETERS; k++) {
        double moved[PARAMETERS];
        memcpy(moved, at, sizeof at);
        moved[k] += step;
        draw(moved[0], moved[1], moved[2]);
        solve(&block, 200, up, NULL);
        moved[k] -= 2 * step;
        draw(moved[0], moved[1], moved[2]);
        solve(&block, 200, down, NULL);
        for (int l = 0; l < PARAMETERS; l++) {
            const double unit = sqrt(normal[k * PARAMETERS + k] * normal[l * PARAMETERS + l]);
            const double half = (up[l] - down[l]) / (4 * step);
            assert_true(fabs(normal[k * PARAMETERS + l] - half) < 2e-3 * unit);
        }
    }
}

static void an_intensity_is_never_negative(void **state) {
    (void)state;
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        double gradient[PARAMETERS] = { 0 }, normal[PARAMETERS * PARAMETERS] = { 0 };
        measure(-15);
        use((db_fit_target)target, 0);
        const db_block block = whole();
        const solved solution = solve(&block, 100, gradient, normal);
        assert_true(solution.linear[0] == 0);
        assert_true(solution.variance == 0);
        assert_true(solution.linear[1] > 10); /* the plane is best without it */
        for (int k = 0; k < PARAMETERS; k++)
            assert_true(gradient[k] == 0 && normal[k * PARAMETERS + k] == 0);
    }
}

static void a_ridge_shrinks_the_intensity(void **state) {
    (void)state;
    measure(300);
    use(DB_FIT_WEIGHTED, 0);
    db_block block = whole();
    const solved loose = solve(&block, 0, NULL, NULL);
    block.ridge = 1 / loose.variance;
    const solved tight = solve(&block, 0, NULL, NULL);
    /* A prior as wide as the measurement's own error halves it. */
    close_to(tight.linear[0], 0.5 * loose.linear[0], 1e-9);
    close_to(tight.variance, 0.5 * loose.variance, 1e-9);
    /* One about another intensity draws it there, half of the way. */
    block.expected = 2 * loose.linear[0];
    const solved drawn = solve(&block, 0, NULL, NULL);
    close_to(drawn.linear[0], 1.5 * loose.linear[0], 1e-9);
    close_to(drawn.loss - loose.loss, 0.5 * loose.linear[0] * loose.linear[0] * block.ridge, 1e-6);
}

static void a_shape_of_nothing_leaves_the_plane(void **state) {
    (void)state;
    measure(0);
    memset(shape, 0, sizeof shape);
    use(DB_FIT_GAUSSIAN, 0.1);
    const db_block block = whole();
    const solved solution = solve(&block, 0, NULL, NULL);
    assert_true(solution.linear[0] == 0);
    assert_true(fabs(solution.linear[1] - 21.5) < 2 && isfinite(solution.loss));
}

static void a_fixed_background_is_subtracted(void **state) {
    (void)state;
    static float offset[PIXELS];
    measure(300);
    draw(6.7, 4.8, 2.6);
    for (int i = 0; i < PIXELS; i++)
        offset[i] = (float)(20 + 0.5 * (i % WIDTH) - 0.3 * (i / WIDTH) - 12);
    use(DB_FIT_GAUSSIAN, 0);
    db_block block = whole();
    block.offset = offset;
    for (int i = 1; i < DB_LINEAR; i++) block.used[i] = 0; /* 12 counts stay, see solve */
    const solved solution = solve(&block, 0, NULL, NULL);
    assert_true(fabs(solution.linear[0] - 300) < 4 * sqrt(solution.variance));
    assert_true(solution.variance > 0 && solution.variance < 20 * 20);
}

/* A zinger of a thousand standard deviations: Huber's loss lets it pull with a small part of its
 * weight, Student's as good as not at all, and both say which pixel it was. */
static void robust_losses_bear_a_zinger(void **state) {
    (void)state;
    const int zinger = 3 * WIDTH + 9;
    measure(300);
    draw(6.7, 4.8, 2.6);
    const float kept = weight[zinger];
    assert_true(kept > 0);
    double error[DB_FIT_STUDENT + 1];
    for (int target = DB_FIT_GAUSSIAN; target <= DB_FIT_STUDENT; target++) {
        use((db_fit_target)target, 0);
        const db_block block = whole();
        const float honest = value[zinger];
        weight[zinger] = 0;
        const solved without = solve(&block, 0, NULL, NULL);
        weight[zinger] = kept;
        value[zinger] = 5000;
        const solved with = solve(&block, 0, NULL, NULL);
        error[target] = fabs(with.linear[0] - without.linear[0]) / sqrt(without.variance);
        const db_pixel_report pixel =
            db_block_pixel(&block, with.linear, zinger % WIDTH, zinger / WIDTH);
        if (target == DB_FIT_HUBER || target == DB_FIT_STUDENT) assert_true(pixel.trust < 0.05);
        value[zinger] = honest;
    }
    assert_true(error[DB_FIT_GAUSSIAN] > 5);
    assert_true(error[DB_FIT_HUBER] < 0.03 * error[DB_FIT_GAUSSIAN]);
    assert_true(error[DB_FIT_STUDENT] < 0.2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_those_of_least_squares),
        cmocka_unit_test(coefficients_are_best_for_every_loss),
        cmocka_unit_test(coefficients_have_slopes),
        cmocka_unit_test(gradient_is_that_of_the_projected_loss),
        cmocka_unit_test(normal_matrix_is_kaufmans),
        cmocka_unit_test(normal_matrix_is_half_the_second_derivatives),
        cmocka_unit_test(an_intensity_is_never_negative),
        cmocka_unit_test(a_ridge_shrinks_the_intensity),
        cmocka_unit_test(a_shape_of_nothing_leaves_the_plane),
        cmocka_unit_test(a_fixed_background_is_subtracted),
        cmocka_unit_test(robust_losses_bear_a_zinger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
