/* The orientation of a crystal of known cell comes back from the spots of one still, whatever it
 * is; where there is no such crystal none is made up. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fit/misset.h"
#include "fit/rendered_image.h"
#include "fit/vector.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 60, PIXELS = 800 };
static const double degree = 3.14159265358979323846 / 180;
static db_context *context;
static gsl_rng *chance;

static int make(void **state) {
    (void)state;
    chance = gsl_rng_alloc(gsl_rng_mt19937);
    return chance && db_context_create(&context) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    gsl_rng_free(chance);
    db_context_destroy(&context);
    return 0;
}

/* Any orientation is as likely as any other: a turn by a random unit quaternion. */
static void turn_at_random(db_crystal *crystal) {
    double q[4], square = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = gsl_ran_gaussian(chance, 1);
        square += q[i] * q[i];
    }
    const double size = sqrt(square), axis_size = sqrt(square - q[0] * q[0]);
    const double axis[3] = { q[1] / axis_size, q[2] / axis_size, q[3] / axis_size };
    const double angle = 2 * acos(q[0] / size);
    db_misset_fold(crystal);
    for (int k = 0; k < 3; k++) {
        double column[3] = { k == 0, k == 1, k == 2 };
        db_turn(axis, angle, column);
        for (int i = 0; i < 3; i++) crystal->orientation[3 * i + k] = column[i];
    }
}

/* The turn between two orientations of a tetragonal crystal (degree), of the eight by which its
 * lattice can be laid onto itself the smallest. */
static double tetragonal_angle(const db_crystal *a, const db_crystal *b) {
    double smallest = 180;
    for (int s = 0; s < 8; s++) {
        double trace = 0;
        for (int k = 0; k < 3; k++) {
            static const double z[3] = { 0, 0, 1 }, x[3] = { 1, 0, 0 };
            double column[3] = { k == 0, k == 1, k == 2 };
            db_turn(z, 90 * (s % 4) * degree, column);
            if (s >= 4) db_turn(x, 180 * degree, column);
            db_apply(b->orientation, column, column);
            for (int i = 0; i < 3; i++) trace += a->orientation[3 * i + k] * column[i];
        }
        smallest = fmin(smallest, acos(fmax(-1, fmin(1, 0.5 * (trace - 1)))) / degree);
    }
    return smallest;
}

static void random_orientations_come_back(void **state) {
    (void)state;
    db_experiment e;
    int back = 0;
    double sum = 0;
    assert_int_equal(rendered_experiment(context, PIXELS, 1000, &e), DB_OK);
    gsl_rng_set(chance, 1);
    for (int i = 0; i < IMAGES; i++) {
        db_measured_image image;
        db_fit_settings settings;
        db_fit_orientation found;
        db_experiment start;
        db_fit_settings_init(&settings);
        turn_at_random(&e.crystal);
        assert_int_equal(rendered_image(context, &e, (unsigned long)i + 1, &image), DB_OK);
        assert_int_equal(db_experiment_copy(context, &e, &start), DB_OK);
        for (int k = 0; k < 9; k++) start.crystal.orientation[k] = k % 4 == 0;
        const db_status status =
            db_fit_find_orientation(context, &image, &settings, &start, &found);
        const double off = tetragonal_angle(&e.crystal, &start.crystal);
        print_message("%d: %.3f degree, %zu of %zu indexed, %.1f by chance, %.1f sd %s\n", i, off,
                      found.indexed, found.spots, found.by_chance, found.excess,
                      status == DB_OK ? "" : "REFUSED");
        back += status == DB_OK && off < 0.3;
        sum += off < 0.3 ? off : 0;
        db_experiment_clear(&start);
        db_measured_image_clear(&image);
    }
    print_message("%d of %d came back, off by %.3f degree on average\n", back, IMAGES, sum / back);
    assert_true(back > 0.95 * IMAGES);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_orientations_come_back, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
