/* The table of what can be said of a set-up. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include <dualbragg/expert/setup_fields.h>

#include <dualbragg/experiment.h>
#include <dualbragg/parameters.h>

#include <math.h>
#include <stdio.h>
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

static void keep_line(void *user, const char *line) { snprintf(user, 200, "%s", line); }

/* What a field says in its unit a parameter of the same name reads back. */
static void fields_and_parameters_of_one_name_have_one_unit(void **state) {
    (void)state;
    int common = 0;
    for (int i = 0; i < DB_FIELD_COUNT; i++)
        for (int p = 0; p < DB_PARAMETER_COUNT; p++) {
            if (strcmp(db_setup_fields[i].name, db_parameter_describe((db_parameter)p)->name) != 0)
                continue;
            common++;
            /* of a list that may end after one number it is the parameter of all */
            assert_true(db_setup_fields[i].factor == 1 &&
                        (db_setup_fields[i].count == 1 || db_setup_fields[i].fewest == 1));
        }
    assert_true(common > 8);
}

static void a_parameter_is_found_by_the_name_that_it_had(void **state) {
    (void)state;
    char line[200] = "";
    db_parameter parameter;
    db_context *context = NULL;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_context_set_notices(context, keep_line, line);
    assert_int_equal(db_parameter_find(context, "dispersion_range", &parameter), DB_OK);
    assert_int_equal(parameter, DB_DISPERSION);
    assert_string_equal(line, "");
    assert_int_equal(db_parameter_find(context, "dispersion", &parameter), DB_OK);
    assert_int_equal(parameter, DB_DISPERSION);
    assert_string_equal(line, "the parameter dispersion is called dispersion_range now (1)");
    db_context_destroy(&context);
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
    setup.scale = 0; /* without a unit */
    assert_refused(&setup, DB_FIELD_SCALE, "scale: expected a positive number, found 0");
    setup.polarization = 2;
    assert_refused(&setup, DB_FIELD_POLARIZATION,
                   "polarization: expected a number from -1 to 1, found 2");
    setup.sensor_layers = -3;
    assert_refused(&setup, DB_FIELD_SENSOR_LAYERS,
                   "sensor layers: expected 0 (automatic) or more, found -3");
}

