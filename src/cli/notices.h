/* Notices of db_setup_resolve about automatic choices: kept, so that the report can print them in the reference's
 * places. */
#ifndef DB_CLI_NOTICES_H
#define DB_CLI_NOTICES_H

#include <stddef.h>

typedef struct db_notices {
    char **line; /* NULL once printed */
    size_t count;
} db_notices;

/* Keeps a copy of a line, for db_setup_resolve; user: a db_notices. Without memory it prints the line at once. */
void db_notices_add(void *user, const char *line);

/* Print the lines that begin with one of the words, those that begin with none of them, and all others, on stdout;
 * each line once. The words end with NULL. */
void db_notices_print_beginning(db_notices *notices, const char *const *beginnings);
void db_notices_print_others(db_notices *notices, const char *const *beginnings);
void db_notices_print_rest(db_notices *notices);

void db_notices_clear(db_notices *notices);

#endif
