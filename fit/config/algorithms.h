/* The words by which a configuration asks for a kind of stage. */
#ifndef DB_FIT_CONFIG_ALGORITHMS_H
#define DB_FIT_CONFIG_ALGORITHMS_H

#include <dualbragg/fit.h>

enum { DB_ALGORITHMS_MOST = 64 };

/* All of them; returns how many. */
size_t db_algorithm_names(const char *names[DB_ALGORITHMS_MOST]);

/* That of a stage. */
const char *db_stage_algorithm(const db_fit_stage *stage);

/* Gives the stage the kind that the word asks for; 0 if there is none of that name. */
int db_stage_take_algorithm(db_fit_stage *stage, const char *name);

/* DB_ERROR_USAGE, naming the nearest, if NLopt has no such method. */
db_status db_stage_check_method(db_context *context, const db_fit_stage *stage);

#endif
