/* Scales of shots (docs/theory/merging.md). A shot's
 * measurement of a reflection is modelled as
 *
 *     J = k exp(-B / (2 d^2)) I,   variance  a^2 sigma^2 + (e k exp(-B / (2 d^2)) I)^2
 *
 * with k and B of the shot. The relative error e, of the model's partialities and shapes, and the
 * factor a are found from the scatter between shots, for ranges of partiality. */
#ifndef DB_FIT_MERGE_SHOT_SCALES_H
#define DB_FIT_MERGE_SHOT_SCALES_H

#include "fit/merge/error_model.h"

/* Reason for the exclusion of a shot. */
typedef enum db_exclusion {
    DB_NOT_EXCLUDED,
    DB_EXCLUDED_BEFORE,       /* excluded before */
    DB_EXCLUDED_FEW,          /* hardly any measurements */
    DB_EXCLUDED_DARK,         /* no light at its reflections */
    DB_EXCLUDED_UNRELATED,    /* its intensities are unrelated to the others */
    DB_EXCLUDED_SCATTERED,    /* its intensities agree far worse than the others */
    DB_EXCLUDED_UNDECIDED,    /* its intensities do not decide between several ways of indexing */
    DB_EXCLUDED_OTHER_HAND,   /* its Bijvoet differences have the other hand */
    DB_EXCLUDED_OTHER_CRYSTAL /* its intensities are those of another crystal, like other shots' */
} db_exclusion;

/* Results of scaling for a shot. */
typedef struct db_shot_scale {
    db_exclusion excluded;
    double scale; /* k; the geometric mean of all is 1 */
    double b;     /* angstrom^2; the mean of all is 0 */
    /* of its intensities with the others, relative to the mean at their resolution */
    double correlation;
    /* expected value of this correlation, from errors and the spread of intensities */
    double expected;
    double misfit;      /* median of its squared deviations over their variance, 1 by chance */
    size_t reflections; /* reflections that other shots show, too */
    size_t rejected;    /* measurements that are not in use */
} db_shot_scale;

typedef struct db_scaling_options {
    int refine_b; /* 1: B of each shot; 0: k alone */
    int held;     /* 1: all measurements are on one scale: k is 1, B 0; no shot is excluded */
    int hands;    /* 1: also excludes shots of the other hand */
} db_scaling_options;
#define DB_SCALING_OPTIONS_INIT                                                                    \
    { .refine_b = 1, .hands = 1 }

typedef struct db_scaling {
    size_t shots;
    db_shot_scale *shot; /* [shots] */
    db_error_model errors;
    int iterations;
} db_scaling;

/* Makes room for some shots, none excluded. */
db_status db_scaling_make(db_context *context, size_t shots, db_scaling *scaling);
void db_scaling_clear(db_scaling *scaling);

#endif
