/* Shots of other crystals, which agree with each other. */
#ifndef DB_FIT_MERGE_CRYSTAL_KINDS_H
#define DB_FIT_MERGE_CRYSTAL_KINDS_H

#include "fit/merge/observations.h"
#include "fit/merge/shot_scales.h"

enum { DB_MOST_KINDS = 6, DB_KINDS_LINE = 400 };

/* Crystals whose intensities differ, the one that is kept first. */
typedef struct db_crystal_kinds {
    int count;                   /* 1: no second one was found; 0: nothing was looked for */
    size_t shots[DB_MOST_KINDS]; /* of each */
    size_t first[DB_MOST_KINDS]; /* number of the first shot of each */
    double
        correlation[DB_MOST_KINDS]; /* of its intensities with those of the first, relative to the
                                          mean of their resolution, without their errors */
    int clear;                      /* the first has clearly more shots than any other */
    int by_reference;               /* the first is the one of the reference */
} db_crystal_kinds;

/* Finds groups of shots (three or more) whose intensities agree within the group, and not with those
 * of other groups (docs/theory/merging.md, Crystals); excludes those that are not of the
 * largest group, or of the group which agrees with the reference. Indices follow one way of
 * indexing. Shots without light are excluded, too. reference: [list->count] intensities, NAN
 * where there is none; or NULL. */
db_status db_find_other_crystals(db_context *context, const db_asu_list *list,
                                 const double *reference, const db_observations *observations,
                                 db_scaling *scaling, db_crystal_kinds *kinds);

/* What was found as a sentence, without a full stop; empty: one crystal. */
void db_crystal_kinds_line(const db_crystal_kinds *kinds, char line[DB_KINDS_LINE]);

#endif
