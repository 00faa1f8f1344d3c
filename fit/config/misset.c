#include "fit/config/misset.h"

#include "base/vector.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <string.h>

/* Orientation, misset included, as a rotation: the axes of a cubic cell of edge 1. */
static void total(const db_crystal *crystal, double rotation[9]) {
    static const double cubic[6] = { 1, 1, 1, 90, 90, 90 };
    db_crystal unit = *crystal;
    memcpy(unit.cell, cubic, sizeof cubic);
    db_crystal_matrix(&unit, rotation);
}

void db_misset_fold(db_crystal *crystal) {
    double rotation[9];
    total(crystal, rotation);
    memcpy(crystal->orientation, rotation, sizeof rotation);
    memset(crystal->misset, 0, sizeof crystal->misset);
}

void db_misset_from(const double orientation[9], const db_crystal *crystal, double angle[3]) {
    db_crystal turn = *crystal;
    double rotation[9], inverse[9];
    total(crystal, rotation);
    memset(turn.misset, 0, sizeof turn.misset);
    db_transpose(orientation, inverse);
    db_multiply(rotation, inverse, turn.orientation);
    db_crystal_misset(&turn, angle);
}

int db_misset_degenerate(const db_crystal *crystal) {
    return fabs(cos(crystal->misset[1] * 0.017453292519943295769)) < 0.1;
}
