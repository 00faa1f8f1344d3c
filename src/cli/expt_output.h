/* The DIALS experiment list of dualbragg sim. */
#ifndef DB_CLI_EXPT_OUTPUT_H
#define DB_CLI_EXPT_OUTPUT_H

#include "cli/session.h"

/* Complains if the list cannot be written, before the work starts. */
db_status db_expt_check(const db_settings *settings);

/* Writes it, if it is wanted, after the SMV image it points at (NULL: there is none), whose counts
 * are pedestal + gain * photons. The image is named as it lies in the list's folder, or by its
 * whole path elsewhere. */
db_status db_expt_output(const db_session *session, const char *image, double pedestal,
                         double gain);

#endif
