/* Results of dualbragg compare for programs. */
#ifndef DB_CLI_COMPARISON_JSON_H
#define DB_CLI_COMPARISON_JSON_H

#include "cli/compare_options.h"

typedef struct db_comparison_report {
    const db_compare_options *options;
    const db_measured_image *image[2];
    double scale;
    const db_comparison *result;
    int agree;
} db_comparison_report;

/* Writes the report to a file; says what went wrong. DB_ERROR_UNSUPPORTED without jansson. */
db_status db_comparison_json(db_context *context, const char *path,
                             const db_comparison_report *report);

#endif
