/* Errors of partialities, by symmetry mates: of made-up measurements, and of rendered stills whose model is right or has a wrong
 * orientation or wrong spreads. */
#include "support/unit_test.h"
#include "base/quantile.h"
#include "fit/config/crystal_system.h"
#include "fit/objective/model_image.h"
#include "fit/rendered_image.h"

#include <dualbragg/expert/symmetry.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 900, MADE_UP = 4000 };
static db_context *context;

static int begin(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

static int lacks_gemmi(void) {
    db_space_group group;
    return db_space_group_find(context, "P 4", &group) == DB_ERROR_UNSUPPORTED;
}

/* Pulls beside the truth, robust and root mean square. */
typedef struct pulls {
    double z[200000], squares;
    size_t count;
} pulls;
static pulls seen;

static void look(const db_fit_reflection *r, double true_square) {
    const double z = (r->square - true_square) / r->square_sigma;
    seen.z[seen.count++] = fabs(z);
    seen.squares += z * z;
}

static void pulls_are_right(const char *what) {
    const double rms = sqrt(seen.squares / (double)seen.count),
                 robust = 1.4826 * db_median(seen.z, seen.count);
    print_message("%s: pulls of %zu reflections %.2f, root mean square %.2f\n", what, seen.count,
                  robust, rms);
    assert_true(seen.count > 100);
    assert_true(robust > 0.7 && robust < 1.5 && rms > 0.7 && rms < 1.5);
    seen.count = 0;
    seen.squares = 0;
}

/* ---- made-up measurements of a tetragonal crystal */

static db_fit_reflection list[MADE_UP];
static double true_of[MADE_UP];
static const double tetragonal[6] = { 60, 60, 100, 90, 90, 90 };

static size_t at_of(const int hkl[3]) { /* of mates by a four-fold axis, and of Friedel mates */
    const int sign = hkl[2] < 0 ? -1 : 1, l = sign * hkl[2];
    int h = sign * hkl[0], k = sign * hkl[1];
    while (h <= 0 || k < 0) {
        const int turned = -k;
        k = h;
        h = turned;
    }
    return (size_t)(h * 400 + k * 20 + l);
}

/* Partialities of all sizes with a relative error e sqrt(1 + ln^2 p); every fourth reflection has a mate. */
static void make_up(double error, size_t count) {
    static double intensity[20000];
    gsl_rng *const chance = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < 20000; i++) intensity[i] = gsl_ran_exponential(chance, 1000);
    for (size_t n = 0; n < count; n++) {
        db_fit_reflection *const r = &list[n];
        const int h = 1 + (int)(gsl_rng_uniform(chance) * 18),
                  k = (int)(gsl_rng_uniform(chance) * 18),
                  l = 1 + (int)(gsl_rng_uniform(chance) * 18), turned = n % 2;
        *r = (db_fit_reflection){ .hkl = { turned ? -k : h, turned ? h : k, l },
                                  .d_spacing = 100 / sqrt(h * h + k * k + l * l),
                                  .partiality = exp(-3.5 * gsl_rng_uniform(chance)) };
        true_of[n] = intensity[at_of(r->hkl)];
        r->square_sigma = 20 / r->partiality;
        r->square =
            true_of[n] * exp(error * hypot(1, log(r->partiality)) * gsl_ran_gaussian(chance, 1)) +
            r->square_sigma * gsl_ran_gaussian(chance, 1);
    }
    gsl_rng_free(chance);
}

static db_fit_mates widen_made_up(const char *symmetry, size_t count) {
    static db_fit_reflection as_made[MADE_UP];
    db_fit_mates mates;
    memcpy(as_made, list, sizeof list);
    assert_int_equal(db_mates_widen(context, symmetry, tetragonal, list, count, &mates), DB_OK);
    for (size_t n = 0; n < count; n++) {
        assert_true(list[n].square_sigma >= as_made[n].square_sigma);
        assert_true(mates.error > 0 || list[n].square_sigma == as_made[n].square_sigma);
        as_made[n].square_sigma = list[n].square_sigma;
    }
    assert_memory_equal(as_made, list, sizeof list); /* nothing else */
    print_message(
        "%s: %zu pairs, error %.3f, gain %.1f, strong ones scatter by %.2f, before %.2f\n",
        symmetry, mates.pairs, mates.error, mates.gain, mates.scatter, mates.noise_scatter);
    return mates;
}

