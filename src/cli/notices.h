/* What db_setup_resolve tells about automatic choices: kept, so that the report says it where the
 * reference does. */
#ifndef DB_CLI_NOTICES_H
#define DB_CLI_NOTICES_H

#include <stddef.h>

typedef struct db_notices {
    char **line; /* NULL once printed */
    size_t count;
} db_notices;

/* Keeps a copy of a line. Suits db_setup_resolve; user: a db_notices. Without memory the line is
 * printed at once. */
void db_notices_add(void *user, const char *line);

/* Print the lines that begin with one of the words, those that begin with none of them, and all
 * that are left, on stdout; each line once. The words end with NULL. */
void db_notices_print_beginning(db_notices *notices, const char *const *beginnings);
void db_notices_print_others(db_notices *notices, const char *const *beginnings);
void db_notices_print_rest(db_notices *notices);

void db_notices_clear(db_notices *notices);

#endif
