/* Orientation given as a rotation matrix. */
#include "base/context_internal.h"
#include "base/vector.h"
#include "setup/setup_crystal_parts.h"

#include <string.h>

/* Largest element of |m m^T - 1|. */
static double distortion(const double m[9]) {
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double error = fabs(db_dot(m + 3 * i, m + 3 * j) - (i == j));
            if (!(error <= worst)) worst = error;
        }
    return worst;
}

/* The rotation nearest to a matrix that is almost one: Newton's iteration for the polar
 * decomposition, u := (u + inverse of u transposed)/2. N. J. Higham, SIAM J. Sci. Stat. Comput. 7
 * (1986) 1160. */
static void nearest_rotation(double u[9]) {
    for (int step = 0; step < 5; step++) {
        double c[9];
        const double determinant = db_cofactors(u, c);
        for (int i = 0; i < 9; i++) u[i] = (u[i] + c[i] / determinant) / 2;
    }
}

db_status db_setup_orientation(db_context *context, const db_setup *setup, db_crystal *crystal) {
    static const double rounding = 1e-3; /* of matrices written with few digits */
    double u[9], c[9];
    if (!db_setup_given(setup->orientation[0])) return DB_OK;
    if (setup->matrix_file)
        return db_fail(context, DB_ERROR_INPUT,
                       "orientation: given twice, as a rotation matrix and by %s",
                       setup->matrix_file);
    memcpy(u, setup->orientation, sizeof u);
    const double determinant = db_cofactors(u, c), worst = distortion(u);
    if (!(worst <= rounding && determinant > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "orientation: expected a rotation matrix, found one off by %g with "
                       "determinant %g",
                       worst, determinant);
    nearest_rotation(u);
    memcpy(crystal->orientation, u, sizeof u);
    return DB_OK;
}
