/* Steps within bounds against all possible sets of held unknowns; minimizations whose end is known.
 */

#include "support/unit_test.h"
#include "loss/eliminate.h"
#include "fit/search/levenberg_marquardt.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4, MEMORY = N * (N + 4) };

static double value_at(const double *gradient, const double *normal, const double *p) {
    double sum = 0;
    for (int i = 0; i < N; i++) {
        sum += gradient[i] * p[i];
        for (int j = 0; j < N; j++) sum += p[i] * normal[N * i + j] * p[j];
    }
    return sum;
}

/* The least value over all 3^N choices of which unknowns are at which bound. */
static double least_of_all(const double *gradient, const double *normal, const double *lower,
                           const double *upper) {
    double least = 0;
    for (int code = 0; code < 81; code++) {
        double p[N] = { 0 }, slope[N], matrix[N * N], step[N];
        int state[N];
        size_t list[N], n = 0;
        for (int i = 0, c = code; i < N; i++, c /= 3) {
            state[i] = c % 3;
            if (state[i]) p[i] = state[i] == 1 ? lower[i] : upper[i];
            if (!state[i]) list[n++] = (size_t)i;
        }
        for (size_t a = 0; a < n; a++) {
            slope[a] = gradient[list[a]];
            for (int j = 0; j < N; j++) slope[a] += 2 * normal[N * (int)list[a] + j] * p[j];
            for (size_t b = 0; b <= a; b++) matrix[a * n + b] = normal[N * list[a] + list[b]];
        }
        db_eliminate(n, 0, slope, matrix, n);
        int inside = 1;
        for (size_t a = 0; a < n; a++) {
            p[list[a]] = step[a] = db_eliminated_step(matrix + a * n, a, slope[a], step);
            inside &= p[list[a]] >= lower[list[a]] && p[list[a]] <= upper[list[a]];
        }
        if (inside) least = fmin(least, value_at(gradient, normal, p));
    }
    return least;
}

static void a_step_is_the_best_within_its_bounds(void **state) {
    (void)state;
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    assert_int_equal(db_box_room(N), MEMORY);
    for (int trial = 0; trial < 500; trial++) {
        double gradient[N], normal[N * N], root[N * N], lower[N], upper[N], scale[N], step[N],
            memory[MEMORY];
        for (int i = 0; i < N * N; i++) root[i] = gsl_ran_gaussian(random, 1);
        for (int i = 0; i < N; i++) {
            gradient[i] = gsl_ran_gaussian(random, 3);
            lower[i] = trial % 3 == 0 && i == 1 ? 0 : -gsl_ran_exponential(random, 0.5);
            upper[i] = trial % 5 == 0 ? INFINITY : gsl_ran_exponential(random, 0.5);
            scale[i] = 1;
            for (int j = 0; j < N; j++) {
                normal[N * i + j] = 0;
                for (int k = 0; k < N; k++) normal[N * i + j] += root[N * i + k] * root[N * j + k];
            }
        }
        const double promise =
            db_box_step(N, gradient, normal, 0, scale, lower, upper, step, memory);
        for (int i = 0; i < N; i++) assert_true(step[i] >= lower[i] && step[i] <= upper[i]);
        const double best = least_of_all(gradient, normal, lower, upper);
        assert_true(fabs(promise + value_at(gradient, normal, step)) < 1e-9 * (1 + promise));
        if (!(fabs(promise + best) < 1e-8 * (1 + fabs(best))))
            fail_msg("trial %d: promises %.12g, the best is %.12g", trial, promise, -best);
    }
    gsl_rng_free(random);
}

/* Rosenbrock's valley as a sum of two squares; where = 2: undefined beyond a wall. */
typedef struct valley {
    int calls;
    double wall;
} valley;

