/* Report of a rendering on stdout, in the reference's order and form where contents agree: scripts read it. */
#ifndef DB_CLI_REPORT_H
#define DB_CLI_REPORT_H

#include "cli/images.h"
#include "cli/session.h"

/* Prints convention, cell, sources, detector ... Nothing with --quiet. Reports failures itself. */
db_status db_report_experiment(db_session *session);

/* Prints results in the form of the reference. Nothing with --quiet. */

/* Fraction of the sphere that the rendered pixels cover; nothing for point pixels, which have no area, unless the
 * reference prints its number. */
db_status db_report_solid_angle(const db_session *session, const unsigned char *mask);

/* Brightest pixel, mean, rms, rmsd. */
void db_report_statistics(const db_session *session, const db_image_statistics *statistics);

#endif
