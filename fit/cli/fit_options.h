/* The arguments of dualbragg fit. */
#ifndef DB_FIT_CLI_FIT_OPTIONS_H
#define DB_FIT_CLI_FIT_OPTIONS_H

#include "cli/arguments.h"

#include <dualbragg/fit.h>

enum { DB_CELL_CONSTANTS = 6, DB_MODEL_TEXTS = 3 };

typedef struct db_fit_options {
    const char *config;  /* CONFIG.yaml; NULL: images are given instead */
    int is_image;        /* 1: the first word names an image */
    const char **images; /* owned, the strings are argv's */
    size_t image_count;
    const char **overrides; /* key=value; owned, the strings are argv's or these options' */
    size_t override_count;
    double cell[DB_CELL_CONSTANTS]; /* NAN: left out */
    int cell_given;
    const char *symmetry, *matrix, *expt; /* of images without a configuration, like cell */
    char cell_text[200];                  /* model.cell=... */
    char *texts[DB_MODEL_TEXTS];          /* the other three likewise; owned; NULL: not given */
    const char *image;                    /* NULL: not given */
    const char *output;
    const char *isa;
    const char *device;
    const char *precision;
    int threads;
    const char *array; /* K/N; NULL: none */
    int no_report, quiet, verbose, help, show_defaults, show_json, resume, merge, model_image;
} db_fit_options;

/* Reads the arguments; reports errors itself. Clear the options after a failure, too. */
db_status db_fit_options_read(db_fit_options *options, int argc, char **argv);
void db_fit_options_clear(db_fit_options *options);

extern const db_flag_table db_fit_flags;

#endif
