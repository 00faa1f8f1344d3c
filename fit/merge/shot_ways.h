/* How probable each way of indexing is for each shot, given what all other shots say: expectation
 * maximization (docs/theory/merging.md, Indexing). Ways are rotations of the lattice, or
 * the crystals it may be of. */
#ifndef DB_FIT_MERGE_SHOT_WAYS_H
#define DB_FIT_MERGE_SHOT_WAYS_H

#include "fit/merge/metric_operators.h"
#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/shot_scales.h"

/* A measurement relative to the mean of its resolution, less 1. */
typedef struct db_relative_intensity {
    float value, weight; /* 1/variance */
} db_relative_intensity;

/* Shots, and what those assigned so far say of each reflection. */
typedef struct db_shot_ways db_shot_ways;
struct db_shot_ways {
    const db_asu_list *list;
    const db_observations *observations;
    const db_scaling *scaling;
    int ways;
    size_t sums; /* numbers of reflections that ways may give; 0: those of the list */
    double prior[DB_MOST_INDEXINGS]; /* log of the probability before */
    /* Log of the probability of a shot's measurements by a way, given those in the sums; a constant
     * is left out. The shot is not in them. */
    double (*likelihood)(const db_shot_ways *ways, size_t shot, size_t way);
    /* owned, by db_shot_ways_make: */
    size_t *first;                   /* [shots + 1] */
    db_relative_intensity *measured; /* [first[shots]] */
    uint32_t *number;                /* [first[shots]][ways]: of the reflection by each way */
    double *probability;             /* [shots][ways] */
    double *sum, *weight;            /* [sums] */
};

/* Makes room for a struct of which all before that is filled. To be cleared in any case. */
db_status db_shot_ways_make(db_context *context, db_shot_ways *r);
void db_shot_ways_clear(db_shot_ways *r);

/* Takes the measurements of shots that are in use; Bijvoet mates are one reflection. ways: NULL: indices
 * as they are. mean: of each shell. */
void db_shot_ways_take(const db_indexings *ways, const db_shells *shells, const double *mean,
                       db_shot_ways *r);

/* Is anything known of the shot? */
int db_shot_ways_has(const db_shot_ways *r, size_t s);

/* Adds a shot to the sums by the probabilities of its ways; sign -1: takes it away. */
void db_shot_ways_add(db_shot_ways *r, size_t s, int sign);

/* Empties sums and probabilities. */
void db_shot_ways_forget(db_shot_ways *r);

/* The likelihood of rotations. Relative intensities are spread with a variance of 1 around their
 * mean. */
double db_shot_ways_likelihood(const db_shot_ways *r, size_t s, size_t w);

/* Looks at all shots in this order, each given all others, until nothing changes. Shots that are not
 * in the sums yet come in one by one. One of them, `held`, has its first way for a while, since
 * nothing else says which way is which; then ways may grow apart slowly. Returns how probable all
 * is. */
double db_shot_ways_sweep(db_shot_ways *r, const size_t *order, size_t held);

#endif
