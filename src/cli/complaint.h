/* Errors and notices of the program: one line on stderr that begins with its name. */
#ifndef DB_CLI_COMPLAINT_H
#define DB_CLI_COMPLAINT_H

#include <dualbragg/dualbragg.h>

/* Prints "dualbragg COMMAND: message" and returns the status. command may be NULL (the program
 * itself). */
db_status db_complain(const char *command, db_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As db_complain, with the context's message. */
db_status db_complain_context(const char *command, db_status status, const db_context *context);

/* Shows this path of a descriptor as "standard output" in later messages. Borrowed. */
void db_show_as_standard_output(const char *path);

/* A path as shown in messages. */
const char *db_shown_path(const char *path);

/* Prints "dualbragg COMMAND: note: message". */
void db_remark(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
