/* Refined curves of f' and f'' in files and documents. */
#ifndef DB_FIT_REPORT_WRITE_CURVES_H
#define DB_FIT_REPORT_WRITE_CURVES_H

#include "fit/report/json_document.h"

extern const db_json_table db_curve_fields;

/* A list of the document's curves; of is not looked at. */
json_t *db_make_curves(db_document *d, const void *of);

/* Kind number `kind` as a file that db_read_site_curve reads, with errors behind. */
db_status db_write_found_curve(db_context *context, const char *path, const db_fit_config *config,
                               const db_fit_estimates *estimates, size_t kind);

#endif
