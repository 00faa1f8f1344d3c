/* Several crystals on one image: each is found, and none that is not there. */

#include "support/unit_test.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 600, MOST = 5 };
static db_context *context;

static int make(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
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
    random_crystals(&e->crystal, 100 * (unsigned long)count + seed, (size_t)count, truth);
    assert_int_equal(rendered_lattices(context, e, truth, (size_t)count, seed, &image), DB_OK);
    (void)db_fit_find_lattices(context, &image, &settings, e, (size_t)most, lattices, &found);
    count_found(truth, count, lattices, found, all);
    db_measured_image_clear(&image);
}

/* LATTICE_IMAGES in the environment: so many images of each kind, for docs/results. */
static void each_of_several_crystals_is_found_slow(void **state) {
    (void)state;
    static const double peaks[] = { 1000, 100 };
    const char *const asked = getenv("LATTICE_IMAGES");
    const int images = asked ? atoi(asked) : 2;
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
    assert_int_equal(rendered_experiment(context, PIXELS, 300, &e), DB_OK);
    search(&e, 1, 1, 3, &all);
    search(&e, 2, 2, 4, &all);
    assert_int_equal(all.found, 3);
    assert_int_equal(all.wrong, 0);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_several_crystals_is_found_slow),
        cmocka_unit_test(lattices_that_are_not_there_are_not_found),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
