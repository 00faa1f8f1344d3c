/* Space groups by name. Which operators a group has: gemmi_files.cpp. */
#include "base/context_internal.h"
#include "io/reflections/gemmi_files.h"

#include <dualbragg/reflections.h>
#include <dualbragg/expert/symmetry.h>

db_status db_space_group_find(db_context *context, const char *name, db_space_group *group) {
    return db_gemmi_find_group(context, name, NULL, group);
}

db_status db_space_group_of_cell(db_context *context, const char *name, const double cell[6],
                                 db_space_group *group) {
    double edge, angle;
    DB_TRY(db_gemmi_find_group(context, name, cell, group));
    if (db_space_group_fits(group, cell)) return DB_OK;
    db_space_group_strain(group, cell, &edge, &angle);
    return db_fail(context, DB_ERROR_INPUT,
                   "space group %s contradicts the cell %.6g %.6g %.6g %.6g %.6g %.6g: its "
                   "operators change edges by up to %.1f %%, angles by up to %.1f degree (at most "
                   "2 %% and 2 degree can be)",
                   group->name, cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], 100 * edge,
                   angle);
}

db_status db_amplitude_reading_take_group(db_amplitude_reading *r) {
    const db_structure_factor_options *const o = r->options;
    return o->cell ? db_space_group_of_cell(r->context, o->space_group, o->cell, &r->list.group)
                   : db_space_group_find(r->context, o->space_group, &r->list.group);
}
