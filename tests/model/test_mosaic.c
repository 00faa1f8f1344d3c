/* Random numbers and mosaic domains: the same seed gives the reference's crystal (test vectors of
 * docs/theory/crystal.md, Random numbers). */
#include "support/unit_test.h"
#include "model/model.h"
#include "model/ran1.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(DB_HAVE_GSL)
#include <gsl/gsl_rng.h>
#endif

static void generator_gives_the_published_sequence(void **state) {
    (void)state;
    static const struct {
        long seed;
        int64_t integers[6];
        double uniforms[6];
    } vectors[] = {
        { 1,
          { 893351816, 197493099, 1624379149, 1137522503, 1998097157, 823564440 },
          { 0.415999353, 0.091964893, 0.75641048, 0.52970022, 0.930436492, 0.383502066 } },
        { 42,
          { 1013554273, 1157513875, 1582736250, 404315618, 2133545567, 1139130650 },
          { 0.471973002, 0.539009392, 0.737019002, 0.18827413, 0.993509591, 0.530449033 } },
        { 12345678,
          { 1644949504, 50366358, 1266428247, 1149121912, 2109325897, 1488240816 },
          { 0.765989304, 0.023453664, 0.589726627, 0.535101593, 0.982231438, 0.693016112 } },
    };
    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++) {
        db_ran1 integers, uniforms;
        db_ran1_seed(&integers, vectors[v].seed);
        db_ran1_seed(&uniforms, vectors[v].seed);
        for (int i = 0; i < 6; i++) {
            assert_int_equal(db_ran1_integer(&integers), vectors[v].integers[i]);
            assert_true(fabs((double)db_ran1_uniform(&uniforms) - vectors[v].uniforms[i]) < 1e-9);
        }
    }
}

static void seeds_below_one_act_like_one(void **state) {
    (void)state;
    db_ran1 one, zero, negative;
    db_ran1_seed(&one, 1);
    db_ran1_seed(&zero, 0);
    db_ran1_seed(&negative, -5);
    const int64_t first = db_ran1_integer(&one);
    assert_int_equal(db_ran1_integer(&zero), first);
    assert_int_equal(db_ran1_integer(&negative), first);
}

#if defined(DB_HAVE_GSL)
static void generator_agrees_with_gsl(void **state) {
    (void)state;
    static const unsigned long seeds[] = { 1, 2, 42, 999983, 2147483646 };
    gsl_rng *other = gsl_rng_alloc(gsl_rng_ran1);
    for (size_t s = 0; s < sizeof seeds / sizeof seeds[0]; s++) {
        db_ran1 ours;
        db_ran1_seed(&ours, (long)seeds[s]);
        gsl_rng_set(other, seeds[s]);
        for (int i = 0; i < 100000; i++)
            assert_int_equal(db_ran1_integer(&ours), (int64_t)gsl_rng_get(other));
    }
    gsl_rng_free(other);
}
#endif

/* The rotation matrix of one domain, through the model. */
static void domain_rotation(double spread, long seed, int domains, int which, double u[9]) {
    db_experiment e;
    db_interface z;
    assert_int_equal(db_experiment_init(NULL, &e), DB_OK);
    for (int i = 0; i < 3; i++) e.crystal.cell[i] = 50;
    e.crystal.mosaic_spread = spread;
    e.crystal.mosaic_domains = domains;
    db_mosaic_direction *directions = malloc((size_t)domains * sizeof *directions);
    z.rotation = malloc((size_t)domains * sizeof *z.rotation);
    z.panel = malloc(sizeof *z.panel);
    z.source = malloc(sizeof *z.source);
    assert_true(directions && z.rotation && z.panel && z.source);
    db_mosaic_directions(seed, spread, domains, directions);
    db_model_plain(&e, directions, &z);
    /* the model holds the transposed rotation */
    const db_matrix *m = &z.rotation[which];
    for (int r = 0; r < 3; r++) {
        const db_vector row = m->r[r];
        u[r] = row.x.v;
        u[3 + r] = row.y.v;
        u[6 + r] = row.z.v;
    }
    free(directions);
    free(z.rotation);
    free(z.panel);
    free(z.source);
    db_experiment_clear(&e);
}

static void domains_are_those_of_the_reference(void **state) {
    (void)state;
    static const struct {
        double spread;
        long seed;
        int domain;
        double u[9];
    } vectors[] = {
        { 1,
          12345678,
          1,
          { 0.999863685921936, -0.015948771660075, 0.004271563781035, 0.015952848100371,
            0.999872320169452, -0.000921952516486, -0.004256314378328, 0.000989970449528,
            0.999990451827627 } },
        { 2,
          42,
          1,
          { 0.999405765870033, -0.034398365981837, -0.002206255541257, 0.034409340562254,
            0.999394575663606, 0.005145815409874, 0.002027912178716, -0.005218673389017,
            0.999984326387296 } },
        { 2,
          42,
          2,
          { 0.999578823105704, -0.016887286213209, -0.023600761914989, 0.017183306353490,
            0.999775501374039, 0.012396807454015, 0.023386115140761, -0.012797125327313,
            0.999644598445858 } },
    };
    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++) {
        double u[9];
        domain_rotation(vectors[v].spread, vectors[v].seed, 5, vectors[v].domain, u);
        for (int i = 0; i < 9; i++) assert_true(fabs(u[i] - vectors[v].u[i]) < 2e-15);
    }
}

