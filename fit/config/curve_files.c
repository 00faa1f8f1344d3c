/* Files of curves in a text of kinds of sites. */
#include "fit/config/curve_files.h"

#include "base/context_internal.h"

#include <stdio.h>
#include <string.h>

/* The curve of a free atom? */
static int is_table(const char *name) {
    const size_t length = strlen("table");
    return strncmp(name, "table", length) == 0 && (!name[length] || name[length] == ':');
}

db_status db_fit_each_curve_file(db_context *context, char sites[DB_FIT_PATH_SIZE],
                                 db_status (*each)(void *user, db_context *context,
                                                   char name[DB_FIT_PATH_SIZE]),
                                 void *user) {
    char changed[DB_FIT_PATH_SIZE] = "", name[DB_FIT_PATH_SIZE];
    size_t used = 0;
    for (const char *at = sites; *at;) {
        const size_t kind = strcspn(at, ","), equals = strcspn(at, "=,"),
                     before = equals < kind ? equals + 1 : kind;
        snprintf(name, sizeof name, "%.*s", (int)(kind - before), at + before);
        if (*name && !is_table(name)) DB_TRY(each(user, context, name));
        used += (size_t)snprintf(changed + used, sizeof changed - used, "%.*s%s%.*s", (int)before,
                                 at, name, at[kind] != 0, at + kind);
        if (used >= sizeof changed)
            return db_fail(context, DB_ERROR_USAGE,
                           "sites: expected kinds and names of files of at most %d characters, "
                           "found more",
                           DB_FIT_PATH_SIZE - 1);
        at += kind + (at[kind] != 0);
    }
    memcpy(sites, changed, sizeof changed);
    return DB_OK;
}
