/* Refined curves of f' and f'' in files and documents. */
#ifndef DB_FIT_REPORT_WRITE_CURVES_H
#define DB_FIT_REPORT_WRITE_CURVES_H

#include "fit/report/json_document.h"

extern const db_json_table db_curve_fields;

/* A list of the document's curves; `of` is not used. */
json_t *db_make_curves(db_document *d, const void *of);

/* Writes kind number `kind` as a file for db_read_site_curve, with errors as further columns. */
db_status db_write_found_curve(db_context *context, const char *path, const db_fit_config *config,
                               const db_fit_estimates *estimates, size_t kind);

#endif
