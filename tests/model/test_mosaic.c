/* Random numbers and mosaic domains: the same seed gives the reference's crystal (test vectors of
 * model.md 4.1, 4.3). */
#include "model/model.h"
#include "model/ran1.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_gives_the_published_sequence),
        cmocka_unit_test(seeds_below_one_act_like_one),
#if defined(DB_HAVE_GSL)
        cmocka_unit_test(generator_agrees_with_gsl),
#endif
        cmocka_unit_test(domains_are_those_of_the_reference),
        cmocka_unit_test(first_domain_is_the_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
