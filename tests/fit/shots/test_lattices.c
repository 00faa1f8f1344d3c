/* Several crystals on one image: each is found, and none that is not there. */

#include "support/unit_test.h"
#include "fit/objective/model_image.h"
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

/* LATTICE_IMAGES in the environment: number of images of each kind, for docs/results. */
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

/* Light of the crystals, of pixels that are so near the edge, over what they have in truth. */
static double found_light(float *const *light, float *const *truth, size_t crystals, int from,
                          int to) {
    double found = 0, all = 0;
    for (size_t i = 0; i < (size_t)PIXELS * PIXELS; i++) {
        const int x = (int)(i % PIXELS), y = (int)(i / PIXELS), right = PIXELS - 1 - x,
                  top = PIXELS - 1 - y, fast = x < right ? x : right, slow = y < top ? y : top,
                  edge = fast < slow ? fast : slow;
        if (edge < from || edge >= to) continue;
        for (size_t c = 0; c < crystals; c++) {
            found += (double)light[c][i];
            all += (double)truth[c][i];
        }
    }
    return found / all;
}

/* A spot that the edge cuts shines on the boxes of other crystals, too. */
static void spots_at_the_edge_have_their_light(void **state) {
    (void)state;
    enum { CRYSTALS = 2, BOX = 5 };
    db_experiment e, of[CRYSTALS];
    db_crystal crystals[CRYSTALS];
    db_measured_image image;
    db_fit_settings settings;
    db_strong_pixels strong;
    float *light[CRYSTALS], *truth[CRYSTALS];
    db_fit_settings_init(&settings);
    settings.gain = 1;
    settings.shoebox_half_width = BOX;
    assert_int_equal(rendered_experiment(context, PIXELS, 1000, &e), DB_OK);
    random_crystals(&e.crystal, 3, CRYSTALS, crystals);
    assert_int_equal(rendered_lattices(context, &e, crystals, CRYSTALS, 3, &image), DB_OK);
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    for (size_t c = 0; c < CRYSTALS; c++) {
        light[c] = calloc((size_t)PIXELS * PIXELS, sizeof *light[c]);
        truth[c] = calloc((size_t)PIXELS * PIXELS, sizeof *truth[c]);
        assert_true(light[c] && truth[c]);
        assert_int_equal(rendered_light(context, &e, &crystals[c], truth[c]), DB_OK);
        of[c] = e; /* borrows */
        of[c].crystal = crystals[c];
    }
    const db_fit_data data = { &image, &strong, &settings };
    assert_int_equal(db_lattice_light(context, of, CRYSTALS, &data, light), DB_OK);
    const double edge = found_light(light, truth, CRYSTALS, 0, BOX),
                 inside = found_light(light, truth, CRYSTALS, BOX, PIXELS);
    print_message("light that was found: %.3f, %.3f near the edge\n", inside, edge);
    assert_true(fabs(inside - 1) < 0.05 && fabs(edge - 1) < 0.15);
    db_strong_pixels_clear(&strong);

    /* spots on a dark background, narrower than those of the model */
    for (size_t i = 0; i < (size_t)PIXELS * PIXELS; i++)
        image.value[i] = rintf(truth[0][i] + truth[1][i]);
    for (size_t c = 0; c < CRYSTALS; c++)
        for (int k = 0; k < 3; k++) of[c].crystal.Ncells[k] *= 0.7;
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    assert_int_equal(db_lattice_light(context, of, CRYSTALS, &data, light), DB_OK);
    const double narrow = found_light(light, truth, CRYSTALS, BOX, PIXELS);
    print_message("light of narrow spots that was found: %.3f\n", narrow);
    assert_true(fabs(narrow - 1) < 0.1);
    for (size_t c = 0; c < CRYSTALS; c++) {
        free(light[c]);
        free(truth[c]);
    }
    db_strong_pixels_clear(&strong);
    db_measured_image_clear(&image);
    db_fit_settings_clear(&settings);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_several_crystals_is_found_slow),
        cmocka_unit_test(spots_at_the_edge_have_their_light),
        cmocka_unit_test(lattices_that_are_not_there_are_not_found),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
