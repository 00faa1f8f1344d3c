/* Amorphous matter as users give it. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char file[] = "setup_background.stol";

static db_setup start(void) {
    db_setup setup = setup_start();
    setup_write_file(file, "0 2.57\n0.2 2\n0.4 1\n");
    setup.stol_file = file;
    return setup;
}

static void without_a_file_there_is_none(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.density = -1; /* not looked at */
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.background.count, 0);
    assert_null(e.background.stol);
    db_experiment_clear(&e);
}

static void the_defaults_are_a_tenth_of_a_millimetre_of_water(void **state) {
    (void)state;
    db_setup setup = start();
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.background.count, 3);
    assert_true(e.background.stol[1] == 0.2 && e.background.amplitude[0] == 2.57);
    setup_assert_close(e.background.thickness, 0.1, 0);
    setup_assert_close(e.background.area, 0.01, 1e-17);
    setup_assert_close(e.background.density, 1, 0);
    setup_assert_close(e.background.molecular_weight, 18, 0);
    setup.stol_abscissa = DB_4STOL;
    db_experiment other = setup_resolved(&setup);
    setup_assert_close(other.background.stol[1], 0.05, 1e-17);
    db_experiment_clear(&other);
    db_experiment_clear(&e);
}

static void lines_out_of_order_are_sorted_with_a_notice(void **state) {
    (void)state;
    db_setup setup = start();
    db_experiment e = setup_resolved(&setup);
    assert_null(strstr(setup_notices(), "sorted"));
    db_experiment_clear(&e);
    setup_write_file(file, "0 2.57\n0.4 1\n0.2 2\n");
    e = setup_resolved(&setup);
    assert_true(e.background.stol[1] == 0.2 && e.background.amplitude[1] == 2);
    assert_non_null(strstr(setup_notices(), "not in ascending order at 1 place; sorted"));
    db_experiment_clear(&e);
}

static void the_beam_lights_up_its_own_size_but_any_thickness(void **state) {
    (void)state;
    db_setup setup = start();
    setup.amorphous_size[0] = 25;
    setup.amorphous_size[1] = 0.5;
    setup.amorphous_size[2] = 0.02;
    setup.beamsize = 0.05;
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.background.thickness, 25, 0);
    setup_assert_close(e.background.area, 0.05 * 0.02, 1e-17);
    assert_non_null(strstr(setup_notices(), "amorphous width: 0.5 mm clipped to the beam size"));
    assert_null(strstr(setup_notices(), "amorphous height"));
    assert_null(strstr(setup_notices(), "amorphous thickness"));
    db_experiment_clear(&e);
}

static void a_number_of_molecules_takes_the_density_s_place(void **state) {
    (void)state;
    db_setup setup = start();
    setup.molecules = 1e15;
    setup.density = 3;
    setup.molecular_weight = 28;
    db_experiment e = setup_resolved(&setup);
    const db_background *b = &e.background;
    /* mm^3 to cm^3: 1e-3 */
    setup_assert_close(
        1e-3 * b->thickness * b->area * b->density * DB_AVOGADRO / b->molecular_weight, 1e15, 10);
    db_experiment_clear(&e);
}

static void impossible_matter_is_refused(void **state) {
    (void)state;
    db_setup setup = start();
    setup.amorphous_size[0] = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "amorphous thickness");
    setup = start();
    setup.amorphous_size[2] = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "amorphous height");
    setup = start();
    setup.density = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "amorphous density");
    setup = start();
    setup.molecular_weight = -18;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "amorphous molecular weight");
    setup = start();
    setup.molecules = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "molecules");
    setup = start();
    setup.beamsize = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "beam size");
    setup = start();
    setup.stol_file = "no_such_file.stol";
    setup_assert_refused(&setup, DB_ERROR_FILE, "no_such_file.stol");
    setup = start();
    setup_write_file(file, "0 1\n2e6 1\n");
    setup_assert_refused(&setup, DB_ERROR_INPUT, "sin(theta)/lambda");
}

static void the_reference_reads_amplitudes_and_does_not_use_them(void **state) {
    (void)state;
    db_setup setup = start();
    setup.compat = 1;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.background.count, 0);
    assert_null(e.background.stol);
    assert_non_null(strstr(setup_notices(), "read and not used"));
    db_experiment_clear(&e);
    setup.stol_file = "no_such_file.stol";
    setup_assert_refused(&setup, DB_ERROR_FILE, "no_such_file.stol");
}

/* With 1 A, 100 mm and a corner 72 mm from the beam, sin(theta)/lambda goes to 0.31. */
static void a_table_that_ends_too_early_is_named(void **state) {
    (void)state;
    db_setup setup = start();
    setup.detector_pixels[0] = setup.detector_pixels[1] = 1024;
    setup.pixel_size = 0.1;
    setup.distance = 100;
    setup.wavelength = 1;
    db_experiment e = setup_resolved(&setup);
    assert_null(strstr(setup_notices(), "end at"));
    db_experiment_clear(&e);
    setup_write_file(file, "0 2.57\n0.1 2\n0.2 1\n");
    e = setup_resolved(&setup);
    assert_non_null(strstr(setup_notices(),
                           "setup_background.stol: amorphous amplitudes end at sin(theta)/lambda "
                           "= 0.2/A, but the image extends to 0.30"));
    assert_non_null(strstr(setup_notices(), "the last amplitude, 1, is used"));
    db_experiment_clear(&e);
    setup.stol_abscissa = DB_4STOL;
    e = setup_resolved(&setup);
    assert_non_null(
        strstr(setup_notices(), "4 sin(theta)/lambda = 0.2/A, but the image extends to 1.2"));
    db_experiment_clear(&e);
}

static int remove_file(void **state) {
    (void)state;
    return remove(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_file_there_is_none),
        cmocka_unit_test(the_defaults_are_a_tenth_of_a_millimetre_of_water),
        cmocka_unit_test(lines_out_of_order_are_sorted_with_a_notice),
        cmocka_unit_test(the_beam_lights_up_its_own_size_but_any_thickness),
        cmocka_unit_test(a_number_of_molecules_takes_the_density_s_place),
        cmocka_unit_test(impossible_matter_is_refused),
        cmocka_unit_test(a_table_that_ends_too_early_is_named),
        cmocka_unit_test(the_reference_reads_amplitudes_and_does_not_use_them),
    };
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
