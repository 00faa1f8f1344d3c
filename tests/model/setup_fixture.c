#include "support/unit_test.h"
#include "setup_fixture.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char notices[8192];

static void collect(void *user, const char *line) {
    (void)user;
    const size_t length = strlen(notices);
    snprintf(notices + length, sizeof notices - length, "%s\n", line);
}

const char *setup_notices(void) { return notices; }

db_setup setup_start(void) {
    db_setup setup;
    db_setup_init(&setup);
    setup.cell[0] = 50;
    return setup;
}

db_experiment setup_resolved(const db_setup *setup) {
    db_context *context = NULL;
    db_experiment experiment;
    assert_int_equal(db_context_create(&context), DB_OK);
    notices[0] = 0;
    const db_status status = db_setup_resolve(context, setup, &experiment, collect, NULL);
    if (status != DB_OK) fail_msg("refused: %s", db_context_message(context));
    db_context_destroy(&context);
    return experiment;
}

void setup_assert_refused(const db_setup *setup, db_status status, const char *fragment) {
    static const db_experiment empty;
    db_context *context = NULL;
    db_experiment experiment;
    assert_int_equal(db_context_create(&context), DB_OK);
    const db_status found = db_setup_resolve(context, setup, &experiment, NULL, NULL);
    if (found == DB_OK) fail_msg("accepted; expected a message with '%s'", fragment);
    if (!strstr(db_context_message(context), fragment))
        fail_msg("'%s' is not in the message '%s'", fragment, db_context_message(context));
    assert_int_equal(found, status);
    assert_memory_equal(&experiment, &empty, sizeof empty); /* owns nothing */
    db_context_destroy(&context);
}

void setup_write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void setup_assert_close(double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

void setup_assert_vector(const double found[3], double x, double y, double z, double tolerance) {
    const double expected[3] = { x, y, z };
    for (int i = 0; i < 3; i++)
        if (!(fabs(found[i] - expected[i]) <= tolerance))
            fail_msg("found %.17g %.17g %.17g, expected %.17g %.17g %.17g", found[0], found[1],
                     found[2], x, y, z);
}

panel_pose setup_panel_pose(const db_experiment *experiment) {
    panel_pose pose;
    double fast[3], slow[3];
    const double *size = experiment->detector.panels[0].pixel_size;
    assert_int_equal(db_experiment_pixel_position(experiment, 0, 0, 0, pose.origin), DB_OK);
    assert_int_equal(db_experiment_pixel_position(experiment, 0, 1000, 0, fast), DB_OK);
    assert_int_equal(db_experiment_pixel_position(experiment, 0, 0, 1000, slow), DB_OK);
    for (int i = 0; i < 3; i++) {
        pose.fast[i] = (fast[i] - pose.origin[i]) / (1000 * size[0]);
        pose.slow[i] = (slow[i] - pose.origin[i]) / (1000 * size[1]);
        pose.origin[i] /= 1000;
    }
    return pose;
}
