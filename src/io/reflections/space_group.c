/* Space groups by name, and which reflections they leave out. Which operators a group has:
 * gemmi_files.cpp. */
#include "base/context_internal.h"

#include <dualbragg/reflections.h>
#include <stdlib.h>
#include <string.h>

db_status db_symmetry_of_group(db_context *context, const char *group, db_symmetry *symmetry) {
    *symmetry = (db_symmetry){ 0 };
    db_space_group *const found = malloc(sizeof *found);
    if (!found) return db_fail_memory(context, "space group");
    const db_status status = db_space_group_find(context, group, found);
    if (status == DB_OK) *symmetry = found->symmetry;
    free(found);
    return status;
}

/* Is the phase of the reflection at this translation (cell / 24) other than at none? */
static int shifts_phase(const int hkl[3], const int shift[3]) {
    return (hkl[0] * shift[0] + hkl[1] * shift[1] + hkl[2] * shift[2]) % 24 != 0;
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
