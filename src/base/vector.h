/* Vectors of three doubles, and 3 x 3 matrices (row-major). A call writes only its result, which may be one of the
 * other arguments. */
#ifndef DB_BASE_VECTOR_H
#define DB_BASE_VECTOR_H

#include <math.h>

static inline double db_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double db_length(const double a[3]) { return sqrt(db_dot(a, a)); }

static inline void db_cross(const double a[3], const double b[3], double product[3]) {
    const double x = a[1] * b[2] - a[2] * b[1];
    const double y = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
    product[0] = x;
    product[1] = y;
}

/* Makes a unit vector of it; 0 if its length is 0 or not finite. */
static inline int db_normalize(double a[3]) {
    const double length = db_length(a);
    if (!(length > 0 && isfinite(length))) return 0;
    for (int i = 0; i < 3; i++) a[i] /= length;
    return 1;
}

/* out = m v */
static inline void db_apply(const double m[9], const double v[3], double out[3]) {
    const double x = db_dot(m, v);
    const double y = db_dot(m + 3, v);
    out[2] = db_dot(m + 6, v);
    out[0] = x;
    out[1] = y;
}

/* out = a b; out is neither of them. */
static inline void db_multiply(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/* out = m^T; out is not m. */
static inline void db_transpose(const double m[9], double out[9]) {
    for (int i = 0; i < 9; i++) out[i] = m[3 * (i % 3) + i / 3];
}

/* Turns v about a unit axis by an angle in radian (right-handed). */
static inline void db_turn(const double axis[3], double angle, double v[3]) {
    double side[3];
    db_cross(axis, v, side);
    const double c = cos(angle);
    const double s = sin(angle);
    const double along = db_dot(axis, v) * (1 - c);
    for (int i = 0; i < 3; i++) v[i] = axis[i] * along + v[i] * c + side[i] * s;
}

/* Turns every column of a matrix. */
static inline void db_turn_columns(const double axis[3], double angle, double m[9]) {
    for (int column = 0; column < 3; column++) {
        double v[3] = { m[column], m[3 + column], m[6 + column] };
        db_turn(axis, angle, v);
        for (int i = 0; i < 3; i++) m[3 * i + column] = v[i];
    }
}

/* Cofactors of a matrix, row by row; returns its determinant. out is not m. */
static inline double db_cofactors(const double m[9], double out[9]) {
    for (int i = 0; i < 3; i++) db_cross(m + 3 * ((i + 1) % 3), m + 3 * ((i + 2) % 3), out + 3 * i);
    return db_dot(m, out);
}

/* Largest element of |m m^T - 1|; NaN counts as worse than any. */
static inline double db_distortion(const double m[9]) {
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double error = fabs(db_dot(m + 3 * i, m + 3 * j) - (i == j));
            if (!(error <= worst)) worst = error;
        }
    return worst;
}

/* Dual basis of three row vectors, in rows: the inverse, transposed. Returns their volume; if it is 0, the result
 * is not finite. dual is not v. */
static inline double db_dual_basis(const double v[9], double dual[9]) {
    const double volume = db_cofactors(v, dual);
    for (int i = 0; i < 9; i++) dual[i] /= volume;
    return volume;
}

/* The inverse of a matrix; 0 if it is singular. out is not m. */
static inline int db_invert(const double m[9], double out[9]) {
    double dual[9];
    const double volume = db_dual_basis(m, dual);
    if (!(fabs(volume) > 0)) return 0;
    db_transpose(dual, out);
    return 1;
}

#endif
