/* Between a reciprocal matrix A* and cell plus orientation. */
#include "base/context_internal.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

static const double RADIAN = 57.295779513082320877; /* degree */

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *r) {
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

/* The dual basis of three row vectors, in rows; returns their volume. Serves both directions. */
static double dual_basis(const double v[9], double dual[9]) {
    cross(v + 3, v + 6, dual);
    cross(v + 6, v, dual + 3);
    cross(v, v + 3, dual + 6);
    const double volume = dot(v, dual);
    for (int i = 0; i < 9; i++) dual[i] /= volume;
    return volume;
}

static void transpose(const double m[9], double t[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) t[3 * i + j] = m[3 * j + i];
}

static double angle(const double *a, const double *b) {
    double c[3];
    cross(a, b, c);
    return RADIAN * atan2(sqrt(dot(c, c)), dot(a, b));
}

db_status db_crystal_set_matrix(db_context *context, db_crystal *crystal, const double a_star[9]) {
    double reciprocal[9], real[9];
    for (int i = 0; i < 9; i++)
        if (!isfinite(a_star[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "orientation matrix: element %d is %g, expected a finite number", i + 1,
                           a_star[i]);
    transpose(a_star, reciprocal);
    const double volume = dual_basis(reciprocal, real);
    const double size = sqrt(dot(reciprocal, reciprocal) * dot(reciprocal + 3, reciprocal + 3) *
                             dot(reciprocal + 6, reciprocal + 6));
    if (!(fabs(volume) > 1e-9 * size))
        return db_fail(context, DB_ERROR_INPUT,
                       "orientation matrix: the three reciprocal vectors are linearly dependent");
    if (volume < 0)
        return db_fail(
            context, DB_ERROR_INPUT,
            "orientation matrix: left-handed (determinant %g), expected a right-handed one",
            volume);
    for (int i = 0; i < 3; i++) {
        crystal->cell[i] = sqrt(dot(real + 3 * i, real + 3 * i));
        crystal->cell[3 + i] = angle(real + 3 * ((i + 1) % 3), real + 3 * ((i + 2) % 3));
    }
    /* orientation U: real = (U standard)^T rows, hence U = sum over axes of real_i (dual of
     * standard)_i^T */
    db_experiment bare;
    double standard[9], standard_dual[9];
    memset(&bare, 0, sizeof bare);
    memcpy(bare.crystal.cell, crystal->cell, sizeof crystal->cell);
    bare.crystal.orientation[0] = bare.crystal.orientation[4] = bare.crystal.orientation[8] = 1;
    bare.goniometer.spindle_axis[2] = 1;
    db_model_lattice(&bare, standard);
    dual_basis(standard, standard_dual);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int n = 0; n < 3; n++) sum += real[3 * n + i] * standard_dual[3 * n + j];
            crystal->orientation[3 * i + j] = sum;
        }
    return DB_OK;
}

void db_crystal_matrix(const db_crystal *crystal, double a_star[9]) {
    db_experiment bare;
    double real[9], reciprocal[9];
    memset(&bare, 0, sizeof bare);
    bare.crystal = *crystal;
    bare.goniometer.spindle_axis[2] = 1;
    db_model_lattice(&bare, real);
    dual_basis(real, reciprocal);
    transpose(reciprocal, a_star);
}
