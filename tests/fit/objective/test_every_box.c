/* Boxes that are measured in the image have the coefficients and the excess of boxes that are filled and weighed
 * all at once, bit by bit; and boxes that are counted are as many. */
#include "support/unit_test.h"
#include "fit/objective/model_image.h"
#include "fit/pixels/rendering.h"
#include "fit/rendered_image.h"

#include <stdlib.h>
#include <string.h>

enum { PIXELS = 500 };
static db_context *context;
static db_experiment truth;
static db_measured_image image;
static db_strong_pixels strong;
static db_fit_settings settings;
static const double MODEL_ERROR = 0.1;

static int make(void **state) {
    (void)state;
    db_fit_settings_init(&settings);
    return rendered_begin(PIXELS, 1000, 3, &context, &truth, &image) == 0 &&
                   db_shoebox_size_choose(context, &truth, &settings) == DB_OK &&
                   db_strong_pixels_find(context, &image, &settings, &strong) == DB_OK
               ? 0
               : -1;
}

static int drop(void **state) {
    (void)state;
    db_strong_pixels_clear(&strong);
    db_measured_image_clear(&image);
    db_experiment_clear(&truth);
    db_fit_settings_clear(&settings);
    db_context_destroy(&context);
    return 0;
}

static double excess_of(const db_shoeboxes *boxes, size_t b) {
    double excess = 0;
    for (size_t i = b * boxes->pixels; i < (b + 1) * boxes->pixels; i++)
        if (boxes->own[i]) excess += (double)boxes->value[i] - (double)boxes->background[i];
    return excess;
}

/* A plan of boxes, of unit intensities. */
static db_plan *plan_of(const db_shoeboxes *boxes) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_experiment unit;
    db_plan *plan;
    options.regions = boxes->region;
    options.region_count = boxes->count;
    assert_int_equal(db_experiment_unit_amplitudes(context, &truth, &unit), DB_OK);
    assert_int_equal(db_plan_create(context, &unit, &options, &plan), DB_OK);
    db_experiment_clear(&unit);
    return plan;
}

/* Coefficients of boxes whose data are written down. */
static void solve_filled(const db_shoeboxes *all, int terms, int fixed, db_box_solution *solution) {
    const db_loss loss = { .target = DB_LOSS_WEIGHTED, .gain = settings.gain };
    db_plan *plan = plan_of(all);
    db_box_data data = DB_BOX_DATA_INIT;
    db_boxes_request request = DB_BOXES_REQUEST_INIT;
    db_box_rule *const rule = calloc(all->count, sizeof *rule);
    db_boxes *boxes;
    assert_non_null(rule);
    data.value = all->value;
    data.weight = all->weight;
    data.shape_variance = all->shape_variance;
    data.offset = fixed ? all->background : NULL;
    for (size_t b = 0; b < all->count; b++) {
        double sum = 0;
        int used = 0;
        rule[b] = (db_box_rule){ .ridge = 1e-9, .solved = { 1, terms > 0, terms > 1, terms > 1 } };
        for (size_t i = b * all->pixels; i < (b + 1) * all->pixels; i++)
            if (all->weight[i] > 0) {
                sum += (double)all->background[i];
                used++;
            }
        solution[b] = (db_box_solution){ .linear = { 0, terms && !fixed ? sum / used : 0 } };
    }
    request.loss = &loss;
    request.rule = rule;
    request.image = DB_BOXES_IMAGE;
    request.solve = 1;
    assert_int_equal(db_boxes_create(plan, &boxes), DB_OK);
    assert_int_equal(db_boxes_set_data(boxes, &data), DB_OK);
    assert_int_equal(db_boxes_evaluate(boxes, &request, solution, NULL), DB_OK);
    db_boxes_destroy(&boxes);
    db_plan_destroy(&plan);
    free(rule);
}

