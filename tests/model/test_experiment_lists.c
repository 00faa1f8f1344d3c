/* Lists of an experiment are copies: what the caller's become does not matter. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>
#include <string.h>

static db_context *context;
static db_experiment experiment;

static int set_up(void **state) {
    (void)state;
    return db_context_create(&context) != DB_OK ||
           db_experiment_init(context, &experiment) != DB_OK;
}

static int tear_down(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return 0;
}

static void sources_and_panels_are_copied(void **state) {
    (void)state;
    db_source sources[2] = { experiment.beam.sources[0], experiment.beam.sources[0] };
    db_panel panels[3];
    for (int p = 0; p < 3; p++) panels[p] = experiment.detector.panels[0];
    sources[1].weight = 3;
    panels[2].origin[0] = 7;
    assert_int_equal(db_experiment_set_sources(context, &experiment, sources, 2), DB_OK);
    assert_int_equal(db_experiment_set_panels(context, &experiment, panels, 3), DB_OK);
    memset(sources, 0, sizeof sources);
    memset(panels, 0, sizeof panels);
    assert_int_equal(experiment.beam.source_count, 2);
    assert_true(experiment.beam.sources[1].weight == 3);
    assert_int_equal(experiment.detector.panel_count, 3);
    assert_true(experiment.detector.panels[2].origin[0] == 7);
    /* a part of its own list */
    assert_int_equal(
        db_experiment_set_sources(context, &experiment, experiment.beam.sources + 1, 1), DB_OK);
    assert_true(experiment.beam.sources[0].weight == 3);
    assert_int_equal(db_experiment_set_sources(context, &experiment, NULL, 0), DB_ERROR_USAGE);
    assert_int_equal(db_experiment_set_panels(context, &experiment, NULL, 0), DB_ERROR_USAGE);
    assert_int_equal(experiment.beam.source_count, 1);
}

static void amplitudes_are_copied(void **state) {
    (void)state;
    const int min[3] = { 0, -1, 2 }, extent[3] = { 1, 2, 3 }, none[3] = { 1, 0, 3 };
    double list[6] = { 1, 2, 3, 4, 5, 6 };
    db_structure_factors *const f = &experiment.structure_factors;
    f->default_F = 0.5;
    assert_int_equal(db_experiment_set_amplitudes(context, &experiment, min, extent, list), DB_OK);
    memset(list, 0, sizeof list);
    assert_true(f->amplitude[5] == 6 && f->listed == 6 && f->min[1] == -1 && f->default_F == 0.5);
    assert_true(db_parameter_get(&experiment, db_parameter_amplitude(0, 0, 4)) == 6);
    assert_int_equal(db_experiment_set_amplitudes(context, &experiment, min, none, list),
                     DB_ERROR_USAGE);
    assert_true(f->amplitude[0] == 1);
    assert_int_equal(db_experiment_set_amplitudes(context, &experiment, NULL, NULL, NULL), DB_OK);
    assert_null(f->amplitude);
    assert_int_equal(f->extent[0], 0);
}

static void amorphous_matter_is_copied(void **state) {
    (void)state;
    double stol[2] = { 0, 0.5 }, amplitude[2] = { 3, 2 };
    assert_int_equal(db_experiment_set_amorphous(context, &experiment, stol, amplitude, 2), DB_OK);
    stol[1] = amplitude[1] = 9;
    assert_int_equal(experiment.background.count, 2);
    assert_true(experiment.background.stol[1] == 0.5 && experiment.background.amplitude[1] == 2);
    assert_int_equal(db_experiment_set_amorphous(context, &experiment, NULL, NULL, 0), DB_OK);
    assert_null(experiment.background.stol);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_and_panels_are_copied),
        cmocka_unit_test(amplitudes_are_copied),
        cmocka_unit_test(amorphous_matter_is_copied),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
