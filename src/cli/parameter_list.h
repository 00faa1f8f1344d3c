/* The value of -params: which parameters to differentiate by. */
#ifndef DB_CLI_PARAMETER_LIST_H
#define DB_CLI_PARAMETER_LIST_H

#include <dualbragg/dualbragg.h>

#include <stdio.h>

typedef struct db_parameter_list {
    db_parameter parameter[DB_PARAMETER_COUNT];
    size_t count;
} db_parameter_list;

/* Reads "all" or a comma-separated list of names; reports errors itself. */
db_status db_parameter_list_read(const char *command, db_context *context, const char *text,
                                 db_parameter_list *list);

/* The table of parameters. */
void db_parameter_list_print(FILE *out);

#endif
