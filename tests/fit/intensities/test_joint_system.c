/* The equations of joint intensities against the solution of all equations at once, shots' own
 * quantities among them. */

#include "support/unit_test.h"
#include "fit/intensities/restraint.h"
#include "fit/intensities/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFLECTIONS = 12, /* the last one is on no shot */
    SHOTS = 37,
    BOXES = 6,
    LOCAL = 3,
    SHARED = 2,
    OWN = BOXES + LOCAL + SHARED, /* unknowns of a shot */
    X = REFLECTIONS + SHARED,
    ALL = X + SHOTS * LOCAL
};

static unsigned long drawn = 1;
static double draw(void) {
    drawn = (drawn * 69069 + 1234567) & 0xffffffff;
    return (double)drawn / 4294967296.0 - 0.5;
}

static db_context *context;
static void *memory[SHOTS];
static db_reduced_equations record[SHOTS];
static unsigned char group[SHOTS];
static double restraint[REFLECTIONS], pull[REFLECTIONS];
static double loss[SHOTS], gradient[SHOTS][OWN], normal[SHOTS][OWN][OWN];
static uint32_t reflection[SHOTS][BOXES];

/* Boxes meet a shot's quantities, not each other. A shot may show a reflection twice. */
static void draw_shot(size_t s) {
    memset(normal[s], 0, sizeof normal[s]);
    for (size_t b = 0; b < BOXES; b++) {
        reflection[s][b] = (uint32_t)((draw() + 0.5) * (REFLECTIONS - 1));
        for (int pixel = 0; pixel < 3; pixel++) {
            double row[OWN] = { 0 };
            row[b] = 1 + draw();
            for (size_t i = BOXES; i < OWN; i++) row[i] = draw();
            for (size_t i = 0; i < OWN; i++)
                for (size_t j = 0; j < OWN; j++) normal[s][i][j] += row[i] * row[j];
        }
    }
    for (size_t i = 0; i < OWN; i++) gradient[s][i] = draw();
    loss[s] = 1 + draw();
}

/* What the eliminations of the program make of it. held: a local quantity at a bound; -1: none. */
static void make_record(size_t s, int held) {
    double e[LOCAL + SHARED], m[(LOCAL + SHARED) * (LOCAL + SHARED)], room[LOCAL];
    unsigned char is_held[LOCAL] = { 0 };
    if (held >= 0) is_held[held] = 1;
    for (size_t i = 0; i < LOCAL + SHARED; i++) {
        e[i] = gradient[s][BOXES + i];
        for (size_t j = 0; j < LOCAL + SHARED; j++)
            m[i * (LOCAL + SHARED) + j] = normal[s][BOXES + i][BOXES + j];
    }
    const size_t size = db_reduced_size(BOXES, LOCAL, SHARED, SHARED);
    if (!memory[s]) memory[s] = malloc(size);
    assert_non_null(memory[s]);
    memset(memory[s], 0x7f, size);
    db_reduced_equations *const r = &record[s];
    *r = db_reduced_in(BOXES, LOCAL, SHARED, SHARED, memory[s]);
    assert_ptr_equal(
        (float *)(void *)(r->hkl + BOXES) <= (float *)((char *)memory[s] + size) ? memory[s] : NULL,
        memory[s]);
    *r->loss = loss[s];
    db_reduced_eliminate(&(db_normal_equations){ e, m, is_held }, r);
    for (size_t b = 0; b < BOXES; b++) {
        r->reflection[b] = reflection[s][b];
        r->pull[b] = (float)gradient[s][b];
        r->curvature[b] = (float)normal[s][b][b];
        db_reduced_box(r, b, &normal[s][b][BOXES], room);
        for (size_t g = 0; g < SHARED; g++) { /* in any order */
            r->place[b * SHARED + g] = (uint16_t)(SHARED - 1 - g);
            r->by_shared[b * SHARED + g] = (float)normal[s][b][BOXES + LOCAL + SHARED - 1 - g];
        }
    }
}

static db_status read_record(void *user, size_t shot, int thread, db_reduced_equations *r) {
    (void)user;
    (void)thread;
    *r = record[shot];
    return DB_OK;
}