/* A choice that there is none of, by the whole set-up. */
static void unknown_choices_are_refused(void **state) {
    (void)state;
    for (int id = 0; id < DB_FIELD_COUNT; id++) {
        const db_setup_field *const field = &db_setup_fields[id];
        db_setup setup = setup_start();
        if (field->kind != DB_FIELD_CHOICE) continue;
        *(int *)(void *)((char *)&setup + field->offset) = 99;
        setup_assert_refused(&setup, DB_ERROR_USAGE, "99");
    }
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

/* Notes of a set-up of a crystal of 10 cells that was changed. */
typedef struct notes {
    char text[4096];
} notes;

static void take(void *user, const char *line) {
    notes *const all = user;
    const size_t length = strlen(all->text);
    snprintf(all->text + length, sizeof all->text - length, "%s\n", line);
}

static void resolve(const db_setup *setup, notes *all) {
    db_context *context;
    db_experiment experiment;
    all->text[0] = '\0';
    assert_int_equal(db_context_create(&context), DB_OK);
    if (db_setup_resolve(context, setup, &experiment, take, all) == DB_OK)
        db_experiment_clear(&experiment);
    else
        take(all, db_context_message(context));
    db_context_destroy(&context);
}

static db_setup usual(void) {
    db_setup setup;
    db_setup_init(&setup);
    for (int i = 0; i < 3; i++) setup.cell[i] = 70, setup.Ncells[i] = 10;
    setup.default_F = 100;
    setup.detector_pixels[0] = setup.detector_pixels[1] = 32;
    setup.wavelength = 1;
    return setup;
}

/* Each in a unit that it is often mistaken for; the note names the number that would be right. */
static void numbers_in_another_unit_are_remarked_on(void **state) {
    (void)state;
    static const struct {
        const char *field;
        int value;
        double stored;
        const char *said;
    } wrong[] = {
        { "wavelength", 0, 999.87, "wavelength: 999.87 A is unusual" },
        { "wavelength", 0, 0.1, "(if it is in nm, write 1)" },
        { "wavelength", 0, 12.4, "(if it is an energy in keV, write 0.999873)" },
        { "wavelength", 0, 999.87, "(if it is in keV instead of eV, write 0.99987)" },
        { "bandwidth_rms", 0, 0.1, "(if it is in percent, write 0.001)" },
        { "distance", 0, 0.15, "detector distance: 0.15 mm is unusual" },
        { "distance", 0, 1e5, "(if it is in um, write 100)" },
        { "pixel_size", 0, 172, "(if it is in um, write 0.172)" },
        { "pixel_size", 0, 1.72e-4, "(if it is in m, write 0.172)" },
        { "cell", 1, 0.7, "unit cell: 0.7 A is unusual" },
        { "cell", 4, 1.5, "(if it is in radian, write 85.9437)" },
        { "mosaic_spread", 0, 180, "mosaic spread: 180 degree is unusual" },
        { "divergence", 1, 0.5, "divergence: 500 mrad is unusual" },
        { "dispersion", 0, 0.8, "dispersion: 80 percent is unusual" },
        { "spectrum_resolution", 0, 0.01, "(if it is in keV, write 10)" },
        { "osc", 0, -1000, "(if it is in millidegree, write -1)" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        notes all;
        db_setup setup = usual();
        const db_setup_field *const field = db_setup_field_find(wrong[i].field);
        assert_non_null(field);
        double *const place = (double *)(void *)((char *)&setup + field->offset);
        if (strstr(wrong[i].field, "_rms")) setup.spread.spots = DB_SPOTS_CLOSED;
        if (field->count == 6) place[3] = place[4] = place[5] = 90;
        place[wrong[i].value] = wrong[i].stored;
        resolve(&setup, &all);
        if (!strstr(all.text, wrong[i].said))
            fail_msg("%s %g: expected '%s', found '%s'", wrong[i].field, wrong[i].stored,
                     wrong[i].said, all.text);
    }
}

/* X-rays, electrons, neutrons; a crystal on a stage and a detector at the end of a hutch. */
static void usual_numbers_are_not(void **state) {
    (void)state;
    static const double wavelength[] = { 0.0197, 0.0251, 0.124, 0.7107, 1, 1.5418, 6.2 };
    for (size_t i = 0; i < sizeof wavelength / sizeof *wavelength; i++)
        for (double distance = 20; distance < 11000; distance *= 8) {
            notes all;
            db_setup setup = usual();
            setup.wavelength = wavelength[i];
            setup.distance = distance;
            setup.pixel_size = distance < 50 ? 0.01 : 0.172;
            setup.oversample = 1;
            resolve(&setup, &all);
            if (strstr(all.text, "hardly"))
                fail_msg("%g A, %g mm: %s", wavelength[i], distance, all.text);
            assert_null(strstr(all.text, "one unit cell"));
        }
}

static void a_crystal_of_one_cell_is_remarked_on(void **state) {
    (void)state;
    static const double cells[] = { 0, 0.9, 1 };
    notes all;
    db_setup setup = usual();
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
        for (int i = 0; i < 3; i++) setup.Ncells[i] = cells[k];
        resolve(&setup, &all);
        assert_non_null(strstr(all.text, "one unit cell has no spots"));
    }
    setup.Ncells[1] = 2;
    resolve(&setup, &all);
    assert_null(strstr(all.text, "one unit cell"));
    setup.Ncells[1] = 1;
    setup.default_F = 0; /* no reflections are asked for */
    resolve(&setup, &all);
    assert_null(strstr(all.text, "one unit cell"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_a_name_and_a_place_of_its_own),
        cmocka_unit_test(fields_and_parameters_of_one_name_have_one_unit),
        cmocka_unit_test(a_parameter_is_found_by_the_name_that_it_had),
        cmocka_unit_test(defaults_are_in_their_ranges),
        cmocka_unit_test(what_is_out_of_range_is_named),
        cmocka_unit_test(unknown_choices_are_refused),
        cmocka_unit_test(only_some_numbers_may_be_left_open),
        cmocka_unit_test(numbers_in_another_unit_are_remarked_on),
        cmocka_unit_test(usual_numbers_are_not),
        cmocka_unit_test(a_crystal_of_one_cell_is_remarked_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
