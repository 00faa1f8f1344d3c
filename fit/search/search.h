/* A search of any kind: the minimized problem, and its evaluations with priors, which are recorded; it
 * keeps the best. An interrupted search repeats the evaluations of its log without computing them. */
#ifndef DB_FIT_SEARCH_SEARCH_H
#define DB_FIT_SEARCH_SEARCH_H

#include "fit/search/stage_search.h"

/* Evaluations since a search began. */
typedef struct db_search_log {
    const char *path;             /* file that they were read from, for messages; borrowed */
    int stage;                    /* -1: none */
    int evaluations;              /* of the stage, before this search */
    int started;                  /* 1: there was a best point */
    double degrees;               /* degrees of freedom when the search began */
    size_t history;               /* entries of the history before the search */
    size_t unknowns, count, room; /* numbers of a row; rows; rows with memory */
    double *from;                 /* [unknowns] values at the start; owned */
    double *row;                  /* [count][db_search_log_width]; owned */
} db_search_log;

/* Numbers of each evaluation: unknowns, degrees of freedom, loss, gradient, normal matrix; without priors. */
static inline size_t db_search_log_width(size_t unknowns) {
    return 2 + 2 * unknowns + unknowns * unknowns;
}
/* Makes room for `rows` rows of `unknowns` unknowns; rows with as many unknowns stay. */
db_status db_search_log_reserve(db_context *context, db_search_log *log, size_t unknowns,
                                size_t rows);
void db_search_log_clear(db_search_log *log);

typedef struct db_evaluation {
    double loss;       /* without priors; INFINITY until it is set */
    double degrees;    /* of freedom; unchanged until it is set */
    double *gradient;  /* [unknowns]; NULL: not wanted */
    double *normal;    /* [unknowns][unknowns]; NULL: not wanted */
    int is_of_another; /* 1: new data; the search begins again at its best point */
} db_evaluation;

/* The problem that a search minimizes. */
typedef struct db_search_problem {
    /* A point without a loss leaves INFINITY, so the step there is rejected. */
    db_status (*evaluate)(void *user, const double *x, db_evaluation *at);
    /* Adds an evaluation to the history; 1: the search is cancelled. NULL: no history. */
    int (*record)(void *user, const double *x, const db_fit_history *now);
    /* The last evaluation is the best so far; NULL: not wanted. */
    db_status (*keep)(void *user);
    /* The last evaluation is worse than the best. *is_of_another: as in db_evaluation. NULL: not wanted. */
    db_status (*doubt)(void *user, int *is_of_another);
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
    double degrees;        /* degrees of freedom at the start */

    int evaluations, cancelled, begins_anew;
    int started;               /* 1: there is a best point */
    double best;               /* loss of the best point, priors included */
    double *value;             /* values of the best point; borrowed */
    int at_best;               /* 1: gradient and normal matrix belong to the best point */
    double *gradient, *normal; /* of the last evaluation; owned */
    size_t replayed, known;    /* repeated evaluations of the log, and all of them */
    db_lm_end end;
    const char *stopped_by; /* words of the method for its end; NULL: Levenberg-Marquardt's */
    db_status status;
} db_search;

/* Evaluates without counting it, priors included. */
db_status db_search_look(db_search *search, const double *x, db_objective_depth depth,
                         double *loss);

/* Evaluates for a method, at bounded values: the loss is INFINITY if there is none; 0: the method must stop.
 * Gradient and normal matrix as deep as asked. */
int db_search_evaluate(db_search *search, const double *x, db_objective_depth depth, double *loss);

/* Searches from the values of the search with its algorithm, which is one of NLopt. */
db_status db_nlopt_search(db_search *search);

#endif