static int owner(const void *user, size_t chunk) {
    (void)user;
    (void)chunk;
    return 0;
}

static size_t place_of(size_t s, size_t i) {
    if (i < BOXES) return reflection[s][i];
    return i < BOXES + LOCAL ? X + s * LOCAL + i - BOXES : REFLECTIONS + i - BOXES - LOCAL;
}

/* Which unknown is at a bound: -1: none; of shot 0; or, from LOCAL on, shared. */
static size_t place_of_held(int held) {
    if (held < 0) return ALL;
    return held < LOCAL ? X + (size_t)held : REFLECTIONS + (size_t)(held - LOCAL);
}

/* All equations, by Gauss and Jordan. held: see above; damping as the program has it cannot be
 * written so, and is 0. */
static void solve_all(unsigned groups, int held, double *x) {
    static double m[ALL][ALL + 1];
    memset(m, 0, sizeof m);
    for (size_t s = 0; s < SHOTS; s++) {
        if (!(group[s] & groups)) continue;
        for (size_t i = 0; i < OWN; i++) {
            m[place_of(s, i)][ALL] -= gradient[s][i];
            for (size_t j = 0; j < OWN; j++) m[place_of(s, i)][place_of(s, j)] += normal[s][i][j];
        }
    }
    for (size_t h = 0; h < REFLECTIONS; h++) {
        m[h][h] += restraint[h];
        m[h][ALL] -= pull[h];
    }
    for (size_t i = 0; i < ALL; i++) {
        if (!(m[i][i] > 0) || i == REFLECTIONS - 1 || i == place_of_held(held)) {
            for (size_t j = 0; j <= ALL; j++) m[i][j] = 0; /* stays */
            for (size_t j = 0; j < ALL; j++) m[j][i] = 0;
            m[i][i] = 1;
        }
    }
    for (size_t k = 0; k < ALL; k++)
        for (size_t i = 0; i < ALL; i++) {
            if (i == k) continue;
            const double factor = m[i][k] / m[k][k];
            for (size_t j = k; j <= ALL && fabs(factor) > 0; j++) m[i][j] -= factor * m[k][j];
        }
    for (size_t i = 0; i < ALL; i++) x[i] = m[i][ALL] / m[i][i];
}

static int set_up(void **state) {
    (void)state;
    for (size_t s = 0; s < SHOTS; s++) {
        draw_shot(s);
        group[s] = (unsigned char)(1 + s % 2);
    }
    for (size_t h = 0; h < REFLECTIONS; h++) {
        restraint[h] = 0.3 + draw();
        pull[h] = draw();
    }
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    for (size_t s = 0; s < SHOTS; s++) free(memory[s]);
    db_context_destroy(&context);
    return 0;
}

static db_joint_system make_system(int threads) {
    db_joint_system system = { .context = context,
                               .reflections = REFLECTIONS,
                               .shared = SHARED,
                               .shots = SHOTS,
                               .threads = threads,
                               .chunk = 3,
                               .team = { .size = 1 },
                               .owner = owner,
                               .read = read_record,
                               .group = group };
    assert_int_equal(db_joint_system_make(&system), DB_OK);
    return system;
}

static void sum_up(db_joint_system *system, unsigned groups) {
    const db_intensity_restraint held = { .strength = restraint, .pull = pull };
    assert_int_equal(db_joint_system_sum(system, groups), DB_OK);
    db_intensity_restraint_add(&held, REFLECTIONS, system->diagonal, system->right);
}

