/* Cell constants of three edges. */
#ifndef DB_BASE_CELL_CONSTANTS_H
#define DB_BASE_CELL_CONSTANTS_H

#include "base/degree.h"
#include "base/vector.h"

/* Angle between two vectors, degree. */
static inline double db_angle(const double a[3], const double b[3]) {
    double across[3];
    db_cross(a, b, across);
    return DB_RADIAN * atan2(db_length(across), db_dot(a, b));
}

/* Lengths of three edges, in rows, and angles (degree) between them. */
static inline void db_cell_of_edges(const double edges[9], double cell[6]) {
    for (int i = 0; i < 3; i++) {
        cell[i] = db_length(edges + 3 * i);
        cell[3 + i] = db_angle(edges + 3 * ((i + 1) % 3), edges + 3 * ((i + 2) % 3));
    }
}

#endif
