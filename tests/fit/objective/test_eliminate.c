/* Elimination, and the reduced system of many shots, against the solution of all equations at once. */

#include "support/unit_test.h"
#include "loss/eliminate.h"
#include "fit/linear/schur.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

static unsigned long drawn = 1;
static double draw(void) {
    drawn = (drawn * 69069 + 1234567) & 0xffffffff;
    return (double)drawn / 4294967296.0 - 0.5;
}

/* A symmetric positive matrix and a gradient. */
static void draw_model(size_t n, double *gradient, double *normal) {
    double factor[MOST * MOST];
    for (size_t i = 0; i < n * n; i++) factor[i] = draw();
    for (size_t i = 0; i < n; i++) {
        gradient[i] = draw();
        for (size_t j = 0; j < n; j++) {
            normal[i * n + j] = i == j ? 0.1 : 0;
            for (size_t k = 0; k < n; k++)
                normal[i * n + j] += factor[i * n + k] * factor[j * n + k];
        }
    }
}

/* x with N x = b, by Gauss and Jordan. */
static void solve(size_t n, const double *normal, const double *b, double *x) {
    double m[MOST * MOST];
    memcpy(m, normal, n * n * sizeof *m);
    memcpy(x, b, n * sizeof *x);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            if (i == k) continue;
            const double factor = m[i * n + k] / m[k * n + k];
            for (size_t j = 0; j < n; j++) m[i * n + j] -= factor * m[k * n + j];
            x[i] -= factor * x[k];
        }
    for (size_t k = 0; k < n; k++) x[k] /= m[k * n + k];
}

/* Where value + g x + x N x is least, and by how much it falls. */
static double minimum(size_t n, const double *gradient, const double *normal, double *x) {
    double half[MOST] = { 0 }, fall = 0;
    for (size_t i = 0; i < n; i++) half[i] = -0.5 * gradient[i];
    solve(n, normal, half, x);
    for (size_t i = 0; i < n; i++) fall -= 0.5 * gradient[i] * x[i];
    return fall;
}

static void expect_close(const char *what, double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%s is %.12g, expected %.12g", what, found, expected);
}

static void elimination_finds_the_minimum(void **state) {
    (void)state;
    for (size_t n = 1; n <= MOST; n++) {
        double gradient[MOST], normal[MOST * MOST], expected[MOST], step[MOST];
        draw_model(n, gradient, normal);
        const double fall = minimum(n, gradient, normal, expected);
        expect_close("decrease", db_eliminate(n, 0, gradient, normal, n), fall);
        for (size_t i = 0; i < n; i++) {
            step[i] = db_eliminated_step(normal + i * n, i, gradient[i], step);
            expect_close("step", step[i], expected[i]);
        }
    }
}

/* With the last unknowns at their best, the model of the first ones: value, slope and curvature. */
static void what_is_left_is_the_best_over_the_eliminated(void **state) {
    (void)state;
    enum { N = 7, LEFT = 3 };
    double gradient[N], normal[N * N], left[N], complement[N * N], full[N], part[LEFT];
    draw_model(N, gradient, normal);
    memcpy(left, gradient, sizeof left);
    memcpy(complement, normal, sizeof complement);
    double fall = db_eliminate(N, LEFT, left, complement, N);
    double square[LEFT * LEFT];
    for (size_t i = 0; i < LEFT; i++)
        for (size_t j = 0; j < LEFT; j++)
            square[i * LEFT + j] = complement[i < j ? j * N + i : i * N + j];
    fall += minimum(LEFT, left, square, part);
    expect_close("decrease", fall, minimum(N, gradient, normal, full));
    for (size_t i = 0; i < LEFT; i++) expect_close("unknown", part[i], full[i]);
}

enum { SHOTS = 3, SHARED = 3, LOCAL = 2, OWN = SHARED + LOCAL, ALL = SHARED + SHOTS * LOCAL };

/* Number among all unknowns of a shot's own one. */
static size_t global(size_t shot, size_t i) {
    return i < SHARED ? i : SHARED + shot * LOCAL + i - SHARED;
}

