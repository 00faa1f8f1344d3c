/* A search, whatever it refines: what is minimized, and evaluations of it, with priors, which are recorded, and the
 * best of which is kept. A search that was interrupted repeats what its log has without evaluating it. */
#ifndef DB_FIT_SEARCH_SEARCH_H
#define DB_FIT_SEARCH_SEARCH_H

#include "fit/search/stage_search.h"

/* The evaluations since a search began. */
typedef struct db_search_log {
    const char *path;             /* where they were read, for messages; borrowed */
    int stage;                    /* -1: none */
    int evaluations;              /* of the stage, before this search */
    int started;                  /* 1: there is a best point from before */
    double degrees;               /* of freedom, when the search began */
    size_t history;               /* entries of the history before it */
    size_t unknowns, count, room; /* of each row; rows; rows for which there is room */
    double *from;                 /* [unknowns] the values that it began with; owned */
    double *row;                  /* [count][db_search_log_width]; owned */
} db_search_log;

/* Of each evaluation: the unknowns, degrees of freedom, loss, gradient, normal matrix; without priors. */
static inline size_t db_search_log_width(size_t unknowns) {
    return 2 + 2 * unknowns + unknowns * unknowns;
}
/* Room for `rows` rows of `unknowns` unknowns; rows that are there stay if they have as many unknowns. */
db_status db_search_log_reserve(db_context *context, db_search_log *log, size_t unknowns,
                                size_t rows);
void db_search_log_clear(db_search_log *log);

typedef struct db_evaluation {
    double loss;       /* without priors; INFINITY unless it is set */
    double degrees;    /* of freedom; as before unless it is set */
    double *gradient;  /* [unknowns]; NULL: not wanted */
    double *normal;    /* [unknowns][unknowns]; NULL: not wanted */
    int is_of_another; /* 1: other data than before; the search begins anew at its best point */
} db_evaluation;

/* What is minimized. */
typedef struct db_search_problem {
    /* Where there is no loss it stays INFINITY, so that a step there is rejected. */
    db_status (*evaluate)(void *user, const double *x, db_evaluation *at);
    /* Adds an evaluation to the history; 1: the search is cancelled. NULL: there is no history. */
    int (*record)(void *user, const double *x, const db_fit_history *now);
    /* The last evaluation is the best so far; NULL: nobody needs to know. */
    db_status (*keep)(void *user);
    void *user;
} db_search_problem;

typedef struct db_search {
    db_context *context;
    db_search_problem problem;
    const db_fit_stage *stage;
    int number;            /* of the stage */
    db_unknowns unknowns;  /* owned */
    db_fit_course *course; /* NULL: none */
    db_search_log *log;    /* NULL: none is kept */
    double degrees;        /* of freedom, at the start */

    int evaluations, cancelled, begins_anew;
    int started;               /* 1: there is a best point */
    double best;               /* its loss, priors included */
    double *value;             /* of it; borrowed */
    int at_best;               /* 1: gradient and normal matrix are those of the best point */
    double *gradient, *normal; /* of the last evaluation; owned */
    size_t replayed, known;    /* evaluations of the log that have been repeated, and all */
    db_lm_end end;
    const char *stopped_by; /* words of the method; NULL: those of Levenberg-Marquardt */
    db_status status;
} db_search;

/* An evaluation that does not count, priors included. */
db_status db_search_look(db_search *search, const double *x, db_objective_depth depth,
                         double *loss);

/* One evaluation of a method, at bounded values: its loss is INFINITY where there is none; 0: it is to stop.
 * Gradient and normal matrix go as deep as asked. */
int db_search_evaluate(db_search *search, const double *x, db_objective_depth depth, double *loss);

#endif
