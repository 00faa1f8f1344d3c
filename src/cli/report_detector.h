/* The detector's part of the report. Both report a failure themselves. */
#ifndef DB_CLI_REPORT_DETECTOR_H
#define DB_CLI_REPORT_DETECTOR_H

#include "cli/session.h"

/* Convention, pivot, beam in the detector's axes. */
db_status db_report_frame(const db_session *session);

/* Distances, centres, axes as they stand after all rotations. */
db_status db_report_detector(const db_session *session);

#endif
