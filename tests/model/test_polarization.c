/* Polarization of single sources. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include "model/model.h"

#include <math.h>

/* Kahn's factor of light from a source of a file at (x, y, z), scattered along d; the beam runs
 * along x, the polarization axis along z. */
static double factor(int compat, double k, const char *source, const double d[3]) {
    setup_write_file("polarized.src", source);
    db_setup setup = setup_start();
    setup.compat = compat;
    setup.polarization = k;
    setup.source_file = "polarized.src";
    db_experiment e = setup_resolved(&setup);
    db_panel_interface panel;
    db_source_interface s;
    db_matrix rotation;
    db_mosaic_direction direction;
    db_interface interface = { .rotation = &rotation, .panel = &panel, .source = &s };
    db_mosaic_directions(e.crystal.mosaic_seed, 0, 1, &direction);
    db_model_plain(&e, &direction, &interface);
    db_experiment_clear(&e);
    const double w[6] = { s.polarization[0].v, s.polarization[1].v, s.polarization[2].v,
                          s.polarization[3].v, s.polarization[4].v, s.polarization[5].v };
    return 0.5 * (1 + w[0] * d[0] * d[0] + w[1] * d[1] * d[1] + w[2] * d[2] * d[2] +
                  2 * (w[3] * d[0] * d[1] + w[4] * d[0] * d[2] + w[5] * d[1] * d[2]));
}

static void light_along_the_beam_is_polarized_along_the_axis(void **state) {
    (void)state;
    const double up[3] = { 0.6, 0, 0.8 }, aside[3] = { 0.6, 0.8, 0 };
    for (int compat = 0; compat < 2; compat++) {
        setup_assert_close(factor(compat, 0.9, "-10 0 0\n", up), 0.5 * (1.36 - 0.9 * 0.64), 1e-14);
        setup_assert_close(factor(compat, 0.9, "-10 0 0\n", aside), 0.5 * (1.36 + 0.9 * 0.64),
                           1e-14);
    }
}

/* From below, upwards along the axis: there is no field along the axis. */
static void light_along_the_axis_is_unpolarized(void **state) {
    (void)state;
    static const double directions[3][3] = { { 0.8, 0, 0.6 },
                                             { 0, 0.8, 0.6 },
                                             { 0.48, 0.64, 0.6 } };
    for (int i = 0; i < 3; i++) {
        setup_assert_close(factor(0, 0, "0 0 -10\n", directions[i]), 0.5 * 1.36, 1e-14);
        /* the reference takes all scattering for scattering along the field */
        setup_assert_close(factor(1, 0, "0 0 -10\n", directions[i]), 0.5 * 1.36, 1e-14);
        setup_assert_close(factor(1, 0.9, "0 0 -10\n", directions[i]), 0.5 * (1.36 - 0.9 * 0.64),
                           1e-14);
    }
}

static void polarized_light_cannot_travel_along_its_axis(void **state) {
    (void)state;
    setup_write_file("polarized.src", "0 0 -10\n");
    db_setup setup = setup_start();
    setup.polarization = 0.9;
    setup.source_file = "polarized.src";
    setup_assert_refused(&setup, DB_ERROR_INPUT, "its direction is the polarization axis");
    setup.polarized = 0;
    db_experiment e = setup_resolved(&setup);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_along_the_beam_is_polarized_along_the_axis),
        cmocka_unit_test(light_along_the_axis_is_unpolarized),
        cmocka_unit_test(polarized_light_cannot_travel_along_its_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
