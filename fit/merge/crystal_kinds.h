/* Shots of other crystals, which agree with each other. */
#ifndef DB_FIT_MERGE_CRYSTAL_KINDS_H
#define DB_FIT_MERGE_CRYSTAL_KINDS_H

#include "fit/merge/observations.h"
#include "fit/merge/shot_scales.h"

enum { DB_MOST_KINDS = 6, DB_KINDS_LINE = 400 };

/* Crystals with different intensities; the kept one is the first. */
typedef struct db_crystal_kinds {
    int count;                   /* 1: no second crystal was found; 0: none was searched */
    size_t shots[DB_MOST_KINDS]; /* of each */
    size_t first[DB_MOST_KINDS]; /* number of the first shot of each */
    /* of its intensities with the first crystal's, relative to the mean at their resolution, without their errors */
    double correlation[DB_MOST_KINDS];
    int clear;        /* 1: the first has clearly more shots than any other */
    int by_reference; /* 1: the reference selects the first */
} db_crystal_kinds;

/* Finds groups of shots (three or more) whose intensities agree within the group, but not with other groups
 * (docs/theory/merging.md, Crystals). Excludes shots outside the largest group, or outside the group that agrees
 * with the reference, and shots without light. Indices follow one way of indexing. reference: [list->count]
 * intensities, NAN if missing; or NULL. */
db_status db_find_other_crystals(db_context *context, const db_asu_list *list,
                                 const double *reference, const db_observations *observations,
                                 db_scaling *scaling, db_crystal_kinds *kinds);

/* A sentence about the crystals, without a full stop; empty: one crystal. */
void db_crystal_kinds_line(const db_crystal_kinds *kinds, char line[DB_KINDS_LINE]);

#endif
