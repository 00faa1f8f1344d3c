/* Detector's part of the report, and its number formats. */
#ifndef DB_CLI_REPORT_DETECTOR_H
#define DB_CLI_REPORT_DETECTOR_H

#include "cli/session.h"

#include <math.h>
#include <stdio.h>

/* 0 instead of rounding noise and of -0. `scale`: size of large values. */
static inline double db_tidy(double value, double scale) {
    return fabs(value) < 1e-15 * scale ? 0 : value;
}

/* LABEL= x y z */
static inline void db_print_vector(const char *label, const double v[3], int digits) {
    printf("%s= %.*g %.*g %.*g\n", label, digits, db_tidy(v[0], 1), digits, db_tidy(v[1], 1),
           digits, db_tidy(v[2], 1));
}

/* Prints convention, pivot, beam in the detector's axes. This and the next function report failures themselves. */
db_status db_report_frame(const db_session *session);

/* Prints distances, centres, axes after all rotations. */
db_status db_report_detector(const db_session *session);

#endif