/* Those of boxes that are looked at in the image, in an order of their own. */
static void compare_measured(const db_shoeboxes *bare, int terms, int fixed,
                             const db_box_solution *solution) {
    db_plan *plan = plan_of(bare);
    db_box_frame frame = DB_BOX_FRAME_INIT;
    db_box_rule *const rule = calloc(bare->count, sizeof *rule);
    db_box_measured *const measured = calloc(bare->count, sizeof *measured);
    double *const light = calloc(bare->count, sizeof *light);
    db_boxes *boxes;
    assert_true(rule && measured && light);
    frame.image = &image;
    frame.background = strong.background;
    frame.strong = strong.strong;
    frame.own = bare->own;
    frame.order = bare->by_place;
    frame.gain = settings.gain;
    frame.readout_noise = settings.readout_noise;
    frame.model_error = MODEL_ERROR;
    frame.background_fixed = fixed;
    for (size_t b = 0; b < bare->count; b++)
        rule[b] = (db_box_rule){ .ridge = 1e-9, .solved = { 1, terms > 0, terms > 1, terms > 1 } };
    assert_int_equal(db_boxes_create_in(plan, &frame, &boxes), DB_OK);
    assert_int_equal(db_boxes_light(boxes, light), DB_OK);
    assert_int_equal(db_boxes_measure(boxes, rule, measured), DB_OK);
    for (size_t b = 0; b < bare->count; b++)
        assert_memory_equal(&measured[b].solution, &solution[b], sizeof solution[b]);
    db_boxes_destroy(&boxes);
    db_plan_destroy(&plan);
    free(rule);
    free(measured);
    free(light);
}

static void compare_all(db_shoebox_choice choice, size_t least) {
    const db_fit_data data = { &image, &strong, &settings };
    db_shoeboxes all, bare;
    size_t count, sum = 0;
    assert_int_equal(db_shoeboxes_place(context, &truth, &data, 0, choice, &all), DB_OK);
    assert_null(all.weight);
    assert_int_equal(db_shoeboxes_weigh(context, &settings, MODEL_ERROR, &all), DB_OK);
    assert_int_equal(db_shoeboxes_place_bare(context, &truth, &data, choice, &bare), DB_OK);
    assert_int_equal(db_shoeboxes_count(context, &truth, &data, NULL, choice, &count), DB_OK);
    assert_true(all.count >= least);
    assert_int_equal(bare.count, all.count);
    assert_int_equal(count, all.count);
    assert_null(bare.value);
    assert_memory_equal(bare.own, all.own, all.count * all.pixels);
    for (size_t b = 0; b < all.count; b++) { /* but for what pads them */
        const db_spot *const one = &bare.reflection[b], *const other = &all.reflection[b];
        const size_t from = offsetof(db_spot, panel);
        assert_memory_equal(one->hkl, other->hkl, sizeof one->hkl);
        assert_memory_equal((const char *)one + from, (const char *)other + from,
                            sizeof *one - from);
    }
    for (size_t k = 0; k < bare.count; k++) { /* in an order of their own, each once */
        const size_t b = bare.by_place[k];
        const double excess = excess_of(&all, b);
        assert_memory_equal(&bare.excess[b], &excess, sizeof excess);
        sum += b;
    }
    assert_int_equal(sum, bare.count * (bare.count - 1) / 2);
    db_box_solution *const solution = calloc(all.count, sizeof *solution);
    assert_non_null(solution);
    for (int terms = 0; terms <= 3; terms++)
        for (int fixed = 0; fixed < 2; fixed++) {
            solve_filled(&all, terms, fixed, solution);
            compare_measured(&bare, terms, fixed, solution);
        }
    free(solution);
    db_shoeboxes_clear(&bare);
    db_shoeboxes_clear(&all);
}

static void in_the_image_as_all_at_once(void **state) {
    (void)state;
    compare_all(DB_SHOEBOXES_ALL, 200);
    compare_all(DB_SHOEBOXES_TOUCHED, 50);
}

/* A size that is left open is no box of one pixel. */
static void the_size_of_boxes_is_to_be_known(void **state) {
    (void)state;
    for (int half_width = -2; half_width <= 0; half_width++) {
        db_fit_settings open = settings;
        const db_fit_data data = { &image, &strong, &open };
        db_every_box all;
        open.shoebox_half_width = half_width;
        assert_int_equal(db_every_box_fit(context, &truth, &data, DB_SHOEBOXES_TOUCHED, 1, &all),
                         DB_ERROR_USAGE);
        assert_non_null(strstr(db_context_message(context), "shoebox_half_width: expected"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(in_the_image_as_all_at_once),
                                        cmocka_unit_test(the_size_of_boxes_is_to_be_known) };
    return cmocka_run_group_tests(tests, make, drop);
}
