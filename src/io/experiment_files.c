/* Experiments and orientations from files of any format, which their content shows. */
#include "io/formats.h"

#include "base/context_internal.h"
#include "io/format_readers.h"

#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/mosflm_matrix.h>
#include <math.h>
#include <string.h>

db_status db_read_expt(db_context *context, const char *path, const db_expt_selection *selection,
                       db_experiment *experiment, db_expt_content *content) {
    const db_format *format;
    memset(content, 0, sizeof *content);
    content->mosaicity = content->domain_size = NAN;
    for (int i = 0; i < 9; i++) content->circles[i] = i % 4 == 0;
    DB_TRY(db_format_of_file(context, path, DB_HOLDS_GEOMETRY, &format));
    if (format && format->geometry && format->geometry != db_expt_read && selection->frame > 0)
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: image %ld of a scan: expected an experiment list of DIALS, found %s; name "
            "the image instead",
            path, selection->frame, format->name);
    if (format && format->geometry)
        return format->geometry(context, path, selection, experiment, content);
    if (format && !format->uncertain)
        return db_fail_format(context, path, format, NULL, DB_HOLDS_GEOMETRY);
    return db_expt_read(context, path, selection, experiment, content);
}

db_status db_read_mosflm_matrix(db_context *context, const char *path, double matrix[9]) {
    const db_format *format;
    DB_TRY(db_format_of_file(context, path, DB_HOLDS_CRYSTALS, &format));
    if (format && format->matrix) return format->matrix(context, path, matrix);
    if (format && !format->uncertain)
        return db_fail_format(context, path, format, NULL, DB_HOLDS_CRYSTALS);
    return db_mosflm_matrix_read(context, path, matrix);
}

db_status db_list_shots(db_context *context, const char *path, db_listed_shots *shots) {
    const db_format *format;
    *shots = (db_listed_shots){ .count = 0 };
    DB_TRY(db_format_of_file(context, path, DB_HOLDS_GEOMETRY, &format));
    if (format && !format->shots && !format->uncertain)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a list of shots (a text file, an experiment list of DIALS, a "
                       "stream of CrystFEL), found %s; a line %s#1-60 of a text file names 60 "
                       "images of one file",
                       path, format->name, path);
    const db_status status = format && format->shots ? format->shots(context, path, shots)
                                                     : db_expt_shots(context, path, shots);
    if (status != DB_OK) db_listed_shots_clear(shots);
    return status;
}
