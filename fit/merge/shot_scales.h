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

/* Why a shot takes no part. */
typedef enum db_exclusion {
    DB_NOT_EXCLUDED,
    DB_EXCLUDED_BEFORE,    /* it was excluded before it came here */
    DB_EXCLUDED_FEW,       /* next to no measurements */
    DB_EXCLUDED_DARK,      /* no light at its reflections */
    DB_EXCLUDED_UNRELATED, /* its intensities have nothing in common with those of the others */
    DB_EXCLUDED_SCATTERED, /* its intensities agree far worse than others' */
    DB_EXCLUDED_UNDECIDED, /* it could be indexed in several ways, and its intensities do not tell */
    DB_EXCLUDED_OTHER_HAND,   /* its Bijvoet differences are those of the other hand */
    DB_EXCLUDED_OTHER_CRYSTAL /* its intensities are those of another crystal, as other shots' are */
} db_exclusion;

/* What scaling finds of a shot. */
typedef struct db_shot_scale {
    db_exclusion excluded;
    double scale;       /* k; the geometric mean of all is 1 */
    double b;           /* angstrom^2; the mean of all is 0 */
    double correlation; /* of its intensities with those of the others, relative to the mean of
                           their resolution */
    double expected;    /* what this would be by errors and what intensities differ by */
    double misfit;      /* median of its squared deviations over their variance, 1 by chance */
    size_t reflections; /* that other shots show, too */
    size_t rejected;    /* measurements that take no part */
} db_shot_scale;

typedef struct db_scaling_options {
    int refine_b; /* 1: B of each shot; 0: k alone */
    int most_iterations;
    double exclude; /* shots are excluded: see db_exclusion; 0: none is */
    int hands;      /* also those of the other hand */
} db_scaling_options;
#define DB_SCALING_OPTIONS_INIT                                                                    \
    { .refine_b = 1, .most_iterations = 40, .exclude = 1, .hands = 1 }

typedef struct db_scaling {
    size_t shots;
    db_shot_scale *shot; /* [shots] */
    db_error_model errors;
    int iterations;
} db_scaling;

/* Room for a number of shots, none excluded. */
db_status db_scaling_make(db_context *context, size_t shots, db_scaling *scaling);
void db_scaling_clear(db_scaling *scaling);

#endif
