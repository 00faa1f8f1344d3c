/* The methods that a stage can name. */
#ifndef DB_FIT_CONFIG_ALGORITHMS_H
#define DB_FIT_CONFIG_ALGORITHMS_H

#include <dualbragg/fit.h>

typedef enum db_algorithm_kind {
    DB_ALGORITHM_LM,       /* our Levenberg-Marquardt */
    DB_ALGORITHM_MOMENTS,  /* the same, on places and widths of spots instead of their pixels */
    DB_ALGORITHM_GRADIENT, /* NLopt, downhill with gradients */
    DB_ALGORITHM_GLOBAL    /* NLopt, searches all of the space between finite bounds */
} db_algorithm_kind;

typedef struct db_algorithm {
    db_algorithm_kind kind;
    int nlopt;       /* its nlopt_algorithm */
    int needs_local; /* starts a local one again and again */
    int takes_gradient;
} db_algorithm;

enum { DB_ALGORITHMS_MOST = 64 };

/* Names of all of them; returns how many. */
size_t db_algorithm_names(const char *names[DB_ALGORITHMS_MOST]);

/* 0 if there is none of that name. */
int db_algorithm_find(const char *name, db_algorithm *algorithm);

/* DB_ERROR_USAGE, naming the nearest, if there is none of that name. */
db_status db_algorithm_check(db_context *context, const char *name, db_algorithm *algorithm);

#endif
