/* Indexing ambiguity: the way in which each shot was indexed, by its intensities (docs/theory/merging.md,
 * Indexing; the idea is from W. Brehm & K. Diederichs, Acta Cryst. D70 (2014) 101, and H. Liu & J. C. H. Spence,
 * IUCrJ 1 (2014) 393). */
#ifndef DB_FIT_MERGE_INDEXING_H
#define DB_FIT_MERGE_INDEXING_H

#include "fit/merge/crystal_kinds.h"
#include "fit/merge/metric_operators.h"
#include "fit/merge/observations.h"
#include "fit/merge/shot_scales.h"
#include "fit/merge/shot_ways.h"

/* Largest strain of lattices that count as one: see db_indexing. */
#define DB_INDEXING_STRAIN 0.015

#define DB_INDEXING_CERTAIN 0.95 /* least probability of a decided shot */

typedef struct db_indexing_options {
    /* [shots] numbers of crystals, of which there are so many: shots of a crystal were indexed in one way; NULL: each shot
     * has its own */
    const size_t *crystal;
    size_t crystals;
} db_indexing_options;

typedef enum db_indexing_end {
    DB_INDEXING_UNIQUE,   /* there is only one way, or one crystal and no reference */
    DB_INDEXING_RESOLVED, /* most shots are decided */
    /* most shots are undecided: the intensities have the rotation, or are too weak */
    DB_INDEXING_ALIKE
} db_indexing_end;

/* Result of the search. */
typedef struct db_indexing_result {
    db_indexings ways;
    db_indexing_end end;
    /* log probability of the measurements by these ways minus as if the crystal had all
     * rotations of its lattice */
    double gain;
    size_t shots;
    int *way;                  /* [shots] way by which indices were changed; owned */
    double *probability;       /* [shots] probability of this way; NAN: shot not in use; owned */
    size_t changed, undecided; /* numbers of shots */
} db_indexing_result;

/* Changes indices and numbers of the measurements of shots that are indexed another way than most. (A single crystal keeps
 * its way, unless the reference has another one.) Excludes undecided shots, unless most are undecided, or the ways are no
 * symmetry of the lattice: then spots distinguish them, and shots keep their indexing. Then excludes shots of other crystals
 * (db_find_other_crystals; kinds NULL: does not search), and shots without light. reference: [list->count] intensities that
 * select the common way, NAN if missing; or NULL: the way of most shots. */
db_status db_indexing_resolve(db_context *context, const db_asu_list *list,
                              const db_indexing_options *options, const double *reference,
                              db_observations *observations, db_scaling *scaling,
                              db_indexing_result *result, db_crystal_kinds *kinds);

/* Searches the ways of all shots in several orders, and leaves the probabilities of the best one. *gain: log probability, minus
 * the one of a crystal for which all ways are equal. */
db_status db_indexing_search(db_context *context, db_shot_ways *ways, double *gain);

/* Number of shots that a way is decided for; all: of those with measurements. */
size_t db_indexing_decided(const db_shot_ways *ways, size_t *all);

/* Finds the ways of the lattice, and makes room for `shots` shots with unknown ways. */
db_status db_indexing_result_make(db_context *context, const db_asu_list *list, size_t shots,
                                  db_indexing_result *result);
void db_indexing_result_clear(db_indexing_result *result);

/* A space group that has more rotations than the crystal: shots of the crystal, indexed in several ways, would have one mean
 * for different reflections (docs/theory/merging.md, Symmetry). */

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

/* Compares the group with its largest subgroups by the mates that crystals show by themselves (options->crystal), so that it
 * does not matter how crystals were indexed. Measurements are on one scale; intensity: [list->count] their means. */
db_status db_lower_symmetry_of_mates(db_context *context, const db_asu_list *list,
                                     const db_indexing_options *options,
                                     const db_observations *observations, const double *intensity,
                                     db_lower_symmetry *lower);

/* Fails if there is a lower symmetry. what: whose intensities show it. */
db_status db_lower_symmetry_refuse(db_context *context, const db_asu_list *list, const char *what,
                                   const db_lower_symmetry *lower);

#endif
