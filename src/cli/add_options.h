/* The command line of dualbragg add. */
#ifndef DB_CLI_ADD_OPTIONS_H
#define DB_CLI_ADD_OPTIONS_H

#include "cli/named_files.h"

#include <dualbragg/dualbragg.h>

#include <stdio.h>

typedef struct db_add_options {
    db_summand *summands; /* paths are owned */
    size_t count, capacity;
    double *scales; /* -scale1, -scale2 ...; NAN: not given */
    size_t scale_count;
    float *ignore;
    double offset, out_offset; /* NAN: not given */
    db_sum_options sum;
    const char *output;
    db_named_files files; /* the lists, so far */
    int statistics, quiet, help;
} db_add_options;

/* Reads the arguments (argv[0] is the subcommand), list files included. Reports the first error and
 * returns its status; clear the options whatever that is. */
db_status db_add_options_read(db_add_options *options, int argc, char **argv);
void db_add_options_clear(db_add_options *options);

void db_add_help(FILE *out);

#endif
