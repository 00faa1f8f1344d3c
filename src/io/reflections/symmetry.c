/* Rotations of space groups. Which a group has: gemmi_files.cpp. */
#include "io/reflections/reflection_list.h"

#include <string.h>

int db_symmetry_add(db_symmetry *symmetry, const int rotation[9]) {
    const int *const r = rotation;
    for (int i = 0; i < 9; i++)
        if (r[i] < -1 || r[i] > 1) return 0;
    const int determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) -
                            r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
    if (determinant != 1 && determinant != -1) return 0;
    for (int i = 0; i < symmetry->count; i++)
        if (memcmp(symmetry->rotation[i], r, sizeof symmetry->rotation[i]) == 0) return 1;
    if (symmetry->count == DB_MOST_OPERATORS) return 0;
    memcpy(symmetry->rotation[symmetry->count++], r, sizeof symmetry->rotation[0]);
    return 1;
}

void db_symmetry_turn(const db_symmetry *symmetry, int operator_index, const int hkl[3],
                      int turned[3]) {
    const int *const r = symmetry->rotation[operator_index];
    for (int i = 0; i < 3; i++) turned[i] = hkl[0] * r[i] + hkl[1] * r[3 + i] + hkl[2] * r[6 + i];
}
