/* Score tests of further unknowns, by made-up data with a known answer: the same steps as a fit of all, right errors. */
#include "support/unit_test.h"
#include "fit/linear/score.h"

#include <dualbragg/context.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Three unknowns, the last one held; four further ones, of which the last does what the first unknown does. */
enum { OWN = 3, FURTHER = 4, ALL = OWN + FURTHER, DATA = 400, PARTS = 40 };

typedef struct scene {
    double further; /* true value of the second further unknown */
    double misfit;  /* scatter of data in units of their errors, alike within each part */
} scene;

typedef struct made_up {
    double slope[ALL], normal[ALL * ALL], scatter[2][ALL * (ALL + 1) / 2];
} made_up;

static double deviate(unsigned *seed) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        sum += (double)(*seed >> 8) / 16777216.0;
    }
    return sum;
}

static void make_row(int datum, double row[ALL]) {
    for (int i = 0; i < ALL; i++) row[i] = sin(0.37 * (i + 1) * datum + i);
    row[ALL - 1] = row[0];
}

static void add_product(const double *half, double *triangle) {
    for (int i = 0, at = 0; i < ALL; i++)
        for (int k = 0; k <= i; k++) triangle[at++] += half[i] * half[k];
}

/* Equations where all unknowns are 0: each datum is its rows times the true values, and noise. */
static void make_up(scene of, unsigned seed, made_up *to) {
    double all[ALL] = { 0 };
    memset(to, 0, sizeof *to);
    for (int part = 0; part < PARTS; part++) {
        double half[ALL] = { 0 };
        for (int d = 0; d < DATA / PARTS; d++) {
            double row[ALL], datum = of.misfit * deviate(&seed);
            make_row(part * DATA / PARTS + d, row);
            datum += of.further * row[OWN + 1] + 2 * row[0];
            for (int i = 0; i < ALL; i++) {
                half[i] -= datum * row[i];
                for (int k = 0; k < ALL; k++) to->normal[i * ALL + k] += row[i] * row[k];
            }
        }
        for (int i = 0; i < ALL; i++) all[i] = to->slope[i] += half[i];
        add_product(half, to->scatter[0]);
    }
    for (int i = 0; i < ALL; i++) all[i] *= 0.1; /* the other division of the data says less */
    add_product(all, to->scatter[1]);
}

/* Brings equations to where the unknowns of the minimum are at their best, and one further unknown is at a value. */
static void go_to(double own, double further, made_up *to, scene of, unsigned seed) {
    double half[ALL];
    memset(to->scatter, 0, sizeof to->scatter);
    memset(to->slope, 0, sizeof to->slope);
    for (int part = 0; part < PARTS; part++) {
        memset(half, 0, sizeof half);
        for (int d = 0; d < DATA / PARTS; d++) {
            double row[ALL], datum = of.misfit * deviate(&seed);
            make_row(part * DATA / PARTS + d, row);
            datum += (of.further - further) * row[OWN + 1] + (2 - own) * row[0];
            for (int i = 0; i < ALL; i++) half[i] -= datum * row[i];
        }
        for (int i = 0; i < ALL; i++) to->slope[i] += half[i];
        add_product(half, to->scatter[0]);
    }
}

static db_score_rival ask(const made_up *m, size_t count, const double *mix) {
    static const unsigned char held[OWN] = { 0, 0, 1 };
    const db_score_equations e = { OWN,       FURTHER, m->slope,
                                   m->normal, held,    { m->scatter[0], m->scatter[1] } };
    db_context *context = NULL;
    db_score score;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_score_make(context, &e, &score), DB_OK);
    const db_score_rival rival = db_score_of(&score, count, mix);
    db_score_clear(&score);
    db_context_destroy(&context);
    return rival;
}

static const double SECOND[FURTHER] = { 0, 1, 0, 0 }, LAST[FURTHER] = { 0, 0, 0, 1 };

