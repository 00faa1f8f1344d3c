/* Does a shot contradict the quantities that it shares with the others? (docs/theory/refinement.md, Many shots) */
#ifndef DB_FIT_SHOTS_CONTRADICTION_H
#define DB_FIT_SHOTS_CONTRADICTION_H

#include "base/context_internal.h"

#include <stddef.h>

/* Shots with more shared quantities are not compared: their equations would not fit into memory. */
enum { DB_MOST_COMPARED = 32 };

/* Doubles of a shot's equations of so many shared quantities (db_schur_sums_size); 0: there are too many. */
size_t db_contradiction_size(size_t shared);

/* A shot against the others. */
typedef struct db_contradiction {
    size_t shot;     /* number among the shots */
    double margin;   /* gain in its log likelihood by values of its own, over what chance gives */
    size_t quantity; /* the shared one that contradicts most */
    double own,
        others; /* its steps from the present value, for which the shot and the others ask */
    double own_error, others_error;
} db_contradiction;

/* Compares the shot that gains most by values of its own with the minimum of the others. sums: [count][size], the equations of
 * each shot at the present values; used: [count] flags, of those to compare; misfit: [count] target per degree of freedom, 0:
 * unknown; held: [shared] flags of quantities that do not move. margin is 0 if there are too few shots to tell which
 * one is wrong. */
db_status db_contradiction_find(db_context *context, size_t count, size_t shared,
                                const double *sums, const unsigned char *used, const double *misfit,
                                const unsigned char *held, db_contradiction *found);

#endif
