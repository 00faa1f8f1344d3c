/* Names of the kinds of stages in a configuration. */
#ifndef DB_FIT_CONFIG_ALGORITHMS_H
#define DB_FIT_CONFIG_ALGORITHMS_H

#include <dualbragg/fit.h>

enum { DB_ALGORITHMS_MOST = 64 };

/* Lists all names; returns their number. */
size_t db_algorithm_names(const char *names[DB_ALGORITHMS_MOST]);

/* Name of a stage's kind. */
const char *db_stage_algorithm(const db_fit_stage *stage);

/* Sets a stage's kind by its name; 0 if there is none of that name. */
int db_stage_take_algorithm(db_fit_stage *stage, const char *name);

/* DB_ERROR_USAGE, with the nearest name, if NLopt has no such method. */
db_status db_stage_check_method(db_context *context, const db_fit_stage *stage);

#endif
