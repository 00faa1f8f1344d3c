/* Fields that the results of one image and of many shots have in common, in PREFIX.json. */
#ifndef DB_FIT_REPORT_RESULT_FIELDS_H
#define DB_FIT_REPORT_RESULT_FIELDS_H

#include "fit/report/json_document.h"

/* Grows when a reader of an older file would be misled. */
enum { DB_RESULT_SCHEMA = 2 };

extern const db_json_table db_provenance_fields, db_settings_fields, db_parameter_fields,
    db_direction_fields, db_history_fields, db_found_cell_fields, db_result_fields;

/* What goes with them, from the document's configuration and estimates; of is not looked at. */
json_t *db_make_schema(db_document *d, const void *of);
json_t *db_make_provenance(db_document *d, const void *of);
json_t *db_make_settings(db_document *d, const void *of);
json_t *db_make_found_cell(db_document *d, const void *of);
json_t *db_make_parameters(db_document *d, const void *of);
json_t *db_make_correlation(db_document *d, const void *of);
json_t *db_make_directions(db_document *d, const void *of);

/* Warnings, and advice for each. */
json_t *db_make_warnings(db_document *d, size_t count, char (*text)[DB_FIT_WARNING_SIZE]);
json_t *db_make_advice(db_document *d, size_t count, const char *const *text);

/* "lower", "no", "upper". */
const char *db_bound_text(int at_bound);

#endif
