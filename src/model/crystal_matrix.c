/* Between a reciprocal matrix A* and cell plus orientation. */
#include "base/cell_constants.h"
#include "base/context_internal.h"
#include "model/model.h"

#include <string.h>

db_status db_crystal_set_matrix(db_context *context, db_crystal *crystal, const double a_star[9]) {
    double reciprocal[9], real[9];
    for (int i = 0; i < 9; i++)
        if (!isfinite(a_star[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "orientation matrix: element %d is %g, expected a finite number", i + 1,
                           a_star[i]);
    db_transpose(a_star, reciprocal);
    const double volume = db_dual_basis(reciprocal, real);
    const double size =
        sqrt(db_dot(reciprocal, reciprocal) * db_dot(reciprocal + 3, reciprocal + 3) *
             db_dot(reciprocal + 6, reciprocal + 6));
    if (!(fabs(volume) > 1e-9 * size))
        return db_fail(context, DB_ERROR_INPUT,
                       "orientation matrix: the three reciprocal vectors are linearly dependent");
    if (volume < 0)
        return db_fail(
            context, DB_ERROR_INPUT,
            "orientation matrix: left-handed (determinant %g), expected a right-handed one",
            volume);
    db_cell_of_edges(real, crystal->cell);
    /* orientation U: real = (U standard)^T rows, hence U = sum over axes of real_i (dual of
     * standard)_i^T */
    db_experiment bare;
    double standard[9], standard_dual[9];
    memset(&bare, 0, sizeof bare);
    memcpy(bare.crystal.cell, crystal->cell, sizeof crystal->cell);
    bare.crystal.orientation[0] = bare.crystal.orientation[4] = bare.crystal.orientation[8] = 1;
    bare.goniometer.spindle_axis[2] = 1;
    db_model_lattice(&bare, standard);
    db_dual_basis(standard, standard_dual);
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
    db_dual_basis(real, reciprocal);
    db_transpose(reciprocal, a_star);
}
