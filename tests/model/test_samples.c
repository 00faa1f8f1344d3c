/* The number of samples of a pixel may exceed what 32 bits hold. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include "model/model.h"

#include <stdlib.h>

static void the_scale_follows_any_number_of_samples(void **state) {
    (void)state;
    enum { PHI = 2200, OVERSAMPLE = 1000 };
    db_setup setup = setup_start();
    setup.phi_steps = PHI;
    setup.osc = 1;
    setup.oversample = OVERSAMPLE;
    db_experiment e = setup_resolved(&setup);
    db_panel_interface panel;
    db_source_interface source;
    db_matrix *rotation = malloc(PHI * sizeof *rotation);
    db_mosaic_direction direction;
    assert_non_null(rotation);
    db_interface interface = { .rotation = rotation, .panel = &panel, .source = &source };
    db_mosaic_directions(e.crystal.mosaic_seed, 0, 1, &direction);
    db_model_plain(&e, &direction, &interface);
    const double samples = (double)PHI * OVERSAMPLE * OVERSAMPLE; /* 2.2e9 */
    setup_assert_close(interface.scale.v * samples, DB_THOMSON_R2 * e.beam.fluence, 1e-12);
    free(rotation);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_scale_follows_any_number_of_samples) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
