/* Which way each shot was indexed, by its intensities (docs/theory/merging.md, Indexing; the idea is
 * that of W. Brehm & K. Diederichs, Acta Cryst. D70 (2014) 101, and of H. Liu & J. C. H. Spence, IUCrJ 1
 * (2014) 393). */
#ifndef DB_FIT_MERGE_INDEXING_H
#define DB_FIT_MERGE_INDEXING_H

#include "fit/merge/crystal_kinds.h"
#include "fit/merge/metric_operators.h"
#include "fit/merge/observations.h"
#include "fit/merge/shot_scales.h"

typedef struct db_indexing_options {
    double certain; /* probability of a shot that is decided */
    int starts;     /* orders in which shots are first looked at */
    uint64_t seed;  /* of these orders */
} db_indexing_options;
#define DB_INDEXING_OPTIONS_INIT                                                                   \
    { .certain = 0.95, .starts = 4, .seed = 1 }

typedef enum db_indexing_end {
    DB_INDEXING_UNIQUE,   /* there is but one way */
    DB_INDEXING_RESOLVED, /* most shots are decided */
    DB_INDEXING_ALIKE     /* most are not: the intensities have the rotation, or are too weak */
} db_indexing_end;

/* What was found. */
typedef struct db_indexing_result {
    db_indexings ways;
    db_indexing_end end;
    double gain; /* log of how much more probable the measurements are by these ways than if the
                    crystal had all rotations of its lattice */
    size_t shots;
    int *way;            /* [shots] the way by which indices have been changed; owned */
    double *probability; /* [shots] of it, beside the other ways; NAN: shot not in use; owned */
    size_t changed, undecided; /* shots */
} db_indexing_result;

/* Changes indices and numbers of the measurements of shots that are decided to be indexed another
 * way than most; excludes those that are not decided (unless most are not, or the ways in question
 * are no symmetry of the lattice: then spots tell them apart, and shots stay as they were indexed). Then
 * shots of other crystals are excluded (db_find_other_crystals; kinds NULL: they are not looked for), and
 * those without light. reference: [list->count] intensities that say which way all are to have, NAN where
 * there is none; or NULL: that of most shots. */
db_status db_indexing_resolve(db_context *context, const db_asu_list *list,
                              const db_indexing_options *options, const double *reference,
                              db_observations *observations, db_scaling *scaling,
                              db_indexing_result *result, db_crystal_kinds *kinds);

/* The ways of the lattice, and room for `shots` shots, whose ways are not known yet. */
db_status db_indexing_result_make(db_context *context, const db_asu_list *list, size_t shots,
                                  db_indexing_result *result);
void db_indexing_result_clear(db_indexing_result *result);

#endif
