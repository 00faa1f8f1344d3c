/* A step that makes the loss worse is not taken: whenever the search is cut short, the best point
 * so far is what comes back. */

#include "support/unit_test.h"
#include "fit/search/levenberg_marquardt.h"

#include <math.h>
#include <stdlib.h>

static double best;

/* The square of an arc tangent, past whose minimum Gauss and Newton jump further and further. */
static int evaluate(void *user, const double *x, double *loss, double *gradient, double *normal) {
    (void)user;
    const double residual = atan(x[0]), slope = 1 / (1 + x[0] * x[0]);
    *loss = residual * residual;
    gradient[0] = 2 * residual * slope;
    normal[0] = slope * slope;
    best = fmin(best, *loss);
    return 0;
}

static void the_best_point_comes_back(void **state) {
    (void)state;
    const double lower = -INFINITY, upper = INFINITY, longest = INFINITY;
    double *const memory = malloc(db_lm_room(1) * sizeof *memory);
    assert_non_null(memory);
    for (int most = 1; most < 40; most++) {
        const db_lm_problem problem = { .count = 1,
                                        .evaluate = evaluate,
                                        .lower = &lower,
                                        .upper = &upper,
                                        .longest = &longest,
                                        .degrees = 1,
                                        .tolerance = 1e-12,
                                        .most_evaluations = most };
        double x = 3;
        best = INFINITY;
        const db_lm_result result = db_lm_minimize(&problem, &x, memory);
        if (!(result.loss <= best && atan(x) * atan(x) <= best * (1 + 1e-12)))
            fail_msg("%d evaluations: ends at %g with %g, but was at %g", most, x, result.loss,
                     best);
        if (most == 39) assert_true(fabs(x) < 1e-4);
    }
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_best_point_comes_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
