/* Value of -params: parameters of the derivatives. */
#ifndef DB_CLI_PARAMETER_LIST_H
#define DB_CLI_PARAMETER_LIST_H

#include <dualbragg/dualbragg.h>

#include <stdio.h>

enum { DB_MOST_LISTED_PARAMETERS = DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS, DB_LISTED_NAME = 40 };

typedef struct db_parameter_list {
    db_parameter parameter[DB_MOST_LISTED_PARAMETERS];
    size_t count;
} db_parameter_list;

/* Reads a comma-separated list of names, or "all" for the table's parameters that the experiment has; reports
 * errors itself. */
db_status db_parameter_list_read(const char *command, db_context *context,
                                 const db_experiment *experiment, const char *text,
                                 db_parameter_list *list);

/* The table of parameters. */
void db_parameter_list_print(FILE *out);

#endif
