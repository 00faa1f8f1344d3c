/* The command line of dualbragg compare. */
#ifndef DB_CLI_COMPARE_OPTIONS_H
#define DB_CLI_COMPARE_OPTIONS_H

#include "cli/image_comparison.h"

#include <dualbragg/dualbragg.h>
#include <stdio.h>

typedef struct db_compare_options {
    const char *image[2];
    db_comparison_bounds bounds;
    double share;       /* of the pixels that may lie beyond the bounds */
    double correlation; /* smallest; NAN: any */
    double scale;       /* of the second image; NAN: the one that brings it closest */
    double shape[2];    /* fast, slow pixels of raw floats; 0: open */
    const char *mask_file, *png_file, *json_file;
    int quiet, help;
} db_compare_options;

/* Reads the arguments (argv[0] is the subcommand). Reports the first error and returns its status.
 */
db_status db_compare_options_read(db_compare_options *options, int argc, char **argv);

void db_compare_help(FILE *out);

#endif
