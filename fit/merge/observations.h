/* Measured intensities of many shots, and merged intensities. Merging (the scaled mean of fit/merge/scaling.h, a
 * joint solution for all pixels) and outputs (statistics, files) share only these structs. */
#ifndef DB_FIT_MERGE_OBSERVATIONS_H
#define DB_FIT_MERGE_OBSERVATIONS_H

#include "fit/merge/asymmetric_unit.h"

/* Measurement of a reflection by a shot: the intensity J of its shoebox, fitted with the background, relative to
 * the model's spot with F = 1. It estimates the shot's scale times F^2 without bias, negative values included,
 * for any partiality. */
typedef struct db_observation {
    uint32_t reflection; /* in the list of the asymmetric unit; DB_NO_REFLECTION: not in it */
    float intensity;
    float sigma;      /* standard deviation by the noise of pixels, > 0 */
    float partiality; /* recorded fraction of the reflection, 0 to 1 */
    float light;      /* photons of the shoebox for J = 1; 0: unknown */
    int16_t hkl[3];   /* in the shot's indexing */
    uint16_t flags;   /* of db_observation_flag */
} db_observation;

enum db_observation_flag {
    DB_OBSERVATION_REJECTED = 1 /* not in use: far from the other shots' measurements */
};

/* Measurements of many shots, shot after shot. The memory may be mapped from a file (mmap): everything is read in
 * this order. */
typedef struct db_observations {
    size_t shots;
    size_t *first; /* [shots + 1]: those of shot s are list[first[s]] to list[first[s + 1] - 1] */
    db_observation *list;
} db_observations;

/* Random half of a shot, 0 or 1; the same in every process. */
static inline int db_half_of_shot(uint64_t seed, size_t shot) {
    /* the mixing function of splitmix64 (Steele, Lea & Flood 2014) */
    uint64_t z = seed + 0x9e3779b97f4a7c15u * ((uint64_t)shot + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) & 1);
}

/* Merged intensities, in the order of a list of the asymmetric unit. */
typedef struct db_merged {
    size_t count;
    double *intensity; /* F^2, up to a common factor; may be negative; NAN: no shot shows it */
    double *sigma;     /* standard error, misfit between shots included; NAN without intensity */
    uint32_t *multiplicity; /* number of measurements in use */
    /* Intensities of the two halves of the shots (db_half_of_shot), each without knowledge of the other; NAN: the
     * half has no measurement */
    double *half[2];
    double *half_sigma[2];
    uint32_t *half_multiplicity[2];
} db_merged;

/* Makes room for `count` reflections without data. */
db_status db_merged_make(db_context *context, size_t count, db_merged *merged);
/* Multiplies intensities and errors, halves included. */
void db_merged_scale(db_merged *merged, double factor);
void db_merged_clear(db_merged *merged);

/* Makes room for `count` measurements of `shots` shots, first[] all 0. */
db_status db_observations_make(db_context *context, size_t shots, size_t count,
                               db_observations *observations);
void db_observations_clear(db_observations *observations);

#endif
