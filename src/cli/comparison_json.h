/* Results of dualbragg compare for programs. */
#ifndef DB_CLI_COMPARISON_JSON_H
#define DB_CLI_COMPARISON_JSON_H

#include "cli/image_comparison.h"

#include <dualbragg/dualbragg.h>

/* What dualbragg compare is asked. */
typedef struct db_compare_options {
    const char *image[2];
    db_comparison_bounds bounds;
    double share;       /* of the pixels that may lie beyond the bounds */
    double correlation; /* smallest; NAN: any */
    double scale;       /* of the second image */
    int fit_scale;      /* 1: the scale that brings it closest, instead */
    int shape[2];       /* fast, slow pixels of raw floats; 0: open */
    const char *mask_file, *png_file, *json_file;
    int quiet, help;
} db_compare_options;

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
