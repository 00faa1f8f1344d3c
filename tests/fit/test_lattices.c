/* Several crystals on one image: each is found, and none that is not there. */

#include "support/unit_test.h"
#include "fit/config/misset.h"
#include "fit/rendered_image.h"
#include "base/vector.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 600, MOST = 5 };
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

/* What a search made of several images. */
typedef struct tally {
    int found, wrong;
    double sum, worst; /* degree: of those found, off the truth */
} tally;

/* The true crystal that is nearest to a found one. */
static int nearest(const db_crystal *truth, int count, const db_crystal *own, double *off) {
    int which = 0;
    *off = INFINITY;
    for (int c = 0; c < count; c++) {
        const double angle = tetragonal_misorientation(&truth[c], own);
        if (angle < *off) which = c;
        *off = fmin(*off, angle);
    }
    return which;
}

static void count_found(const db_crystal *truth, int count, const db_fit_lattice *lattices,
                        size_t found, tally *all) {
    int seen[MOST] = { 0 };
    for (size_t l = 0; l < found; l++) {
        double off;
        db_crystal own = truth[0];
        memcpy(own.orientation, lattices[l].orientation, sizeof own.orientation);
        memset(own.misset, 0, sizeof own.misset);
        const int which = nearest(truth, count, &own, &off);
        if (off < 0.3 && !seen[which]) {
            all->found++;
            all->sum += off;
            all->worst = fmax(all->worst, off);
            seen[which] = 1;
        } else {
            all->wrong++;
        }
    }
}

/* Looks for `most` lattices on an image of `count` crystals. */
static void search(const db_experiment *e, int count, unsigned long seed, int most, tally *all) {
    db_crystal truth[MOST];
    db_fit_lattice lattices[DB_FIT_MOST_LATTICES];
    db_measured_image image;
    db_fit_settings settings;
    size_t found;
    db_fit_settings_init(&settings);
    for (int c = 0; c < count; c++) {
        truth[c] = e->crystal;
        turn_at_random(&truth[c]);
    }
    assert_int_equal(rendered_lattices(context, e, truth, (size_t)count, seed, &image), DB_OK);
    (void)db_fit_find_lattices(context, &image, &settings, e, (size_t)most, lattices, &found);
    count_found(truth, count, lattices, found, all);
    db_measured_image_clear(&image);
}

/* LATTICE_IMAGES in the environment: so many images of each kind, for docs/results. */
static void each_of_several_crystals_is_found(void **state) {
    (void)state;
    static const double peaks[] = { 1000, 100 };
    const char *const asked = getenv("LATTICE_IMAGES");
    const int images = asked ? atoi(asked) : 3;
    gsl_rng_set(chance, 1);
    for (int p = 0; p < 2; p++) {
        db_experiment e;
        assert_int_equal(rendered_experiment(context, PIXELS, peaks[p], &e), DB_OK);
        for (int n = 2; n <= MOST; n++) {
            tally all = { 0 };
            for (int i = 0; i < images; i++) search(&e, n, (unsigned long)i + 1, n, &all);
            print_message("%d lattices, brightest pixel %g photons: %d of %d found, off by %.3f "
                          "degree on average, %.3f at most; %d wrong\n",
                          n, peaks[p], all.found, n * images, all.sum / all.found, all.worst,
                          all.wrong);
            assert_true(all.found >= 0.9 * n * images);
            assert_int_equal(all.wrong, 0);
        }
        db_experiment_clear(&e);
    }
}

static void lattices_that_are_not_there_are_not_found(void **state) {
    (void)state;
    db_experiment e;
    tally all = { 0 };
    gsl_rng_set(chance, 2);
    assert_int_equal(rendered_experiment(context, PIXELS, 300, &e), DB_OK);
    search(&e, 1, 1, 3, &all);
    search(&e, 2, 2, 4, &all);
    assert_int_equal(all.found, 3);
    assert_int_equal(all.wrong, 0);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_several_crystals_is_found),
        cmocka_unit_test(lattices_that_are_not_there_are_not_found),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
