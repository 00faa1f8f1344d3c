/* Classes of structure factors of a box that symmetry makes equivalent. */
#include <dualbragg/reflections.h>
#include <dualbragg/expert/symmetry.h>

#include "model/amplitude_box.h"

/* Gives an equivalent index the number of its class, if it is in the box and has none yet. */
static void put_class(const db_structure_factors *f, const int hkl[3], int sign, uint32_t number,
                      uint32_t *value) {
    const int node[3] = { sign * hkl[0], sign * hkl[1], sign * hkl[2] };
    size_t entry;
    if (db_amplitude_entry(f, node, &entry) && value[entry] == UINT32_MAX) value[entry] = number;
}

static void put_equivalents(const db_structure_factors *f, const db_symmetry *symmetry, int friedel,
                            const int hkl[3], uint32_t number, uint32_t *value) {
    for (int sign = 1; sign >= (friedel ? -1 : 1); sign -= 2) {
        put_class(f, hkl, sign, number, value);
        for (int i = 0; symmetry && i < symmetry->count; i++) {
            int turned[3];
            db_symmetry_turn(symmetry, i, hkl, turned);
            put_class(f, turned, sign, number, value);
        }
    }
}

size_t db_amplitude_classes(const db_structure_factors *f, const db_symmetry *symmetry, int friedel,
                            uint32_t *value) {
    const size_t entries = (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2];
    uint32_t count = 0;
    size_t entry = 0;
    int hkl[3];
    for (size_t i = 0; i < entries; i++) value[i] = UINT32_MAX;
    for (hkl[0] = f->min[0]; hkl[0] < f->min[0] + f->extent[0]; hkl[0]++)
        for (hkl[1] = f->min[1]; hkl[1] < f->min[1] + f->extent[1]; hkl[1]++)
            for (hkl[2] = f->min[2]; hkl[2] < f->min[2] + f->extent[2]; hkl[2]++, entry++)
                if (value[entry] == UINT32_MAX)
                    put_equivalents(f, symmetry, friedel, hkl, count++, value);
    return count;
}
