/* Elimination of linear coefficients against GSL's least squares, gradients against finite
 * differences. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fit/varpro.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 13, HEIGHT = 11, PIXELS = WIDTH * HEIGHT, PARAMETERS = 3 };

static float value[PIXELS], weight[PIXELS], shape[PIXELS], slope[PARAMETERS][PIXELS];
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

static double memory[PARAMETERS * (1 + DB_LINEAR + PARAMETERS)];

static db_varpro_pixels rows(int begin, int end) {
    return (db_varpro_pixels){ value,
                               weight,
                               shape,
                               slopes,
                               (size_t)(begin * WIDTH),
                               WIDTH,
                               WIDTH,
                               end - begin,
                               -0.5 * (WIDTH - 1),
                               begin - 0.5 * (HEIGHT - 1) };
}

static db_varpro_sums sums_of_all(void) {
    db_varpro_sums sums;
    db_varpro_sums_init(&sums, PARAMETERS, memory);
    db_varpro_sums_zero(&sums);
    const db_varpro_pixels all = rows(0, HEIGHT);
    db_varpro_accumulate(&sums, &all, 1);
    return sums;
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

static void coefficients_are_those_of_least_squares(void **state) {
    (void)state;
    measure(300);
    const db_varpro_sums sums = sums_of_all();
    db_varpro_solution solution;
    db_varpro_solve(&sums, 0, &solution, NULL, NULL);
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
    close_to(solution.target, chi2, 1e-9);
    close_to(solution.intensity_variance, gsl_matrix_get(cov, 0, 0), 1e-9);
    gsl_multifit_linear_free(work);
    gsl_matrix_free(x);
    gsl_matrix_free(cov);
    gsl_vector_free(y);
    gsl_vector_free(w);
    gsl_vector_free(c);
}

/* intensity: 0 if it is eliminated, else given. */
static void solve(double intensity, double ridge, db_varpro_solution *solution, double *gradient) {
    const db_varpro_sums sums = sums_of_all();
    if (intensity > 0)
        db_varpro_solve_plane(&sums, intensity, solution, gradient, NULL);
    else
        db_varpro_solve(&sums, ridge, solution, gradient, NULL);
}

static double target_at(const double p[PARAMETERS], double intensity, double ridge) {
    db_varpro_solution solution;
    draw(p[0], p[1], p[2]);
    solve(intensity, ridge, &solution, NULL);
    return solution.target;
}

static void check_gradient(double intensity, double ridge) {
    const double at[PARAMETERS] = { 6.2, 5.1, 3.0 }, step = 2e-2;
    double gradient[PARAMETERS] = { 0 };
    db_varpro_solution solution;
    measure(300);
    solve(intensity, ridge, &solution, gradient);
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
                factor[i] * (target_at(up, intensity, ridge) - target_at(down, intensity, ridge));
        }
        close_to(gradient[k], difference / (12 * step), 2e-4);
    }
}

static void gradient_is_that_of_the_projected_target(void **state) {
    (void)state;
    check_gradient(0, 0);
    check_gradient(0, 1e-3);
    check_gradient(250, 0);
}

