/* The detector's part of the report. */
#ifndef DB_CLI_REPORT_DETECTOR_H
#define DB_CLI_REPORT_DETECTOR_H

#include "cli/session.h"

/* Convention, pivot, beam in the detector's axes. */
void db_report_frame(const db_session *session);

/* Distances, centres, axes as they stand after all rotations. */
void db_report_detector(const db_session *session);

/* How much of the sphere the rendered pixels cover; nothing for point pixels, which have no area.
 */
void db_report_solid_angle(const db_session *session);

#endif
