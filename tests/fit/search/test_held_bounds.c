/* Bounds of the user hold a quantity; bounds of physics do not, nor those of large blocks, which all look alike. */
#include "support/context.h"
#include "fit/search/driver.h"
#include "fit/config/physical_range.h"

#include <math.h>
#include <string.h>

/* Does a parameter's bound hold it? at_bound: -1 the lower, 1 the upper one. */
static int holds(db_parameter which, double lower, double upper, int at_bound) {
    db_fit_settings settings;
    char text[DB_BOUND_SIZE] = "";
    db_fit_settings_init(&settings);
    db_fit_parameter p = db_fit_parameter_free(which);
    p.lower = lower;
    p.upper = upper;
    assert_int_equal(db_fit_settings_add_parameter(context, &settings, &p), DB_OK);
    const int held = db_bound_holds(&settings, &settings.parameters[0], at_bound, text);
    assert_int_equal(strstr(text, at_bound < 0 ? "is held by its lower bound"
                                               : "is held by its upper bound") != NULL,
                     held);
    db_fit_settings_clear(&settings);
    return held;
}

static void bounds_of_users_hold(void **state) {
    (void)state;
    for (int at = -1; at <= 1; at++) {
        assert_int_equal(holds(DB_CELL_A, 70, 80, at), at != 0);
        assert_int_equal(holds(DB_MISSET_X, -0.5, 0.5, at), at != 0);
        assert_int_equal(holds(DB_CELLS_A, 20, 300, at), at != 0);
    }
}

static void bounds_of_physics_do_not(void **state) {
    (void)state;
    assert_false(holds(DB_MOSAIC_VARIANCE, 0, 0.01, -1));
    assert_true(holds(DB_MOSAIC_VARIANCE, 0.002, 0.01, -1));
    assert_true(holds(DB_MOSAIC_VARIANCE, 0, 0.01, 1));
    assert_false(holds(DB_CELLS_A, 1, 300, -1));
}

static void blocks_are_large_beyond_a_size(void **state) {
    (void)state;
    assert_false(holds(DB_CELLS_A, 1, DB_LARGE_BLOCKS, 1));
    assert_false(holds(DB_CELLS_A, 1, 2 * DB_LARGE_BLOCKS, 1));
    assert_true(holds(DB_CELLS_A, 1, 0.99 * DB_LARGE_BLOCKS, 1));
    assert_true(
        holds(DB_CELLS_A, 20, 2 * DB_LARGE_BLOCKS, -1));       /* smaller ones do not look alike */
    assert_true(holds(DB_CELL_A, 70, 2 * DB_LARGE_BLOCKS, 1)); /* nothing but cells are such */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_users_hold),
        cmocka_unit_test(bounds_of_physics_do_not),
        cmocka_unit_test(blocks_are_large_beyond_a_size),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