/* Least squares of a few unknowns by Gauss's elimination. */
static void solve_list(const made_up *m, const int *list, int count, double *x) {
    double a[ALL][ALL + 1];
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++) a[i][k] = m->normal[list[i] * ALL + list[k]];
        a[i][count] = -m->slope[list[i]];
    }
    for (int i = 0; i < count; i++)
        for (int r = 0; r < count; r++) {
            const double times = a[r][i] / a[i][i];
            for (int k = 0; k <= count && r != i; k++) a[r][k] -= times * a[i][k];
        }
    for (int i = 0; i < count; i++) x[i] = a[i][count] / a[i][i];
}

static void steps_are_those_of_a_fit(void **state) {
    (void)state;
    static const int with[] = { 0, 1, OWN, OWN + 1 }, without[] = { 0, 1 };
    static const double both[2 * FURTHER] = { 1, 0, 0, 0, 0, 1, 0, 0 };
    double x[4], y[2], fall = 0;
    made_up m;
    make_up((scene){ 0.3, 1 }, 5, &m);
    const db_score_rival r = ask(&m, 2, both);
    solve_list(&m, with, 4, x);
    solve_list(&m, without, 2, y);
    assert_int_equal(r.count, 2);
    for (int k = 0; k < 2; k++) assert_true(fabs(r.step[k] - x[2 + k]) < 1e-9);
    for (int i = 0; i < 4; i++) fall -= x[i] * m.slope[with[i]];
    for (int i = 0; i < 2; i++) fall += y[i] * m.slope[without[i]];
    assert_true(fabs(r.fall - fall) < 1e-9 * fall);
}

static void unknowns_that_move_together_are_one(void **state) {
    (void)state;
    static const double sum[FURTHER] = { 1, 1, 0, 0 }, twice[FURTHER] = { 0, 2, 0, 0 };
    made_up m;
    make_up((scene){ 0.3, 1 }, 5, &m);
    const db_score_rival one = ask(&m, 1, SECOND), two = ask(&m, 1, twice), of = ask(&m, 1, sum);
    assert_true(fabs(two.step[0] - 0.5 * one.step[0]) < 1e-12);
    assert_true(fabs(two.error[0] - 0.5 * one.error[0]) < 1e-12);
    assert_true(fabs(two.fall - one.fall) < 1e-9 * one.fall);
    assert_true(of.fall < one.fall);
}

static void what_the_unknowns_do_is_no_rival(void **state) {
    (void)state;
    made_up m;
    make_up((scene){ 0.3, 1 }, 5, &m);
    assert_int_equal(ask(&m, 1, LAST).count, 0);
    memset(m.normal, 0, sizeof m.normal);
    assert_int_equal(ask(&m, 1, SECOND).count, 0); /* nothing was measured */
}

/* At the minimum errors are those of repeated experiments, whatever the misfit; the larger scatter counts. */
static void errors_include_misfit(void **state) {
    (void)state;
    for (double misfit = 1; misfit < 30; misfit *= 5) {
        double pulls = 0, squares = 0;
        for (unsigned seed = 1; seed <= 100; seed++) {
            const scene of = { 0.3, misfit };
            made_up m;
            make_up(of, 7919 * seed, &m);
            const double step = ask(&m, 1, SECOND).step[0];
            go_to(2, step, &m, of, 7919 * seed);
            const db_score_rival r = ask(&m, 1, SECOND);
            pulls += (step - 0.3) * (step - 0.3) / (r.error[0] * r.error[0]);
            go_to(2, 0.3, &m, of, 7919 * seed);
            squares += ask(&m, 1, SECOND).square;
        }
        assert_true(pulls > 65 && pulls < 140);
        assert_true(squares > 65 && squares < 140); /* 1 on average: chance */
    }
    made_up m;
    make_up((scene){ 0, 1 }, 3, &m);
    const double error = ask(&m, 1, SECOND).error[0];
    memcpy(m.scatter[1], m.scatter[0], sizeof m.scatter[0]);
    for (size_t i = 0; i < sizeof m.scatter[0] / sizeof(double); i++) m.scatter[1][i] *= 4;
    assert_true(fabs(ask(&m, 1, SECOND).error[0] - 2 * error) < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_a_fit),
        cmocka_unit_test(unknowns_that_move_together_are_one),
        cmocka_unit_test(what_the_unknowns_do_is_no_rival),
        cmocka_unit_test(errors_include_misfit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
