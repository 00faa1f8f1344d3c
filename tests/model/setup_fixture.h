/* Resolving a setup in a test: what comes out, what is refused, what the user is told. */
#ifndef DB_TESTS_SETUP_FIXTURE_H
#define DB_TESTS_SETUP_FIXTURE_H

#include <dualbragg/dualbragg.h>

/* Defaults with a cubic cell of 50 A, so that only what a test is about has to be said. */
db_setup setup_start(void);

/* Resolves and fails the test if that is refused; the caller clears the experiment. */
db_experiment setup_resolved(const db_setup *setup);

/* Fails the test unless the setup is refused with this status and a message that contains the
 * fragment. */
void setup_assert_refused(const db_setup *setup, db_status status, const char *fragment);

/* The notices of the last setup_resolved, one per line. */
const char *setup_notices(void);

/* Writes a text file into the working directory. */
void setup_write_file(const char *path, const char *text);

void setup_assert_close(double found, double expected, double tolerance);
void setup_assert_vector(const double found[3], double x, double y, double z, double tolerance);

/* Position (m) and axes of a one-panel detector. */
typedef struct panel_pose {
    double origin[3], fast[3], slow[3];
} panel_pose;
panel_pose setup_panel_pose(const db_experiment *experiment);

#endif
