/* What dualbragg fit says: on stdout unless quiet, and in the log file. */
#ifndef DB_FIT_CLI_PRINTOUT_H
#define DB_FIT_CLI_PRINTOUT_H

#include "base/text_stream.h"

typedef struct db_fit_log {
    db_text_stream text;
    int quiet;
} db_fit_log;

db_status db_fit_log_open(db_context *context, db_fit_log *log, int quiet);

void db_fit_say(db_fit_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For callbacks that hand over a line. user: the log. */
void db_fit_say_line(void *user, const char *line);

/* Writes the log file and frees the log; path NULL: only frees it. */
db_status db_fit_log_close(db_context *context, db_fit_log *log, const char *path);

#endif
