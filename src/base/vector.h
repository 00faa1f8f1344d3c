/* Plain vectors of three. */
#ifndef DB_BASE_VECTOR3_H
#define DB_BASE_VECTOR3_H

#include <math.h>

static inline double db_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void db_cross(const double a[3], const double b[3], double product[3]) {
    product[0] = a[1] * b[2] - a[2] * b[1];
    product[1] = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
}

/* Makes a unit vector of it; 0 if its length is 0 or not finite. */
static inline int db_normalize(double a[3]) {
    const double length = sqrt(db_dot(a, a));
    if (!(length > 0 && isfinite(length))) return 0;
    for (int i = 0; i < 3; i++) a[i] /= length;
    return 1;
}

#endif
