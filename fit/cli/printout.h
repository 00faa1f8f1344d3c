/* Printed text of dualbragg fit: on stdout unless quiet, and in the log file. */
#ifndef DB_FIT_CLI_PRINTOUT_H
#define DB_FIT_CLI_PRINTOUT_H

#include "base/text_stream.h"

#include <dualbragg/fit_shots.h>

typedef struct db_fit_log {
    db_text_stream text;
    int quiet;
    int verbose; /* 1: also prints lines that otherwise only the log file gets */
} db_fit_log;

db_status db_fit_log_open(db_context *context, db_fit_log *log, int quiet);

void db_fit_say(db_fit_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Details: to the log file, and printed with --verbose. */
void db_fit_detail(db_fit_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the log file and frees the log; path NULL: only frees it. */
db_status db_fit_log_close(db_context *context, db_fit_log *log, const char *path);

/* Prints image, starting model and refined parameters. */
void db_fit_say_start(db_fit_log *log, const db_fit_config *config, const db_measured_image *image,
                      const db_experiment *start);

/* Prints the result of one image or of many shots. */
void db_fit_say_result(db_fit_log *log, const db_fit_config *config,
                       const db_fit_shots_result *result);

/* The refined cell, in one line. */
void db_fit_say_cell(db_fit_log *log, const db_fit_config *config, const db_fit_result *result);

#endif
