#include "fit/cli/printout.h"

#include <stdarg.h>

db_status db_fit_log_open(db_context *context, db_fit_log *log, int quiet) {
    log->quiet = quiet;
    return db_text_stream_open(context, &log->text);
}

void db_fit_say(db_fit_log *log, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(log->text.stream, format, arguments);
    va_end(arguments);
    if (log->quiet) return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

void db_fit_say_line(void *user, const char *line) { db_fit_say(user, "%s\n", line); }

db_status db_fit_log_close(db_context *context, db_fit_log *log, const char *path) {
    if (path) return db_text_stream_write(context, &log->text, DB_OK, path);
    const db_status status = db_text_stream_finish(context, &log->text);
    if (status == DB_OK) db_text_stream_free(&log->text);
    return status;
}