static void errors_are_found(void **state) {
    (void)state;
    if (lacks_gemmi()) skip();
    static const char *const symmetries[] = { "P 43 21 2", "P 4", "tetragonal", "tI" };
    for (int i = 0; i < 4; i++)
        for (int k = 1; k <= 2; k++) {
            const double error = 0.1 * k;
            make_up(error, MADE_UP);
            const db_fit_mates mates = widen_made_up(symmetries[i], MADE_UP);
            if (i == 0) continue; /* rotations that these intensities lack */
            assert_true(fabs(mates.error / error - 1) < 0.15);
            assert_true(mates.noise_scatter > 1.5 && mates.scatter > 0.8 && mates.scatter < 1.2);
            for (size_t n = 0; n < MADE_UP; n++) look(&list[n], true_of[n]);
            pulls_are_right("made up");
        }
}

/* Without such an error there is none, nor where mates are few or unknown. */
static void no_error_is_found(void **state) {
    (void)state;
    if (lacks_gemmi()) skip();
    make_up(0, MADE_UP);
    const db_fit_mates right = widen_made_up("P 4", MADE_UP);
    assert_true(right.pairs > 100 && right.error < 0.01 && isfinite(right.gain));
    assert_true(right.scatter > 0.8 && right.scatter < 1.2);
    for (size_t n = 0; n < 4; n++) list[n].square += 5000; /* of overlaps, or hot pixels */
    const db_fit_mates wrong = widen_made_up("P 4", MADE_UP);
    assert_true(wrong.error < 0.02);
    make_up(0, MADE_UP);
    gsl_rng *const chance = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t n = 0; n < MADE_UP; n++) list[n].square = gsl_ran_exponential(chance, 1000);
    gsl_rng_free(chance);
    const db_fit_mates unrelated = widen_made_up("P 4", MADE_UP);
    assert_true(unrelated.error == 0 && unrelated.gain > 100);
    make_up(0.3, 250);
    const db_fit_mates few = widen_made_up("P 4", 250);
    assert_true(few.pairs > 0 && few.pairs < 10 && few.error == 0 && isnan(few.gain));
    const db_fit_mates none = widen_made_up("", 0);
    assert_true(none.pairs == 0 && none.error == 0 && isnan(none.scatter));
}

