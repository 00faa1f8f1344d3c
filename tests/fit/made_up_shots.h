/* Shots that were never images: intensities drawn at random, and what each of many shots measures of
 * them, with errors of known size. */
#ifndef DB_TESTS_FIT_MADE_UP_SHOTS_H
#define DB_TESTS_FIT_MADE_UP_SHOTS_H

#include "fit/merge/observations.h"

/* What is wrong with a shot. */
typedef enum bad_shot {
    GOOD_SHOT,
    OTHER_CRYSTAL, /* intensities of another one */
    BLANK,         /* noise */
    OTHER_HAND,    /* all indices inverted */
    SCATTERED      /* large random factors */
} bad_shot;

typedef struct made_up_options {
    size_t shots, each;        /* reflections of a shot */
    double photons;            /* of a reflection of mean intensity with partiality 1 */
    double background;         /* standard deviation of its photons */
    double relative;           /* random relative error of a measurement, e.g. 0.1 */
    double outliers;           /* part of the measurements that are wrong by far */
    double scale_spread;       /* standard deviation of log k */
    double b_spread;           /* of B (angstrom^2) */
    double anomalous;          /* relative difference of Bijvoet mates */
    double bad[5];             /* part of the shots, for each kind of bad_shot */
    const int (*operators)[9]; /* a shot is indexed by one of them: h' = P h; NULL: by the first */
    size_t operator_count;
    int twins; /* 1: the truth is the mean of h k l and k h -l */
    double
        alike; /* part of the other crystal's intensities that is that of this one; 1: they are the same */
    double flat; /* part of an intensity that is the mean of its resolution; 1: all are alike */
    uint64_t seed;
} made_up_options;
#define MADE_UP_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .shots = 200, .each = 300, .photons = 400, .background = 10, .relative = 0.1,              \
        .scale_spread = 0.7, .b_spread = 5, .anomalous = 0.1, .seed = 1                            \
    }

typedef struct made_up {
    double *truth;  /* [list->count] intensity */
    bad_shot *kind; /* [shots] */
    int *operator;  /* [shots] */
    double *scale;  /* [shots] */
    db_observations observations;
} made_up;

void made_up_make(db_context *context, const db_asu_list *list, const made_up_options *options,
                  made_up *set);
void made_up_clear(made_up *set);

/* A number of a row of pseudo-random ones, from 0 to below 1; normally distributed. */
double made_up_uniform(uint64_t *random);
double made_up_normal(uint64_t *random);

#endif