static int rosenbrock(void *user, const double *x, double *loss, double *gradient, double *normal) {
    valley *const v = user;
    v->calls++;
    const double r[2] = { 10 * (x[1] - x[0] * x[0]), 1 - x[0] };
    const double j[2][2] = { { -20 * x[0], 10 }, { -1, 0 } };
    *loss = x[0] > v->wall ? INFINITY : r[0] * r[0] + r[1] * r[1];
    for (int a = 0; a < 2; a++) {
        gradient[a] = 2 * (r[0] * j[0][a] + r[1] * j[1][a]);
        for (int b = 0; b < 2; b++) normal[2 * a + b] = j[0][a] * j[0][b] + j[1][a] * j[1][b];
    }
    return 0;
}

static db_lm_result minimize(valley *v, const double *lower, const double *upper, double *x) {
    static const double longest[2] = { 1, 1 };
    const db_lm_problem problem = { .count = 2,
                                    .evaluate = rosenbrock,
                                    .user = v,
                                    .lower = lower,
                                    .upper = upper,
                                    .longest = longest,
                                    .degrees = 1,
                                    .tolerance = 0,
                                    .step = 1e-6,
                                    .most_evaluations = 100 };
    double *const memory = malloc(db_lm_room(2) * sizeof *memory);
    assert_non_null(memory);
    const db_lm_result result = db_lm_minimize(&problem, x, memory);
    free(memory);
    assert_int_equal(result.evaluations, v->calls);
    return result;
}

static void a_curved_valley_is_followed(void **state) {
    (void)state;
    static const double lower[2] = { -INFINITY, -INFINITY }, upper[2] = { INFINITY, INFINITY };
    for (int walled = 0; walled < 2; walled++) {
        valley v = { .wall = walled ? 1.0001 : INFINITY };
        double x[2] = { -1.2, 1 };
        const db_lm_result result = minimize(&v, lower, upper, x);
        assert_int_equal(result.end, DB_LM_CONVERGED);
        assert_true(fabs(x[0] - 1) < 1e-5 && fabs(x[1] - 1) < 1e-5);
        assert_true(result.evaluations < 40);
    }
}

static void a_bound_holds(void **state) {
    (void)state;
    static const double lower[2] = { -INFINITY, -INFINITY }, upper[2] = { 0.5, INFINITY };
    valley v = { .wall = INFINITY };
    double x[2] = { -1.2, 1 };
    const db_lm_result result = minimize(&v, lower, upper, x);
    assert_int_equal(result.end, DB_LM_CONVERGED);
    assert_true(x[0] == 0.5);
    assert_true(fabs(x[1] - 0.25) < 1e-6);
}

/* Two unknowns of which only the sum matters: the other combination rests, and nothing breaks. */
static int sum_only(void *user, const double *x, double *loss, double *gradient, double *normal) {
    (void)user;
    const double r = x[0] + x[1] - 3;
    *loss = r * r;
    gradient[0] = gradient[1] = 2 * r;
    for (int i = 0; i < 4; i++) normal[i] = 1;
    return 0;
}

static void an_undetermined_direction_rests(void **state) {
    (void)state;
    static const double lower[2] = { -INFINITY, -INFINITY }, upper[2] = { INFINITY, INFINITY },
                        longest[2] = { 10, 10 };
    const db_lm_problem problem = { .count = 2,
                                    .evaluate = sum_only,
                                    .lower = lower,
                                    .upper = upper,
                                    .longest = longest,
                                    .degrees = 1,
                                    .step = 1e-6,
                                    .most_evaluations = 30 };
    double x[2] = { 0, 1 }, memory[64];
    assert_true(db_lm_room(2) <= 64);
    const db_lm_result result = db_lm_minimize(&problem, x, memory);
    assert_int_equal(result.end, DB_LM_CONVERGED);
    assert_true(fabs(x[0] + x[1] - 3) < 1e-5);
    assert_true(fabs(x[0] - x[1] + 1) < 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_best_within_its_bounds),
        cmocka_unit_test(a_curved_valley_is_followed),
        cmocka_unit_test(a_bound_holds),
        cmocka_unit_test(an_undetermined_direction_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
