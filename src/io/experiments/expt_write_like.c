/* Experiments written in the form that they came in. */
#include "base/context_internal.h"
#include "io/experiments/geom.h"
#include "io/experiments/xparm.h"
#include "io/formats.h"

#include <dualbragg/expert/file_kind.h>
#include <string.h>

db_status db_write_expt_like(db_context *context, const char *path, const char *source,
                             const db_expt_selection *selection, const db_experiment *experiment) {
    const db_format *format;
    DB_TRY(db_format_of_file(context, source, DB_HOLDS_GEOMETRY, &format));
    if (format && format->geometry == db_xparm_read)
        return db_xparm_write(context, path, source, experiment);
    if (format && format->geometry == db_geom_read)
        return db_geom_write(context, path, source, selection, experiment);
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: expected XPARM.XDS or a geometry of CrystFEL as the source, found %s",
                   source, format ? format->name : "something else");
}
