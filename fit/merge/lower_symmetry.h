/* A space group that has more rotations than the crystal: shots of the crystal, indexed in several ways, would have one mean
 * for different reflections (docs/theory/merging.md, Symmetry). */
#ifndef DB_FIT_MERGE_LOWER_SYMMETRY_H
#define DB_FIT_MERGE_LOWER_SYMMETRY_H

#include "fit/merge/indexing.h"

/* A symmetry that lacks rotations of the group, and by which the shots agree better. */
typedef struct db_lower_symmetry {
    double
        gain; /* log probability of the measurements by it minus that by the group; 0: there is none */
    int rotations;    /* that it keeps */
    db_indexing lost; /* one that it lacks */
} db_lower_symmetry;

/* Compares the group with its largest subgroups. Measurements follow one way of indexing; shots that do not belong to the
 * others are excluded. */
db_status db_lower_symmetry_find(db_context *context, const db_asu_list *list,
                                 const db_observations *observations, const db_scaling *known,
                                 db_lower_symmetry *lower);

#endif
