/* Measured intensities of many shots, and what is merged of them. Who merges (the scaled mean of
 * fit/merge/scaling.h, a joint solution for all pixels) and who tells of it (statistics, files) know
 * each other by these structs alone. */
#ifndef DB_FIT_MERGE_OBSERVATIONS_H
#define DB_FIT_MERGE_OBSERVATIONS_H

#include "fit/merge/asymmetric_unit.h"

/* What a shot shows of a reflection: the intensity J of its shoebox, fitted with the background and
 * relative to the model's spot with F = 1. So it estimates the shot's scale times F^2 without bias,
 * negative ones included, whatever the partiality is. */
typedef struct db_observation {
    uint32_t reflection; /* in the list of the asymmetric unit; DB_NO_REFLECTION: not in it */
    float intensity;
    float sigma;      /* standard deviation by the noise of pixels, > 0 */
    float partiality; /* part of the reflection that the image shows, 0 to 1 */
    float light;      /* photons that the shoebox would have of J = 1; 0: not known */
    int16_t hkl[3];   /* as the shot indexes it */
    uint16_t flags;   /* of db_observation_flag */
} db_observation;

enum db_observation_flag {
    DB_OBSERVATION_REJECTED = 1 /* takes no part: far from what the other shots say of it */
};

/* Those of many shots, shot after shot. The memory may be that of a file (mmap): all is read in this
 * order. */
typedef struct db_observations {
    size_t shots;
    size_t *first; /* [shots + 1]: those of shot s are list[first[s]] to list[first[s + 1] - 1] */
    db_observation *list;
} db_observations;

/* Half of the shots that a shot is in, 0 or 1, by chance; the same in every process. */
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
    double *intensity; /* F^2, up to one factor for all; may be negative; NAN: no shot shows it */
    double *sigma;     /* standard error, misfit between shots included; NAN without intensity */
    uint32_t *multiplicity; /* measurements that take part */
    /* The same of the two halves of the shots (db_half_of_shot), which know nothing of each other's
     * intensities; NAN: the half has no measurement */
    double *half[2];
    double *half_sigma[2];
    uint32_t *half_multiplicity[2];
} db_merged;

/* Room for `count` reflections, all without data. */
db_status db_merged_make(db_context *context, size_t count, db_merged *merged);
/* Multiplies intensities and errors, of halves, too. */
void db_merged_scale(db_merged *merged, double factor);
void db_merged_clear(db_merged *merged);

/* Room for `count` measurements of `shots` shots, first[] all 0. */
db_status db_observations_make(db_context *context, size_t shots, size_t count,
                               db_observations *observations);
void db_observations_clear(db_observations *observations);

#endif
