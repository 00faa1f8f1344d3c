/* The table of what can be said of a set-up. */
#include "support/unit_test.h"

#include <dualbragg/setup_fields.h>

#include <math.h>
#include <string.h>

static void every_field_has_a_name_and_a_place_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < DB_FIELD_COUNT; i++) {
        const db_setup_field *const field = &db_setup_fields[i];
        const size_t size = field->kind == DB_FIELD_NUMBER ? sizeof(double)
                            : field->kind == DB_FIELD_SEED ? sizeof(long)
                                                           : sizeof(int);
        assert_true(field->name && field->what && field->unit && field->help);
        assert_ptr_equal(db_setup_field_find(field->name), field);
        assert_true(field->count >= 1 &&
                    field->offset + (size_t)field->count * size <= sizeof(db_setup));
        assert_true(field->least <= field->most);
        for (int k = 0; k < i; k++) assert_true(db_setup_fields[k].offset != field->offset);
    }
    assert_null(db_setup_field_find("mosaik_spread"));
}

static void defaults_are_in_their_ranges(void **state) {
    db_setup setup;
    (void)state;
    db_setup_init(&setup);
    for (int i = 0; i < DB_FIELD_COUNT; i++)
        assert_int_equal(db_setup_field_check(NULL, &setup, (db_setup_field_id)i), DB_OK);
}

/* What a message says of a value out of range. */
static void assert_refused(const db_setup *setup, db_setup_field_id id, const char *message) {
    db_context *context = NULL;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_setup_field_check(context, setup, id), DB_ERROR_INPUT);
    assert_string_equal(db_context_message(context), message);
    db_context_destroy(&context);
}

static void what_is_out_of_range_is_named(void **state) {
    db_setup setup;
    (void)state;
    db_setup_init(&setup);
    setup.mosaic_spread = -1;
    assert_refused(&setup, DB_FIELD_MOSAIC_SPREAD,
                   "mosaic spread: expected 0 degree or more, found -1");
    setup.wavelength = 0;
    assert_refused(&setup, DB_FIELD_WAVELENGTH,
                   "wavelength: expected a positive number (A), found 0");
    setup.polarization = 2;
    assert_refused(&setup, DB_FIELD_POLARIZATION,
                   "polarization: expected a number from -1 to 1, found 2");
    setup.sensor_layers = -3;
    assert_refused(&setup, DB_FIELD_SENSOR_LAYERS,
                   "sensor layers: expected 0 (automatic) or more, found -3");
}

/* Also where a number must be there: NAN is none. */
static void only_some_numbers_may_be_left_open(void **state) {
    db_setup setup;
    (void)state;
    db_setup_init(&setup);
    setup.osc = setup.wavelength = NAN;
    assert_int_equal(db_setup_field_check(NULL, &setup, DB_FIELD_OSC), DB_OK);
    assert_int_equal(db_setup_field_check(NULL, &setup, DB_FIELD_WAVELENGTH), DB_ERROR_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_a_name_and_a_place_of_its_own),
        cmocka_unit_test(defaults_are_in_their_ranges),
        cmocka_unit_test(what_is_out_of_range_is_named),
        cmocka_unit_test(only_some_numbers_may_be_left_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
