/* Probability of each way of indexing for each shot, given all other shots: expectation maximization
 * (docs/theory/merging.md, Indexing). Ways are rotations of the lattice, or crystals of different kinds. */
#ifndef DB_FIT_MERGE_SHOT_WAYS_H
#define DB_FIT_MERGE_SHOT_WAYS_H

#include "fit/merge/metric_operators.h"
#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/shot_scales.h"

/* A measurement relative to the mean at its resolution, minus 1. */
typedef struct db_relative_intensity {
    float value, weight; /* 1/variance */
} db_relative_intensity;

/* mean: at the resolution, of reflections off the axes; misfit: variance by errors of the models, of an intensity of 1. */
db_relative_intensity db_relative_of(const db_asu_list *list, const db_observation *o, double mean,
                                     double misfit);

enum { DB_MOST_OF_SHOT = 600 };

/* Relative error of partialities by good models, squared. */
#define DB_USUAL_MISFIT 0.04

/* Shots, and sums of the assigned ones for each reflection. */
typedef struct db_shot_ways db_shot_ways;
struct db_shot_ways {
    const db_asu_list *list;
    const db_observations *observations;
    const db_scaling *scaling;
    int ways;
    int hands;   /* 1: Bijvoet mates are two reflections */
    size_t sums; /* numbers of reflections that ways may give; 0: numbers of the list */
    size_t most; /* measurements of a shot that are used; 0: DB_MOST_OF_SHOT */
    double prior[DB_MOST_INDEXINGS]; /* log of the prior probability */
    double misfit; /* variance of measurements by errors of the models, of an intensity of 1 */
    /* Log probability of a shot's measurements by a way, given the sums, without the shot; a constant is left out. */
    double (*likelihood)(const db_shot_ways *ways, size_t shot, size_t way);
    /* owned, by db_shot_ways_make: */
    size_t *first;                   /* [shots + 1] */
    db_relative_intensity *measured; /* [first[shots]] */
    /* [first[shots]][ways]: number of the reflection by each way */
    uint32_t *number;
    double *probability;  /* [shots][ways] */
    double *sum, *weight; /* [sums] */
};

/* Makes room for a struct whose earlier members are filled. To be cleared in any case. */
db_status db_shot_ways_make(db_context *context, db_shot_ways *r);
void db_shot_ways_clear(db_shot_ways *r);

/* Takes the measurements of shots in use; Bijvoet mates are one reflection. ways: NULL: indices unchanged. mean:
 * of each shell. */
void db_shot_ways_take(const db_indexings *ways, const db_shells *shells, const double *mean,
                       db_shot_ways *r);

/* Does the shot have measurements? */
int db_shot_ways_has(const db_shot_ways *r, size_t s);

/* The most probable way of a shot. */
int db_shot_ways_best(const db_shot_ways *r, size_t s);

/* Adds a shot to the sums by the probabilities of its ways; sign -1: removes it. */
void db_shot_ways_add(db_shot_ways *r, size_t s, int sign);

/* Makes the sums anew, of all shots. */
void db_shot_ways_add_all(db_shot_ways *r);

/* Empties sums and probabilities. */
void db_shot_ways_forget(db_shot_ways *r);

/* Likelihood of rotations. Relative intensities are spread with variance 1 around their mean. */
double db_shot_ways_likelihood(const db_shot_ways *r, size_t s, size_t w);

/* Correlation of the sums, numbered from `first` on, with a reference [list->count] whose shells have these means, and
 * its error. way: by which the sums are turned; NULL: as they are. */
double db_shot_ways_likeness(const db_shot_ways *r, size_t first, const db_indexing *way,
                             const double *reference, const db_shells *shells, const double *mean,
                             double *error);

/* Brings shots into a random order. */
void db_shot_ways_shuffle(uint64_t seed, size_t count, size_t *order);

/* Updates all shots in this order, each given all others, until nothing changes. Shots that are not in the sums
 * yet come in one by one. The shot `held` keeps its first way for some time, because nothing else defines the
 * ways; then ways may separate slowly. Returns the log probability. */
double db_shot_ways_sweep(db_shot_ways *r, const size_t *order, size_t held);

#endif
