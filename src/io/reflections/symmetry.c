/* Operators of space groups, and the cells that can have them. Which a group has: gemmi_files.cpp. */
#include "base/degree.h"
#include "io/reflections/reflection_list.h"

#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <string.h>

enum { WHOLE = 24 }; /* translations are counted in parts of a cell */

static int is_rotation(const int r[9]) {
    for (int i = 0; i < 9; i++)
        if (r[i] < -1 || r[i] > 1) return 0;
    const int determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) -
                            r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
    return determinant == 1 || determinant == -1;
}

static int within_cell(int shift) { return (shift % WHOLE + WHOLE) % WHOLE; }

/* A lattice point of the cell, kept once. */
static int add_centring(db_space_group *group, const int point[3]) {
    for (int c = 0; c < group->centring_count; c++)
        if (memcmp(group->centring[c], point, sizeof group->centring[c]) == 0) return 1;
    if (group->centring_count == sizeof group->centring / sizeof *group->centring) return 0;
    memcpy(group->centring[group->centring_count++], point, sizeof group->centring[0]);
    return 1;
}

int db_space_group_add(db_space_group *group, const int rotation[9], const int shift[3]) {
    static const int origin[3] = { 0 };
    db_symmetry *const symmetry = &group->symmetry;
    if (!is_rotation(rotation) || !add_centring(group, origin)) return 0;
    for (int o = 0; o < symmetry->count; o++) {
        int point[3];
        if (memcmp(symmetry->rotation[o], rotation, sizeof symmetry->rotation[o]) != 0) continue;
        for (int i = 0; i < 3; i++) point[i] = within_cell(shift[i] - group->shift[o][i]);
        return add_centring(group, point);
    }
    if (symmetry->count == DB_MOST_OPERATORS) return 0;
    for (int i = 0; i < 3; i++) group->shift[symmetry->count][i] = within_cell(shift[i]);
    memcpy(symmetry->rotation[symmetry->count++], rotation, sizeof symmetry->rotation[0]);
    return 1;
}

void db_symmetry_turn(const db_symmetry *symmetry, int operator_index, const int hkl[3],
                      int turned[3]) {
    const int *const r = symmetry->rotation[operator_index];
    for (int i = 0; i < 3; i++) turned[i] = hkl[0] * r[i] + hkl[1] * r[3 + i] + hkl[2] * r[6 + i];
}

/* Is the phase of the reflection at this translation other than at none? */
static int shifts_phase(const int hkl[3], const int shift[3]) {
    return (hkl[0] * shift[0] + hkl[1] * shift[1] + hkl[2] * shift[2]) % WHOLE != 0;
}

int db_space_group_absent(const db_space_group *group, const int hkl[3]) {
    for (int c = 0; c < group->centring_count; c++)
        if (shifts_phase(hkl, group->centring[c])) return 1;
    for (int o = 0; o < group->symmetry.count; o++) {
        int turned[3];
        db_symmetry_turn(&group->symmetry, o, hkl, turned);
        if (memcmp(turned, hkl, sizeof turned) == 0 && shifts_phase(hkl, group->shift[o])) return 1;
    }
    return 0;
}

/* Scalar products of the axes a, b, c. */
static void metric_of(const double cell[6], double metric[3][3]) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, angle = 3 + (i + 2) % 3; /* a, b: gamma */
        metric[i][i] = cell[i] * cell[i];
        metric[i][j] = metric[j][i] = cell[i] * cell[j] * cos(DB_DEGREE * cell[angle]);
    }
}

static double turned_product(const double metric[3][3], const int r[9], int i, int j) {
    double sum = 0;
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++) sum += r[3 * m + i] * metric[m][n] * r[3 * n + j];
    return sum;
}

void db_space_group_strain(const db_space_group *group, const double cell[6], double *edge,
                           double *angle) {
    double metric[3][3];
    *edge = *angle = 0;
    metric_of(cell, metric);
    for (int o = 0; o < group->symmetry.count; o++) {
        const int *const r = group->symmetry.rotation[o];
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3;
            const double a = sqrt(turned_product(metric, r, i, i)),
                         b = sqrt(turned_product(metric, r, j, j)),
                         cosine = turned_product(metric, r, i, j) / (a * b);
            *edge = fmax(*edge, fabs(a / cell[i] - 1));
            *angle = fmax(
                *angle, fabs(DB_RADIAN * acos(fmin(fmax(cosine, -1), 1)) - cell[3 + (i + 2) % 3]));
        }
    }
}

int db_space_group_fits(const db_space_group *group, const double cell[6]) {
    static const double most_edge = 0.02, most_angle = 2; /* a part, degree */
    double edge, angle;
    db_space_group_strain(group, cell, &edge, &angle);
    return edge <= most_edge && angle <= most_angle;
}
