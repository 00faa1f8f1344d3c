/* A model of one crystal, where the image shows two: the other one's spots are told, and that they
 * are of the same cell. None is told where there is one crystal only, or one of another cell. */
#include "support/context.h"
#include "fit/rendered_image.h"
#include "fit/verdict/evidence.h"
#include "fit/verdict/other_lattice.h"

#include <stdlib.h>
#include <string.h>

enum { PIXELS = 600 };

/* start: NULL: the verdict has passed. */
static void look(const db_experiment *model, const db_experiment *start,
                 const db_measured_image *image, db_fit_result *result) {
    db_fit_settings settings;
    db_strong_pixels strong;
    db_fit_settings_init(&settings);
    assert_int_equal(db_shoebox_size_choose(context, model, &settings), DB_OK);
    assert_int_equal(db_strong_pixels_find(context, image, &settings, &strong), DB_OK);
    const db_fit_data data = { image, &strong, &settings };
    memset(result, 0, sizeof *result);
    result->verdict.usable = !start;
    db_observed_spots spots;
    db_evidence evidence;
    assert_int_equal(db_judged_spots_find(context, model, &data, &spots), DB_OK);
    assert_int_equal(db_evidence_make(context, model, &spots, &evidence), DB_OK);
    if (db_other_lattice_look(context, model, start, &settings, &evidence, &spots, result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    db_evidence_clear(&evidence);
    db_observed_spots_clear(&spots);
    print_message("%zu of %zu spots left, %zu of %zu of another lattice, %.1f by chance\n",
                  result->left_spots, result->all_spots, result->other_lattice.indexed,
                  result->other_lattice.spots, result->other_lattice.by_chance);
    db_strong_pixels_clear(&strong);
}

/* The image of the first crystal with so much of the light of a second one. */
static void render(const db_experiment *e, const db_crystal *second, double strength,
                   db_measured_image *image) {
    const size_t pixels = (size_t)PIXELS * PIXELS;
    float *const light = calloc(pixels, sizeof *light);
    assert_non_null(light);
    assert_int_equal(rendered_image(context, e, 5, image), DB_OK);
    assert_int_equal(rendered_light(context, e, second, light), DB_OK);
    for (size_t i = 0; i < pixels; i++)
        if (!image->mask[i]) image->value[i] += (float)strength * light[i];
    free(light);
}

static void a_second_crystal_is_told(void **state) {
    (void)state;
    static const struct {
        double strength;
        int other_cell, told;
    } of[] = { { 0, 0, 0 }, { 0.3, 0, 1 }, { 1, 0, 1 }, { 1, 1, 0 } };
    db_experiment e;
    db_fit_result result;
    assert_int_equal(rendered_experiment(context, PIXELS, 1000, &e), DB_OK);
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        static const double cell[6] = { 81, 81, 37, 90, 90, 90 };
        db_measured_image image;
        db_crystal second;
        random_crystals(&e.crystal, 3, 1, &second);
        if (of[i].other_cell) memcpy(second.cell, cell, sizeof cell);
        render(&e, &second, of[i].strength, &image);
        look(&e, NULL, &image, &result);
        assert_int_equal(result.other_lattice.indexed > 0, of[i].told);
        assert_int_equal(10 * result.left_spots > result.all_spots, of[i].strength > 0);
        db_measured_image_clear(&image);
    }
    db_experiment_clear(&e);
}

/* A model between two lattices is so wide that it leaves no spots: they are looked for from where it began. A start beside the
 * only lattice is no lattice, and one at this lattice leaves none. */
static void a_crystal_that_is_split_is_told(void **state) {
    (void)state;
    static const struct {
        double start; /* degree from the first lattice, towards the second one */
        double strength;
        int told;
    } of[] = { { 0, 1, 1 }, { 0, 0, 0 }, { 1.6, 0, 0 } };
    db_experiment e, model;
    db_fit_result result;
    assert_int_equal(rendered_experiment(context, PIXELS, 1000, &e), DB_OK);
    db_crystal second = e.crystal;
    second.misset[1] += 1.6;
    assert_int_equal(db_experiment_copy(context, &e, &model), DB_OK);
    model.crystal.misset[1] += 0.8;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        db_measured_image image;
        db_experiment start;
        assert_int_equal(db_experiment_copy(context, &e, &start), DB_OK);
        start.crystal.misset[1] += of[i].start;
        render(&e, &second, of[i].strength, &image);
        look(&model, &start, &image, &result);
        assert_int_equal(result.other_lattice.indexed > 0, of[i].told);
        look(&model, NULL, &image, &result);
        assert_true(10 * result.left_spots < result.all_spots && result.other_lattice.indexed == 0);
        db_measured_image_clear(&image);
        db_experiment_clear(&start);
    }
    db_experiment_clear(&model);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_second_crystal_is_told),
                                        cmocka_unit_test(a_crystal_that_is_split_is_told) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