static void first_domain_is_the_identity(void **state) {
    (void)state;
    double u[9];
    domain_rotation(3, 7, 4, 0, u);
    for (int i = 0; i < 9; i++) assert_true(u[i] == (i % 4 == 0));
}

/* A crystal that stands anywhere, on a spindle, with spreads of its own about its axes. */
static db_experiment oriented(const double abc[3], int domains) {
    db_experiment e;
    assert_int_equal(db_experiment_init(NULL, &e), DB_OK);
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = 50;
        e.crystal.misset[i] = 20 + 30 * i;
        e.crystal.mosaic_abc[i] = abc[i];
    }
    e.crystal.cell[5] = 120;
    e.crystal.mosaic_anisotropic = 1;
    e.crystal.mosaic_domains = domains;
    e.goniometer.phi = 25;
    e.goniometer.phi_step = 40;
    e.goniometer.phi_steps = 2;
    return e;
}

static void matrix_of(const db_matrix *m, double out[9]) {
    for (int r = 0; r < 3; r++) {
        out[3 * r] = m->r[r].x.v;
        out[3 * r + 1] = m->r[r].y.v;
        out[3 * r + 2] = m->r[r].z.v;
    }
}

/* a b^T */
static void times_transposed(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 9; i++) {
        out[i] = 0;
        for (int k = 0; k < 3; k++) out[i] += a[i / 3 * 3 + k] * b[i % 3 * 3 + k];
    }
}

typedef struct made_model {
    db_interface z;
    db_mosaic_direction *directions;
} made_model;

static made_model model_of(const db_experiment *e) {
    const size_t domains = (size_t)e->crystal.mosaic_domains,
                 samples = domains * (size_t)e->goniometer.phi_steps;
    made_model m = { .directions = calloc(domains, sizeof *m.directions) };
    m.z.rotation = calloc(samples, sizeof *m.z.rotation);
    m.z.panel = calloc(1, sizeof *m.z.panel);
    m.z.source = calloc(1, sizeof *m.z.source);
    assert_true(m.directions && m.z.rotation && m.z.panel && m.z.source);
    db_mosaic_directions(e->crystal.mosaic_seed, e->crystal.mosaic_spread,
                         e->crystal.mosaic_domains, m.directions);
    db_model_plain(e, m.directions, &m.z);
    return m;
}

static void drop(made_model *m) {
    free(m->directions);
    free(m->z.rotation);
    free(m->z.panel);
    free(m->z.source);
}

/* Half the antisymmetric part of a small rotation in the crystal's own frame, whose axes x, y, z
 * are a*, c x a*, c: about its rotation vector (radian). */
static void rotation_in_crystal(const made_model *m, const db_experiment *e, int step, int domain,
                                double vector[3]) {
    const int domains = e->crystal.mosaic_domains;
    double lattice[9], vectors[9], now[9], turned[9], first[9], inverse[9], u[9], axis[3][3];
    matrix_of(&m->z.lattice, lattice);
    matrix_of(&m->z.rotation[step * domains], first); /* that of the domain without rotation */
    matrix_of(&m->z.rotation[step * domains + domain], turned);
    /* rotations are held transposed: U = turned^T first, lattice vectors of the step a first */
    for (int i = 0; i < 9; i++) inverse[i] = turned[i % 3 * 3 + i / 3];
    for (int i = 0; i < 9; i++) now[i] = first[i % 3 * 3 + i / 3];
    times_transposed(inverse, now, u);
    times_transposed(lattice, now, vectors);
    const double *const b = vectors + 3, *const c = vectors + 6;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        axis[0][i] = b[j] * c[k] - b[k] * c[j];
        axis[2][i] = c[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        axis[1][i] = axis[2][j] * axis[0][k] - axis[2][k] * axis[0][j];
    }
    for (int n = 0; n < 3; n++) {
        const double *const x = axis[n];
        const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        vector[n] =
            0.5 * ((u[7] - u[5]) * x[0] + (u[2] - u[6]) * x[1] + (u[3] - u[1]) * x[2]) / length;
    }
}

/* In the crystal's frame, in any orientation and at every step of the spindle, components
 * of the rotations scatter as the three spreads say, and independently of one another. */
