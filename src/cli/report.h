/* What is going to be rendered, on stdout, in the order and form of the reference where it says the
 * same: scripts read it. */
#ifndef DB_CLI_REPORT_H
#define DB_CLI_REPORT_H

#include "cli/images.h"
#include "cli/session.h"

/* Convention, cell, sources, detector ... Nothing with --quiet. Reports a failure itself. */
db_status db_report_experiment(db_session *session);

/* And what came out, in the form of the reference. Nothing with --quiet. */

/* How much of the sphere the rendered pixels cover; nothing for point pixels, which have no area,
 * unless the reference prints its number. */
db_status db_report_solid_angle(const db_session *session, const unsigned char *mask);

/* The brightest pixel, mean, rms, rmsd. */
void db_report_statistics(const db_session *session, const db_image_statistics *statistics);

#endif
