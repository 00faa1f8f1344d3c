#include "cli/complaint.h"

#include "base/shown_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void speak(const char *command, const char *beginning, const char *format,
                  va_list arguments) {
    fprintf(stderr, "dualbragg%s%s: %s", command ? " " : "", command ? command : "", beginning);
    db_shown_vprint(stderr, format, arguments);
    fputc('\n', stderr);
}

db_status db_complain(const char *command, db_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    speak(command, "", format, arguments);
    va_end(arguments);
    return status;
}

static const char *standard_output;

void db_show_as_standard_output(const char *path) { standard_output = path; }

const char *db_shown_path(const char *path) {
    return standard_output && strcmp(path, standard_output) == 0 ? "standard output" : path;
}

db_status db_complain_context(const char *command, db_status status, const db_context *context) {
    const char *message = context ? db_context_message(context) : "";
    char path[64]; /* messages about a file begin with its name */
    const size_t length = strcspn(message, ":");
    snprintf(path, sizeof path, "%.*s", (int)length, message);
    const char *const shown = db_shown_path(path);
    if (shown != path) return db_complain(command, status, "%s%s", shown, message + length);
    return db_complain(command, status, "%s", *message ? message : db_status_text(status));
}

void db_remark(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    speak(command, "note: ", format, arguments);
    va_end(arguments);
}
