/* Files of curves in a text of kinds of sites. */
#include "fit/config/curve_files.h"

#include "base/context_internal.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)DB_SITE_CURVE_NAME == (int)DB_FIT_PATH_SIZE, "a curve is a file's name");

db_status db_fit_write_sites(db_context *context, const db_setup_sites *kinds,
                             char sites[DB_FIT_PATH_SIZE]) {
    size_t used = 0;
    for (int k = 0; k < kinds->count; k++) {
        used += (size_t)snprintf(sites + used, DB_FIT_PATH_SIZE - used, "%s%s=%s", k ? "," : "",
                                 kinds->kind[k].sites, kinds->kind[k].curve);
        if (used >= DB_FIT_PATH_SIZE)
            return db_fail(context, DB_ERROR_USAGE,
                           "sites: expected kinds and names of files of at most %d characters, "
                           "found more",
                           DB_FIT_PATH_SIZE - 1);
    }
    return DB_OK;
}

db_status db_fit_each_curve_file(db_context *context, char sites[DB_FIT_PATH_SIZE],
                                 db_status (*each)(void *user, db_context *context,
                                                   char name[DB_FIT_PATH_SIZE]),
                                 void *user) {
    db_setup_sites kinds;
    if (!*sites) return DB_OK;
    DB_TRY(db_setup_read_sites(context, sites, &kinds));
    for (int k = 0; k < kinds.count; k++)
        if (!db_setup_is_table(kinds.kind[k].curve))
            DB_TRY(each(user, context, kinds.kind[k].curve));
    return db_fit_write_sites(context, &kinds, sites);
}