/* Of all shots and of a half of them; with a quantity at a bound. */
static void solution_of_all_equations(void **state) {
    (void)state;
    double x[X], local[LOCAL], truth[ALL];
    int iterations;
    for (unsigned groups = 1; groups <= 3; groups++)
        for (int held = -1; held < LOCAL + SHARED; held += 2) {
            for (size_t s = 0; s < SHOTS; s++) make_record(s, s == 0 && held < LOCAL ? held : -1);
            db_joint_system system = make_system(1);
            sum_up(&system, groups);
            if (held >= LOCAL) db_joint_system_hold(&system, (size_t)(held - LOCAL));
            assert_int_equal(
                db_joint_system_solve(&system, groups, 0, 1e-9, 1, system.right, x, &iterations),
                DB_OK);
            solve_all(groups, held, truth);
            for (size_t i = 0; i < X; i++) /* records are in single precision */
                if (!(fabs(x[i] - truth[i]) < 2e-5))
                    fail_msg("unknown %zu is %.8g instead of %.8g", i, x[i], truth[i]);
            for (size_t s = 0; s < SHOTS; s++) {
                if (!(group[s] & groups)) continue;
                db_reduced_answer(&record[s], 0, x, x + REFLECTIONS, local);
                for (size_t i = 0; i < LOCAL; i++)
                    assert_true(fabs(local[i] - truth[X + s * LOCAL + i]) < 2e-5);
            }
            assert_true(iterations > 2 && iterations <= X + 4);
            db_joint_system_clear(&system);
        }
}

/* Random signs find the diagonal of the inverse of all equations. */
static void spread_is_that_of_the_inverse(void **state) {
    (void)state;
    double spread[REFLECTIONS], few[REFLECTIONS], x[X];
    int iterations;
    for (size_t s = 0; s < SHOTS; s++) make_record(s, -1);
    db_joint_system system = make_system(2);
    sum_up(&system, 3);
    assert_int_equal(db_joint_system_spread(&system, 3, 400, NULL, NULL, spread), DB_OK);
    assert_int_equal(db_joint_system_spread(&system, 3, 8, NULL, NULL, few), DB_OK);
    double worst = 0, usual = 0, most = 0, beyond = 0;
    for (size_t h = 0; h + 1 < REFLECTIONS; h++) {
        double right[X] = { 0 };
        right[h] = 1;
        assert_int_equal(db_joint_system_solve(&system, 3, 0, 1e-6, 1, right, x, &iterations),
                         DB_OK);
        const double exact = x[h] * system.diagonal[h],
                     first = 1 + system.remainder[h] / system.diagonal[h];
        worst = fmax(worst, fabs(spread[h] / exact - 1));
        usual += fabs(few[h] / exact - 1) / (REFLECTIONS - 1);
        most = fmax(most, exact);
        beyond = fmax(beyond, exact / first);
    }
    print_message("spread up to %.2f, %.2f times the first terms; off by at most %.3f with 400 "
                  "probes, %.3f on average with 8\n",
                  most, beyond, worst, usual);
    assert_true(beyond > 1.05); /* the series is needed */
    assert_true(worst < 0.1 && usual < 0.03);
    assert_true(spread[REFLECTIONS - 1] >= 1);
    db_joint_system_clear(&system);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    double x[2][X];
    int iterations;
    for (int t = 0; t < 2; t++) {
        db_joint_system system = make_system(t ? 3 : 1);
        sum_up(&system, 3);
        assert_int_equal(
            db_joint_system_solve(&system, 3, 0.1, 1e-6, 1, system.right, x[t], &iterations),
            DB_OK);
        db_joint_system_clear(&system);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
}

/* Damping and rest: shorter steps; shared quantities that stay; the reflection on no shot. */
static void steps_are_damped(void **state) {
    (void)state;
    double x[X], y[X];
    int iterations;
    db_joint_system system = make_system(1);
    sum_up(&system, 3);
    assert_int_equal(db_joint_system_solve(&system, 3, 0, 1e-6, 0, system.right, x, &iterations),
                     DB_OK);
    assert_int_equal(db_joint_system_solve(&system, 3, 1e3, 1e-6, 1, system.right, y, &iterations),
                     DB_OK);
    for (size_t g = REFLECTIONS; g < X; g++) assert_true(fabs(x[g]) <= 0);
    double length[2] = { 0 };
    for (size_t i = 0; i < REFLECTIONS; i++) {
        length[0] += x[i] * x[i];
        length[1] += y[i] * y[i];
    }
    assert_true(length[1] < 1e-4 * length[0]);
    assert_true(fabs(x[REFLECTIONS - 1]) <= 0 && fabs(y[REFLECTIONS - 1]) <= 0);
    db_joint_system_clear(&system);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solution_of_all_equations),
        cmocka_unit_test(spread_is_that_of_the_inverse),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(steps_are_damped),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