/* Local quantities held at a bound rest. */
static void meet(const int held[SHOTS][OWN]) {
    /* the shot's variables stand in another order: local, shared, shared, local, shared */
    const db_schur_order order = { .shared = SHARED,
                                   .local = LOCAL,
                                   .variable = { 1, 2, 4, 0, 3 } };
    double gradient[ALL] = { 0 }, normal[ALL * ALL] = { 0 }, expected[ALL], loss = 0;
    double sums[1 + SHARED + SHARED * (SHARED + 1) / 2] = { 0 };
    double *memory[SHOTS], *const work = malloc(db_schur_work_size(&order) * sizeof *work);
    assert_non_null(work);
    assert_int_equal(db_schur_sums_size(SHARED), sizeof sums / sizeof *sums);
    for (size_t shot = 0; shot < SHOTS; shot++) {
        double g[OWN], m[OWN * OWN];
        draw_model(OWN, g, m);
        memory[shot] = malloc(db_schur_tail_size(&order) * sizeof **memory);
        assert_non_null(memory[shot]);
        db_schur_tail tail = db_schur_tail_in(&order, memory[shot]);
        db_schur_reduce(&order, (double)shot, g, m, held[shot], &tail, sums, work);
        loss += (double)shot;
        for (size_t i = 0; i < OWN; i++) {
            const size_t a = order.variable[i], at = global(shot, i);
            gradient[at] += held[shot][a] ? 0 : g[a];
            for (size_t j = 0; j < OWN; j++) {
                const size_t b = order.variable[j];
                if (!held[shot][a] && !held[shot][b])
                    normal[at * ALL + global(shot, j)] += m[a * OWN + b];
                else if (i == j)
                    normal[at * ALL + at] = 1; /* alone, and at rest */
            }
        }
    }
    double left, slope[SHARED], matrix[SHARED * SHARED], step[OWN];
    db_schur_total(SHARED, sums, &left, slope, matrix);
    left -= minimum(SHARED, slope, matrix, step);
    expect_close("loss", left, loss - minimum(ALL, gradient, normal, expected));
    for (size_t i = 0; i < SHARED; i++) expect_close("shared quantity", step[i], expected[i]);
    for (size_t shot = 0; shot < SHOTS; shot++) {
        const db_schur_tail tail = db_schur_tail_in(&order, memory[shot]);
        double answer[OWN], none[OWN] = { 0 };
        db_schur_answer(&order, &tail, 0, step);
        for (size_t i = SHARED; i < OWN; i++)
            expect_close("local quantity", step[i], expected[global(shot, i)]);
        /* the answer to a step is how much of that comes from the step */
        memcpy(answer, step, sizeof answer);
        db_schur_answer(&order, &tail, 1, answer);
        db_schur_answer(&order, &tail, 0, none);
        for (size_t i = SHARED; i < OWN; i++) expect_close("answer", answer[i], step[i] - none[i]);
        free(memory[shot]);
    }
    free(work);
}

static void shots_meet_as_all_equations_at_once(void **state) {
    (void)state;
    const int none[SHOTS][OWN] = { { 0 } };
    meet(none);
}

static void what_is_held_rests(void **state) {
    (void)state;
    /* the first local quantity of shot 0, the second of shot 1, both of shot 2 */
    const int some[SHOTS][OWN] = { { 1, 0, 0, 0, 0 }, { 0, 0, 0, 1, 0 }, { 1, 0, 0, 1, 0 } };
    meet(some);
}

/* An unknown of no influence, and one that is a copy of another. */
static void what_is_not_determined_rests(void **state) {
    (void)state;
    double gradient[3] = { 2, 0, 2 }, normal[9] = { 4, 0, 4, 0, 0, 0, 4, 0, 4 }, step[3];
    expect_close("decrease", db_eliminate(3, 0, gradient, normal, 3), 0.25);
    for (size_t i = 0; i < 3; i++)
        step[i] = db_eliminated_step(normal + 3 * i, i, gradient[i], step);
    assert_true(step[1] == 0);
    expect_close("sum of copies", step[0] + step[2], -0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elimination_finds_the_minimum),
        cmocka_unit_test(what_is_left_is_the_best_over_the_eliminated),
        cmocka_unit_test(shots_meet_as_all_equations_at_once),
        cmocka_unit_test(what_is_held_rests),
        cmocka_unit_test(what_is_not_determined_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
