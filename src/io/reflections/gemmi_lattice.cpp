// Reduced cells and the symmetry of lattices, by gemmi. No exception leaves this file.
extern "C" {
#include <dualbragg/expert/symmetry.h>
}
#include "io/reflections/gemmi_guard.hpp"

#include <gemmi/cellred.hpp>
#include <gemmi/twin.hpp>

namespace {

// Without a common divisor.
void shorten(int v[3]) {
    for (const int divisor : { 2, 3 })
        while ((v[0] || v[1] || v[2]) && v[0] % divisor == 0 && v[1] % divisor == 0 &&
               v[2] % divisor == 0)
            for (int i = 0; i < 3; i++) v[i] /= divisor;
}

// The axis of a two-fold rotation W is any column of W + 1 that is not 0, the normal of the planes across it any row.
db_two_fold two_fold_of(const gemmi::OpObliquity &found) {
    db_two_fold two_fold = {};
    two_fold.obliquity = found.second;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int sum = found.first.rot[i][j] / gemmi::Op::DEN + (i == j);
            if (!sum) continue;
            for (int k = 0; k < 3; k++) {
                two_fold.axis[k] = found.first.rot[k][j] / gemmi::Op::DEN + (k == j);
                two_fold.plane[k] = found.first.rot[i][k] / gemmi::Op::DEN + (k == i);
            }
        }
    shorten(two_fold.axis);
    shorten(two_fold.plane);
    return two_fold;
}

} // namespace

db_status db_lattice_two_folds(db_context *context, const double cell[6], double most_obliquity,
                               int basis[9], db_two_fold list[DB_MOST_TWO_FOLDS], int *count) {
    *count = 0;
    return guarded(context, "symmetries of a lattice", [&] {
        const gemmi::UnitCell given(cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]);
        gemmi::GruberVector reduced(given, 'P', true);
        reduced.niggli_reduce();
        for (int i = 0; i < 9; i++)
            basis[i] = reduced.change_of_basis->rot[i % 3][i / 3] / gemmi::Op::DEN;
        for (const gemmi::OpObliquity &found :
             gemmi::find_lattice_2fold_ops(reduced.get_cell(), most_obliquity)) {
            if (*count == DB_MOST_TWO_FOLDS) break;
            list[(*count)++] = two_fold_of(found);
        }
    });
}