static void anisotropic_rotations_follow_the_crystal(void **state) {
    (void)state;
    enum { DOMAINS = 4000 };
    const double abc[3] = { 0.4, 0.1, 0.9 };
    db_experiment e = oriented(abc, DOMAINS);
    made_model m = model_of(&e);
    double fractions = 0;
    for (int d = 0; d < DOMAINS; d++)
        fractions += m.directions[d].fraction * m.directions[d].fraction / DOMAINS;
    for (int step = 0; step < 2; step++) {
        double moment[3][3] = { { 0 } };
        for (int d = 1; d < DOMAINS; d++) {
            double vector[3];
            rotation_in_crystal(&m, &e, step, d, vector);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    moment[i][j] += vector[i] * vector[j] / (abc[i] * abc[j]) / DOMAINS;
        }
        /* one third of the mean square angle each; the scatter of 4000 such numbers is 2 % */
        const double radian = 3.14159265358979323846 / 180, want = fractions / 3 * radian * radian;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                if (!(fabs(moment[i][j] / want - (i == j)) < 0.08))
                    fail_msg("step %d, components %d and %d: %g instead of %d", step, i, j,
                             moment[i][j] / want, i == j);
    }
    drop(&m);
    db_experiment_clear(&e);
}

/* Three equal spreads are one, but that angles are not rounded to single precision. */
static void equal_spreads_are_an_isotropic_one(void **state) {
    (void)state;
    enum { DOMAINS = 30 };
    const double abc[3] = { 0.7, 0.7, 0.7 };
    db_experiment e = oriented(abc, DOMAINS);
    made_model three = model_of(&e);
    e.crystal.mosaic_anisotropic = 0;
    e.crystal.mosaic_spread = 0.7;
    made_model one = model_of(&e);
    double rounded = 0;
    for (int s = 0; s < 2 * DOMAINS; s++) {
        double a[9], b[9];
        matrix_of(&three.z.rotation[s], a);
        matrix_of(&one.z.rotation[s], b);
        for (int i = 0; i < 9; i++) rounded = fmax(rounded, fabs(a[i] - b[i]));
    }
    assert_true(rounded > 0 && rounded < 0.7 * 3.14159265358979323846 / 180 * 6e-8);
    drop(&three);
    drop(&one);
    db_experiment_clear(&e);
}

/* No spread is no special point: the first bit of one about an axis turns each domain by its
 * component along that axis, and domains have the same lattice vectors until then. */
static void anisotropic_rotations_begin_smoothly(void **state) {
    (void)state;
    enum { DOMAINS = 6 };
    const double none[3] = { 0, 0, 0 }, little[3] = { 0, 1e-7, 0 };
    db_experiment e = oriented(none, DOMAINS);
    made_model m = model_of(&e);
    const db_parameter_slots slots = { 1, { DB_MOSAIC_B } };
    db_dual_interface dual = { 0 };
    dual.rotation = calloc(2 * DOMAINS, sizeof *dual.rotation);
    dual.panel = calloc(1, sizeof *dual.panel);
    dual.source = calloc(1, sizeof *dual.source);
    assert_true(dual.rotation && dual.panel && dual.source);
    db_model_dual(&e, m.directions, &slots, &dual);
    for (int s = 0; s < 2 * DOMAINS; s++)
        for (int i = 0; i < 9; i++) {
            double a[9], b[9];
            matrix_of(&m.z.rotation[s], a);
            matrix_of(&m.z.rotation[s / DOMAINS * DOMAINS], b);
            assert_true(a[i] == b[i]);
        }
    for (int i = 0; i < 3; i++) e.crystal.mosaic_abc[i] = little[i];
    made_model moved = model_of(&e);
    double largest = 0;
    for (int s = 0; s < 2 * DOMAINS; s++) {
        double a[9], b[9];
        matrix_of(&m.z.rotation[s], a);
        matrix_of(&moved.z.rotation[s], b);
        for (int i = 0; i < 9; i++) {
            const db_dual_vector *const row = &dual.rotation[s].r[i / 3];
            const db_dual *const number = i % 3 == 0 ? &row->x : i % 3 == 1 ? &row->y : &row->z;
            const double slope = (b[i] - a[i]) / 1e-7;
            assert_true(fabs(slope - number->d[0]) < 1e-8);
            largest = fmax(largest, fabs(slope));
        }
    }
    assert_true(largest > 0.005); /* a good part of a degree in radian */
    free(dual.rotation);
    free(dual.panel);
    free(dual.source);
    drop(&m);
    drop(&moved);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_gives_the_published_sequence),
        cmocka_unit_test(seeds_below_one_act_like_one),
#if defined(DB_HAVE_GSL)
        cmocka_unit_test(generator_agrees_with_gsl),
#endif
        cmocka_unit_test(domains_are_those_of_the_reference),
        cmocka_unit_test(first_domain_is_the_identity),
        cmocka_unit_test(anisotropic_rotations_follow_the_crystal),
        cmocka_unit_test(equal_spreads_are_an_isotropic_one),
        cmocka_unit_test(anisotropic_rotations_begin_smoothly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
