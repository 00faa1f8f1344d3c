/* What quantities that are held do to errors of refined ones. */
#include "support/unit_test.h"
#include "fit/result/covariance.h"
#include "fit/result/errors.h"

#include <math.h>
#include <string.h>

enum { N = 4, HELD = 1 };

static db_context *context;

static int make_context(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int drop_context(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

static void close_to(double a, double b) {
    if (!(fabs(a - b) <= 1e-10 * fmax(1, fabs(b)))) fail_msg("%.15g instead of %.15g", a, b);
}

static const double matrix[N * N] = { 9, 2, 1, 3, 2, 5, -1, 1, 1, -1, 7, 2, 3, 1, 2, 6 };

/* Estimates of quantities with the errors of the matrix without the held one. */
typedef struct found {
    db_fit_estimate list[N];
    double numbers[N][N], *row[N];
    db_fit_estimates estimates;
} found;

static void estimate_without(const int *used, found *f) {
    static const size_t index[N] = { 0, 1, 2, 3 };
    db_covariance c;
    memset(f, 0, sizeof *f);
    for (size_t k = 0; k < N; k++) f->row[k] = f->numbers[k];
    assert_int_equal(db_covariance_estimate(context, matrix, N, used, DB_LEAST_EIGENVALUE, &c),
                     DB_OK);
    f->estimates = (db_fit_estimates){ .count = N, .list = f->list, .correlation = f->row };
    for (size_t k = 0; k < N; k++) {
        f->list[index[k]].error = c.error[k];
        for (size_t l = 0; l < N; l++) f->numbers[k][l] = c.correlation[k][l];
    }
    db_covariance_clear(&c);
}

static void widen_by(double sigma, const int *used, found *f) {
    static const size_t index[N] = { 0, 1, 2, 3 };
    double change[N];
    assert_int_equal(db_held_response(context, matrix, N, used, HELD, change), DB_OK);
    for (size_t k = 0; k < N; k++) change[k] *= sigma;
    db_held_widen(change, index, N, &f->estimates);
}

/* A quantity that is refined beside a prior, and one that is held with the error that it then has, leave the others the same
 * errors and correlations. */
static void held_is_as_uncertain_as_refined(void **state) {
    (void)state;
    const int without[N] = { 1, 0, 1, 1 }, all[N] = { 1, 1, 1, 1 };
    double with_prior[N * N];
    db_covariance c;
    found f;
    memcpy(with_prior, matrix, sizeof matrix);
    with_prior[HELD * (N + 1)] += 4;
    assert_int_equal(db_covariance_estimate(context, with_prior, N, all, DB_LEAST_EIGENVALUE, &c),
                     DB_OK);
    estimate_without(without, &f);
    widen_by(c.error[HELD], without, &f);
    for (size_t k = 0; k < N; k++) {
        if (k == HELD) continue;
        close_to(f.list[k].error, c.error[k]);
        for (size_t l = 0; l < N; l++)
            if (l != HELD && l != k) close_to(f.numbers[k][l], c.correlation[k][l]);
    }
    db_covariance_clear(&c);
}

/* What is at a bound stays, so that the others move without it. */
static void a_bound_does_not_move(void **state) {
    (void)state;
    const int used[N] = { 1, 0, 1, 0 };
    double change[N];
    assert_int_equal(db_held_response(context, matrix, N, used, HELD, change), DB_OK);
    /* [9 1; 1 7] change = -[2; -1] */
    close_to(change[0], -15 / 62.0);
    close_to(change[2], 11 / 62.0);
    close_to(change[3], 0);
    close_to(change[HELD], 0);
}

/* An error that is open stays open, and NAN stays no error. */
static void open_errors_stay_open(void **state) {
    (void)state;
    const int used[N] = { 1, 0, 1, 1 };
    found f;
    estimate_without(used, &f);
    f.list[0].error = INFINITY;
    widen_by(1, used, &f);
    assert_true(isinf(f.list[0].error) && isnan(f.list[HELD].error));
    assert_true(isfinite(f.numbers[0][2]) && isfinite(f.numbers[2][3]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_is_as_uncertain_as_refined),
        cmocka_unit_test(a_bound_does_not_move),
        cmocka_unit_test(open_errors_stay_open),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
