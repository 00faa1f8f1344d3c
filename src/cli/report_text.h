/* How the report prints numbers. */
#ifndef DB_CLI_REPORT_TEXT_H
#define DB_CLI_REPORT_TEXT_H

#include <math.h>
#include <stdio.h>

/* Rounding noise around 0, and the sign of 0, are not worth printing. `scale`: what is large. */
static inline double db_tidy(double value, double scale) {
    return fabs(value) < 1e-15 * scale ? 0 : value;
}

/* LABEL= x y z */
static inline void db_print_vector(const char *label, const double v[3], int digits) {
    printf("%s= %.*g %.*g %.*g\n", label, digits, db_tidy(v[0], 1), digits, db_tidy(v[1], 1),
           digits, db_tidy(v[2], 1));
}

#endif
