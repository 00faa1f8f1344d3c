/* Links between quantities of shots and the unknowns of a joint stage. A local quantity is fitted to each shot for
 * given values of the unknowns. A linked quantity is a weighted sum of unknowns: one for all shots, one for each
 * of the two knots beside the shot, or one for the shot alone. */
#ifndef DB_FIT_SHOTS_LINKS_H
#define DB_FIT_SHOTS_LINKS_H

#include "fit/search/stage_search.h"
#include "fit/shots/shots.h"

typedef struct db_joint_links {
    db_schur_order order; /* order of a shot's variables: linked ones first */
    size_t shots;
    size_t unknowns, shared;               /* all; the first ones, which all shots share */
    size_t first[DB_FIT_MOST_PARAMETERS];  /* first unknown of each linked variable, */
    size_t values[DB_FIT_MOST_PARAMETERS]; /* and number of them: 1, of knots, or of shots */
} db_joint_links;

db_joint_links db_joint_links_make(const db_shots *all, int stage);

/* Numbers among the settings' parameters; [unknowns]. */
void db_joint_links_index(const db_joint_links *links, size_t *index);

typedef struct db_joint_link {
    size_t unknown;
    double weight;
} db_joint_link;

/* Unknowns of a shot's linked variable; returns their number, at most two. */
size_t db_joint_links_of(const db_joint_links *links, size_t shot, size_t linked,
                         db_joint_link link[2]);

/* Values of a shot's linked variables from the unknowns. */
void db_joint_links_values(const db_joint_links *links, size_t shot, const double *unknown,
                           double *value);

/* Adds sums (db_schur_sums_size) by a shot's linked variables to sums by the unknowns. */
void db_joint_links_add(const db_joint_links *links, size_t shot, const double *own, double *sums);

/* Start of a shot's linked variable, from its model: for unknowns that not all shots share. */
typedef struct db_linked_start {
    double start, lower, upper, centre, sigma;
} db_linked_start;

/* Stores the starts of a shot's local and linked variables; returns the number of linked ones. */
size_t db_joint_links_begin(db_shots *all, size_t shot, int stage, const db_variables *variables);

/* Sets the starts of unknowns that not all shots share, from the shots in use, in *value. All processes call it. */
db_status db_joint_links_start(db_shots *all, const db_joint_links *links, db_unknowns *unknowns,
                               double *value);

#endif
