/* Lists of settings: copies are deep, what is wrong is refused, and a failing allocation leaves
 * nothing. */
#include "support/context.h"
#include "support/every_allocation.h"
#include "fit/rendered_image.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/fit.h>
#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/fit_steps.h>
#include <string.h>

static db_status fill(db_context *own, db_fit_settings *settings) {
    const db_fit_parameter parameter = db_fit_parameter_free(DB_CELL_A);
    db_status status = db_fit_settings_add_parameter(own, settings, &parameter);
    if (status == DB_OK) status = db_fit_panel_groups_add(own, &settings->panel_groups, "left");
    if (status == DB_OK) status = db_fit_panel_groups_put(own, &settings->panel_groups, 3, 0);
    return status;
}

static void copies_are_deep(void **state) {
    (void)state;
    db_fit_settings settings, copy;
    db_fit_settings_init(&settings);
    assert_int_equal(fill(context, &settings), DB_OK);
    assert_int_equal(db_fit_settings_copy(context, &settings, &copy), DB_OK);
    settings.parameters[0].lower = 7;
    settings.panel_groups.of_panel[3] = -1;
    memset(settings.panel_groups.name[0], 0, 4);
    assert_int_equal(copy.parameter_count, 1);
    assert_false(copy.parameters[0].lower == 7);
    assert_int_equal(db_fit_panel_groups_of(&copy.panel_groups, 3), 0);
    assert_int_equal(db_fit_panel_groups_of(&copy.panel_groups, 2), -1);
    assert_int_equal(db_fit_panel_groups_of(&copy.panel_groups, 4), -1);
    assert_string_equal(copy.panel_groups.name[0], "left");
    db_fit_settings_clear(&settings);
    db_fit_settings_clear(&copy);
    db_fit_settings_clear(&copy);
}

static void there_is_a_largest_number(void **state) {
    (void)state;
    db_fit_panel_groups groups = { .count = 0 };
    size_t count = 0;
    while (count < 1000 && db_fit_panel_groups_add(context, &groups, "a") == DB_OK) count++;
    assert_int_equal(groups.count, count);
    assert_in_range(count, 100, 999);
    assert_non_null(strstr(db_context_message(context), "expected at most"));
    assert_int_equal(db_fit_panel_groups_put(context, &groups, 1000000, 0), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "found 1000000"));
    db_fit_settings settings = { .panel_groups = groups };
    db_fit_settings_clear(&settings);
}

static void a_stage_is_copied_with_what_it_refines(void **state) {
    (void)state;
    db_fit_settings settings;
    db_fit_settings_init(&settings);
    assert_int_equal(fill(context, &settings), DB_OK);
    db_fit_parameter *const p = &settings.parameters[0];
    settings.stages[1].blur = 3;
    db_fit_parameter_set_stage(p, 1, 0);
    assert_true(db_fit_parameter_in_stage(p, 0) && !db_fit_parameter_in_stage(p, 1));
    copy_stage(&settings, 1, 0);
    assert_false(db_fit_parameter_in_stage(p, 0));
    assert_true(db_fit_parameter_in_stage(p, 2) && settings.stages[0].blur == 3);
    db_fit_settings_clear(&settings);
}

static db_status fill_and_copy(db_context *own, int *right) {
    db_fit_settings settings, copy = { .parameters = NULL };
    db_fit_settings_init(&settings);
    db_status status = fill(own, &settings);
    if (status == DB_OK) status = db_fit_settings_copy(own, &settings, &copy);
    allocations_end();
    *right = status == DB_OK ? copy.parameter_count == 1 && copy.panel_groups.count == 1
                             : !copy.parameters && !copy.panel_groups.name;
    db_fit_settings_clear(&settings);
    db_fit_settings_clear(&copy);
    return status;
}

static void without_memory_nothing_is_owned(void **state) {
    (void)state;
    at_every_allocation(context, fill_and_copy, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_deep),
        cmocka_unit_test(there_is_a_largest_number),
        cmocka_unit_test(a_stage_is_copied_with_what_it_refines),
        cmocka_unit_test(without_memory_nothing_is_owned),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
