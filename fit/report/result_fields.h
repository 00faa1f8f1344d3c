/* Fields of PREFIX.json that one image and many shots share. */
#ifndef DB_FIT_REPORT_RESULT_FIELDS_H
#define DB_FIT_REPORT_RESULT_FIELDS_H

#include "fit/report/json_document.h"

/* Version of the schema. It grows when a reader of an older version would misread a file. */
enum { DB_RESULT_SCHEMA = 2 };

extern const db_json_table db_provenance_fields, db_settings_fields, db_parameter_fields,
    db_direction_fields, db_history_fields, db_found_cell_fields, db_result_fields;

/* Values from the document's configuration and estimates; `of` is not used. */
json_t *db_make_schema(db_document *d, const void *of);
json_t *db_make_provenance(db_document *d, const void *of);
json_t *db_make_settings(db_document *d, const void *of);
json_t *db_make_found_cell(db_document *d, const void *of);
json_t *db_make_parameters(db_document *d, const void *of);
json_t *db_make_correlation(db_document *d, const void *of);
json_t *db_make_directions(db_document *d, const void *of);

/* "lower", "no", "upper". */
const char *db_bound_text(int at_bound);

/* Refined curves of f' and f'' in files and documents. */

extern const db_json_table db_curve_fields;

/* A list of the document's curves; `of` is not used. */
json_t *db_make_curves(db_document *d, const void *of);

/* Writes kind number `kind` as a file for db_read_site_curve, with errors as further columns. */
db_status db_write_found_curve(db_context *context, const char *path, const db_fit_config *config,
                               const db_fit_estimates *estimates, size_t kind);

#endif
