/* Three-component vectors and 3 x 3 matrices (row-major) of doubles. */
#ifndef DB_FIT_CONFIG_VECTOR_H
#define DB_FIT_CONFIG_VECTOR_H

#include <math.h>

static inline double db_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double db_length(const double a[3]) { return sqrt(db_dot(a, a)); }

static inline void db_cross(const double a[3], const double b[3], double out[3]) {
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

/* out = m v; out may be v. */
static inline void db_apply(const double m[9], const double v[3], double out[3]) {
    const double x = db_dot(m, v), y = db_dot(m + 3, v);
    out[2] = db_dot(m + 6, v);
    out[0] = x;
    out[1] = y;
}

/* Turns v about a unit axis by an angle in radian (right-handed). */
static inline void db_turn(const double axis[3], double angle, double v[3]) {
    double side[3];
    db_cross(axis, v, side);
    const double along = db_dot(axis, v) * (1 - cos(angle)), c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) v[i] = axis[i] * along + v[i] * c + side[i] * s;
}

/* Inverse of a matrix; 0 if it is singular. */
static inline int db_invert(const double m[9], double out[9]) {
    double row[3][3];
    db_cross(m + 3, m + 6, row[0]);
    db_cross(m + 6, m, row[1]);
    db_cross(m, m + 3, row[2]);
    const double det = db_dot(m, row[0]);
    if (!(fabs(det) > 0)) return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[3 * i + j] = row[j][i] / det;
    return 1;
}

#endif
