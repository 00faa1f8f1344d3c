/* What came out, on stdout, in the form of the reference. Nothing with --quiet. */
#ifndef DB_CLI_REPORT_RESULT_H
#define DB_CLI_REPORT_RESULT_H

#include "cli/session.h"
#include "cli/images.h"

/* How much of the sphere the rendered pixels cover; nothing for point pixels, which have no area,
 * unless the reference prints its number. */
db_status db_report_solid_angle(const db_session *session, const unsigned char *mask);

/* The brightest pixel, mean, rms, rmsd. */
void db_report_statistics(const db_session *session, const db_image_statistics *statistics);

#endif
