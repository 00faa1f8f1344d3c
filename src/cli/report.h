/* Report of a rendering on stdout, in the reference's order and form where contents agree: scripts read it. */
#ifndef DB_CLI_REPORT_H
#define DB_CLI_REPORT_H

#include "cli/images.h"
#include "cli/session.h"

#include <math.h>
#include <stdio.h>

/* Prints convention, cell, sources, detector ... Nothing with --quiet. Reports failures itself. */
db_status db_report_experiment(db_session *session);

/* Prints results in the form of the reference. Nothing with --quiet. */

/* Fraction of the sphere that the rendered pixels cover; nothing for point pixels, which have no area, unless the
 * reference prints its number. */
db_status db_report_solid_angle(const db_session *session, const unsigned char *mask);

/* Brightest pixel, mean, rms, rmsd. */
void db_report_statistics(const db_session *session, const db_image_statistics *statistics);

/* Detector's part of the report, and its number formats. */

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

/* Prints standard deviations of the spreads that are not 0, a line each. */
void db_report_closed_spots(const db_experiment *experiment, int digits);

#endif
