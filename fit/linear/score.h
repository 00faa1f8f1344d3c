/* What data say of further unknowns that a minimum does not have: a score test (C. R. Rao, Proc. Camb. Phil. Soc. 44, 50, 1948),
 * with the unknowns of the minimum free. */
#ifndef DB_FIT_LINEAR_SCORE_H
#define DB_FIT_LINEAR_SCORE_H

#include <dualbragg/context.h>

#include <stddef.h>

enum { DB_SCORE_SCATTERS = 2, DB_SCORE_MOST = 3 /* unknowns of a rival */ };

/* Equations at a minimum: its unknowns first, then further ones. */
typedef struct db_score_equations {
    size_t unknowns, further;
    const double *slope;       /* half slopes of the loss */
    const double *normal;      /* symmetric, half second derivatives */
    const unsigned char *held; /* [unknowns] 1: does not move */
    /* lower triangles: products of half slopes, of parts of the data, divided in two ways */
    const double *scatter[DB_SCORE_SCATTERS];
} db_score_equations;

/* The same of the further unknowns alone. */
typedef struct db_score {
    size_t further;
    double *slope, *normal, *scatter[DB_SCORE_SCATTERS]; /* square matrices; owned by slope */
    double *held_normal;                                 /* with the unknowns held */
    double
        *answer; /* [unknowns][further + 1]: steps of the unknowns for steps of 1, and for none */
} db_score;

/* To be cleared, unless it fails. */
db_status db_score_make(db_context *context, const db_score_equations *equations, db_score *score);
void db_score_clear(db_score *score);

/* Further unknowns that move together. */
typedef struct db_score_rival {
    size_t count;                                     /* 0: the data do not determine it */
    double step[DB_SCORE_MOST], error[DB_SCORE_MOST]; /* of its unknowns, misfit included */
    double fall;                                      /* of the loss */
    double
        square; /* fall over the mean fall that chance brings to one unknown, misfit included (K. Takeuchi, 1976) */
} db_score_rival;

/* A rival of `count` unknowns, each of which moves the further ones by a row of mix, [count][further]. */
db_score_rival db_score_of(const db_score *score, size_t count, const double *mix);

#endif