/* A crystal system has the rotations that all its groups have. */
static void systems_have_a_group(void **state) {
    (void)state;
    if (lacks_gemmi()) skip();
    static const struct {
        const char *symmetry;
        double cell[6];
        int rotations;
    } cases[] = { { "triclinic", { 50, 60, 70, 80, 85, 95 }, 1 },
                  { "monoclinic", { 50, 60, 70, 95, 90, 90 }, 2 },
                  { "mC", { 50, 60, 70, 90, 95, 90 }, 2 },
                  { "monoclinic", { 50, 60, 70, 90, 90, 95 }, 2 },
                  { "oI", { 50, 60, 70, 90, 90, 90 }, 4 },
                  { "tetragonal", { 50, 50, 70, 90, 90, 90 }, 4 },
                  { "hP", { 50, 50, 70, 90, 90, 120 }, 3 },
                  { "trigonal", { 50, 50, 50, 85, 85, 85 }, 3 },
                  { "cubic", { 50, 50, 50, 90, 90, 90 }, 12 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const db_cell_ties *const ties = db_cell_ties_of(cases[i].symmetry, cases[i].cell);
        db_space_group group;
        if (db_space_group_of_cell(context, ties->group, cases[i].cell, &group) != DB_OK)
            fail_msg("%s", db_context_message(context));
        assert_int_equal(group.symmetry.count, cases[i].rotations);
    }
}

/* ---- rendered stills */

static int larger_first(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

/* Where the amplitude of a reflection of m-3m is. */
static size_t amplitude_at(const db_structure_factors *f, const int hkl[3]) {
    int like[3] = { abs(hkl[0]), abs(hkl[1]), abs(hkl[2]) };
    size_t at = 0;
    qsort(like, 3, sizeof *like, larger_first);
    for (int i = 0; i < 3; i++) at = at * (size_t)f->extent[i] + (size_t)(like[2 - i] - f->min[i]);
    return at;
}

static void make_cubic(db_experiment *e) {
    db_structure_factors *const f = &e->structure_factors;
    for (int i = 0; i < 3; i++) {
        e->crystal.cell[i] = 100;
        e->crystal.Ncells[i] = e->crystal.Ncells[0];
    }
    size_t at = 0;
    for (int h = f->min[0]; h < f->min[0] + f->extent[0]; h++)
        for (int k = f->min[1]; k < f->min[1] + f->extent[1]; k++)
            for (int l = f->min[2]; l < f->min[2] + f->extent[2]; l++, at++) {
                const int hkl[3] = { h, k, l }, limit = f->min[0] + f->extent[0];
                f->amplitude[at] = abs(l) < limit ? f->amplitude[amplitude_at(f, hkl)] : 0;
            }
}

/* Intensities of an image of `e`, with the model `model`. */
static db_fit_mates measure(const db_experiment *e, const db_experiment *model, const char *what) {
    db_measured_image image;
    db_strong_pixels strong;
    db_fit_settings settings;
    size_t explained;
    db_fit_settings_init(&settings);
    settings.model_error = 0;
    snprintf(settings.amplitude_group, sizeof settings.amplitude_group, "P 4 3 2");
    db_model_images images = { .whole = calloc(PIXELS * PIXELS, sizeof(float)),
                               .background = calloc(PIXELS * PIXELS, sizeof(float)) };
    assert_true(images.whole && images.background);
    if (rendered_image(context, e, 4, &image) != DB_OK ||
        db_shoebox_size_choose(context, model, &settings) != DB_OK ||
        db_strong_pixels_find(context, &image, &settings, &strong) != DB_OK)
        fail_msg("%s", db_context_message(context));
    const db_fit_data data = { &image, &strong, &settings };
    if (db_model_image(context, model, &data, &explained, &images) != DB_OK)
        fail_msg("%s", db_context_message(context));
    print_message(
        "%s: %zu pairs, error %.3f, gain %.1f, strong ones scatter by %.2f, before %.2f\n", what,
        images.mates.pairs, images.mates.error, images.mates.gain, images.mates.scatter,
        images.mates.noise_scatter);
    for (size_t n = 0; n < images.reflection_count; n++) {
        const db_fit_reflection *const r = &images.reflection[n];
        const double F =
            e->structure_factors.amplitude[amplitude_at(&e->structure_factors, r->hkl)];
        if (r->partiality > 0.05)
            look(r, F * F * e->beam.fluence / DB_DEFAULT_FLUENCE * e->beam.scale);
    }
    free(images.whole);
    free(images.background);
    free(images.reflection);
    db_strong_pixels_clear(&strong);
    db_measured_image_clear(&image);
    db_fit_settings_clear(&settings);
    return images.mates;
}

static void stills_tell_whether_their_model_is_right(void **state) {
    (void)state;
    if (lacks_gemmi()) skip();
    db_experiment truth;
    assert_int_equal(rendered_experiment(context, PIXELS, 5000, &truth), DB_OK);
    make_cubic(&truth);
    const db_fit_mates right = measure(&truth, &truth, "right model");
    assert_true(right.pairs > 100 && right.error < 0.01);
    pulls_are_right("right model");
    db_experiment turned = truth, wide = truth; /* borrow */
    turned.crystal.misset[1] += 0.02;
    const db_fit_mates off = measure(&truth, &turned, "orientation off by 0.02 degree");
    assert_true(off.error > 0 && off.noise_scatter > 2 && off.scatter > 0.7 && off.scatter < 1.5);
    pulls_are_right("orientation off by 0.02 degree");
    wide.spread.mosaic *= 1.5;
    const db_fit_mates more = measure(&truth, &wide, "mosaic variance 1.5 times as large");
    assert_true(more.error > 0 && more.noise_scatter > 2 && more.scatter > 0.7 &&
                more.scatter < 1.5);
    pulls_are_right("mosaic variance 1.5 times as large");
    db_experiment_clear(&truth);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_found),
        cmocka_unit_test(no_error_is_found),
        cmocka_unit_test(systems_have_a_group),
        cmocka_unit_test(stills_tell_whether_their_model_is_right),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
