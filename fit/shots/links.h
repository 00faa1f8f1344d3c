/* How the quantities of shots hang on the unknowns of a joint stage. A quantity is local, and fitted to
 * each shot for given values of the unknowns, or linked: a sum of unknowns times weights. Of these one
 * belongs to all shots, or there is one at either of the two knots beside the shot, or one is the
 * shot's own. */
#ifndef DB_FIT_SHOTS_LINKS_H
#define DB_FIT_SHOTS_LINKS_H

#include "fit/search/stage_search.h"
#include "fit/shots/shots.h"

typedef struct db_joint_links {
    db_schur_order order; /* of a shot's variables: linked ones first */
    size_t shots;
    size_t unknowns, shared;               /* all; the first ones, which belong to all shots */
    size_t first[DB_FIT_MOST_PARAMETERS];  /* of each linked variable: its first unknown, */
    size_t values[DB_FIT_MOST_PARAMETERS]; /* and how many it has: 1, of knots, or of shots */
} db_joint_links;

db_joint_links db_joint_links_make(const db_shots *all, int stage);

/* Among the settings' parameters; [unknowns]. */
void db_joint_links_index(const db_joint_links *links, size_t *index);

typedef struct db_joint_link {
    size_t unknown;
    double weight;
} db_joint_link;

/* The unknowns of a shot's linked variable; returns how many, at most two. */
size_t db_joint_links_of(const db_joint_links *links, size_t shot, size_t linked,
                         db_joint_link link[2]);

/* A shot's linked variables at values of the unknowns. */
void db_joint_links_values(const db_joint_links *links, size_t shot, const double *unknown,
                           double *value);

/* Adds sums (db_schur_sums_size) by a shot's linked variables to those by the unknowns. */
void db_joint_links_add(const db_joint_links *links, size_t shot, const double *own, double *sums);

/* Where a linked variable of a shot begins, by its model: for unknowns that not all shots share. */
typedef struct db_linked_start {
    double start, lower, upper, centre, sigma;
} db_linked_start;

/* Keeps where a shot's local and linked variables begin; returns how many are linked. */
size_t db_joint_links_begin(db_shots *all, size_t shot, int stage, const db_variables *variables);

/* Gives unknowns that not all shots share what the shots in use begin with, and *value their starts.
 * All processes call it. */
db_status db_joint_links_start(db_shots *all, const db_joint_links *links, db_unknowns *unknowns,
                               double *value);

#endif
