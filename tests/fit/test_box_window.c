/* Boxes that are looked at one by one have the data, the weights and the excess of boxes that are
 * filled all at once, bit by bit; and boxes that are counted are as many. */
#include "support/unit_test.h"
#include "fit/objective/every_box.h"
#include "fit/pixels/box_window.h"
#include "fit/rendered_image.h"

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
    return db_context_create(&context) == DB_OK &&
                   rendered_experiment(context, PIXELS, 1000, &truth) == DB_OK &&
                   rendered_image(context, &truth, 3, &image) == DB_OK &&
                   db_shoebox_size_settle(context, &truth, &settings) == DB_OK &&
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

static void compare_box(const db_shoeboxes *all, size_t b, const db_box_window *window) {
    const size_t first = b * all->pixels, floats = all->pixels * sizeof(float);
    const db_shoeboxes *const one = &window->box;
    assert_memory_equal(one->value, all->value + first, floats);
    assert_memory_equal(one->background, all->background + first, floats);
    assert_memory_equal(one->weight, all->weight + first, floats);
    assert_memory_equal(one->shape_variance, all->shape_variance + first, floats);
    assert_memory_equal(one->own, all->own + first, all->pixels);
    assert_memory_equal(one->strong, all->strong + first, all->pixels);
    assert_memory_equal(one->reflection, &all->reflection[b], sizeof *one->reflection);
    assert_int_equal(one->region[0].fast_start, all->region[b].fast_start);
    assert_int_equal(one->region[0].slow_start, all->region[b].slow_start);
}

static void compare_all(db_shoebox_choice choice, size_t least) {
    const db_fit_data data = { &image, &strong, &settings };
    db_shoeboxes all, bare;
    db_box_window window;
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
    assert_int_equal(db_box_window_make(context, &bare, &window), DB_OK);
    for (size_t k = 0; k < bare.count; k++) { /* in an order of their own, each once */
        const size_t b = bare.by_place[k];
        db_box_window_show(&data, MODEL_ERROR, &bare, b, &window);
        compare_box(&all, b, &window);
        const double excess = excess_of(&all, b);
        assert_memory_equal(&bare.excess[b], &excess, sizeof excess);
        sum += b;
    }
    assert_int_equal(sum, bare.count * (bare.count - 1) / 2);
    db_box_window_clear(&window);
    db_shoeboxes_clear(&bare);
    db_shoeboxes_clear(&all);
}

static void one_by_one_as_all_at_once(void **state) {
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_by_one_as_all_at_once),
                                        cmocka_unit_test(the_size_of_boxes_is_to_be_known) };
    return cmocka_run_group_tests(tests, make, drop);
}