/* J^T J from the residuals' Jacobian with the columns of x projected out, by QR. */
static void normal_matrix_is_kaufmans(void **state) {
    (void)state;
    double normal[PARAMETERS * PARAMETERS] = { 0 };
    db_varpro_solution solution;
    measure(300);
    const db_varpro_sums sums = sums_of_all();
    db_varpro_solve(&sums, 0, &solution, NULL, normal);
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

static void an_intensity_is_never_negative(void **state) {
    (void)state;
    double gradient[PARAMETERS] = { 0 }, normal[PARAMETERS * PARAMETERS] = { 0 };
    db_varpro_solution solution;
    measure(-15);
    const db_varpro_sums sums = sums_of_all();
    db_varpro_solve(&sums, 0, &solution, gradient, normal);
    assert_true(solution.linear[0] == 0);
    assert_true(solution.linear[1] > 10); /* the plane is found again */
    for (int k = 0; k < PARAMETERS; k++)
        assert_true(gradient[k] == 0 && normal[k * PARAMETERS + k] == 0);
}

static void a_ridge_shrinks_the_intensity(void **state) {
    (void)state;
    db_varpro_solution loose, tight;
    measure(300);
    const db_varpro_sums sums = sums_of_all();
    db_varpro_solve(&sums, 0, &loose, NULL, NULL);
    db_varpro_solve(&sums, 1 / loose.intensity_variance, &tight, NULL, NULL);
    /* A prior as wide as the measurement's own error halves it. */
    close_to(tight.linear[0], 0.5 * loose.linear[0], 1e-9);
    close_to(tight.intensity_variance, 0.5 * loose.intensity_variance, 1e-9);
}

static void a_shape_of_nothing_leaves_the_plane(void **state) {
    (void)state;
    db_varpro_solution solution;
    measure(0);
    memset(shape, 0, sizeof shape);
    const db_varpro_sums sums = sums_of_all();
    db_varpro_solve(&sums, 0, &solution, NULL, NULL);
    assert_true(solution.linear[0] == 0);
    assert_true(fabs(solution.linear[1] - 21.5) < 2 && isfinite(solution.target));
}

/* The upper and the lower half with a plane each but one J: least squares with seven columns. */
static void blocks_may_share_their_intensity(void **state) {
    (void)state;
    enum { COLUMNS = 1 + 2 * (DB_LINEAR - 1), HALF = 5 };
    double other_memory[PARAMETERS * (1 + DB_LINEAR + PARAMETERS)],
        normal[PARAMETERS * PARAMETERS] = { 0 };
    db_varpro_sums halves[2];
    db_varpro_shared shared = { 0 };
    db_varpro_solution solution[2];
    measure(300);
    for (int h = 0; h < 2; h++) {
        const db_varpro_pixels half = rows(h ? HALF : 0, h ? HEIGHT : HALF);
        db_varpro_sums_init(&halves[h], PARAMETERS, h ? other_memory : memory);
        db_varpro_sums_zero(&halves[h]);
        db_varpro_accumulate(&halves[h], &half, 1);
        db_varpro_share(&halves[h], &shared);
    }
    const double intensity = shared.numerator / shared.denominator;
    for (int h = 0; h < 2; h++)
        db_varpro_solve_plane(&halves[h], intensity, &solution[h], NULL, normal);
    db_varpro_project_shared(&shared, intensity, PARAMETERS, normal);
    gsl_matrix *const x = gsl_matrix_calloc(PIXELS, COLUMNS);
    gsl_vector *const tau = gsl_vector_alloc(COLUMNS), *const y = gsl_vector_alloc(PIXELS);
    for (size_t i = 0; i < PIXELS; i++) {
        const double root = sqrt((double)weight[i]);
        const size_t first = i < HALF * WIDTH ? 1 : DB_LINEAR;
        gsl_matrix_set(x, i, 0, root * (double)shape[i]);
        for (size_t j = 0; j + 1 < DB_LINEAR; j++)
            gsl_matrix_set(x, i, first + j, root * column((int)j + 1, (int)i));
        gsl_vector_set(y, i, root * (double)value[i]);
    }
    gsl_linalg_QR_decomp(x, tau);
    gsl_linalg_QR_QTvec(x, tau, y);
    double chi2 = 0;
    for (size_t i = COLUMNS; i < PIXELS; i++) chi2 += gsl_vector_get(y, i) * gsl_vector_get(y, i);
    close_to(solution[0].target + solution[1].target, chi2, 1e-9);
    for (size_t i = 0; i < PIXELS; i++)
        gsl_vector_set(y, i, sqrt((double)weight[i]) * intensity * (double)slope[0][i]);
    gsl_linalg_QR_QTvec(x, tau, y);
    double square = 0;
    for (size_t i = COLUMNS; i < PIXELS; i++) square += gsl_vector_get(y, i) * gsl_vector_get(y, i);
    close_to(normal[0], square, 1e-9);
    gsl_vector_free(y);
    gsl_vector_free(tau);
    gsl_matrix_free(x);
}

static void sums_of_parts_add_up(void **state) {
    (void)state;
    double part_memory[PARAMETERS * (1 + DB_LINEAR + PARAMETERS)];
    db_varpro_sums part;
    db_varpro_solution together, apart;
    measure(300);
    db_varpro_sums sums = sums_of_all();
    db_varpro_solve(&sums, 0, &together, NULL, NULL);
    db_varpro_sums_zero(&sums);
    db_varpro_sums_init(&part, PARAMETERS, part_memory);
    for (int row = 0; row < HEIGHT; row += 4) {
        const db_varpro_pixels some = rows(row, row + 4 < HEIGHT ? row + 4 : HEIGHT);
        db_varpro_sums_zero(&part);
        db_varpro_accumulate(&part, &some, 1);
        db_varpro_sums_add(&sums, &part);
    }
    db_varpro_solve(&sums, 0, &apart, NULL, NULL);
    for (int i = 0; i < DB_LINEAR; i++) close_to(apart.linear[i], together.linear[i], 1e-9);
    close_to(apart.target, together.target, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_those_of_least_squares),
        cmocka_unit_test(gradient_is_that_of_the_projected_target),
        cmocka_unit_test(normal_matrix_is_kaufmans),
        cmocka_unit_test(an_intensity_is_never_negative),
        cmocka_unit_test(a_ridge_shrinks_the_intensity),
        cmocka_unit_test(a_shape_of_nothing_leaves_the_plane),
        cmocka_unit_test(blocks_may_share_their_intensity),
        cmocka_unit_test(sums_of_parts_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
