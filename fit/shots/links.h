/* Links between quantities of shots and the unknowns of a joint stage. A local quantity is fitted to each shot for
 * given values of the unknowns. A linked quantity is a weighted sum of unknowns: one for all shots, one for its
 * crystal or setting, one for each of the two knots of its crystal beside the shot, or one for the shot alone. */
#ifndef DB_FIT_SHOTS_LINKS_H
#define DB_FIT_SHOTS_LINKS_H

#include "fit/search/stage_search.h"
#include "fit/shots/shots.h"

/* Turns of frames of a series as further unknowns, behind the others: some of all frames, some of each group of frames. */
enum { DB_SERIES_TURNS = 3, DB_GROUP_TURNS = 3, DB_FRAME_TURNS = DB_SERIES_TURNS + DB_GROUP_TURNS };

/* What the turns of a frame do to the three angles of its crystal: slopes; and its group. */
typedef struct db_frame_turn {
    double slope[3][DB_FRAME_TURNS];
    size_t group;
} db_frame_turn;

typedef struct db_joint_links {
    db_schur_order order; /* order of a shot's variables: linked ones first */
    size_t shots;
    size_t crystals; /* of a series */
    const db_series_crystal *crystal;
    size_t unknowns, shared;              /* all; the first ones, which all shots share */
    size_t first[DB_FIT_MOST_PARAMETERS]; /* first unknown of each linked variable, */
    /* and number of them: 1, of knots or crystals, or of shots */
    size_t values[DB_FIT_MOST_PARAMETERS];
    unsigned char varies[DB_FIT_MOST_PARAMETERS];  /* db_varying */
    const size_t *setting[DB_FIT_MOST_PARAMETERS]; /* [shots], of quantities that vary by it */
    const db_frame_turn *turn; /* [shots], of linked variables turned[3]; NULL: none */
    size_t turned[3], first_turn;
} db_joint_links;

db_joint_links db_joint_links_make(const db_shots *all, int stage);

/* Numbers among the settings' parameters; [unknowns]. */
void db_joint_links_index(const db_joint_links *links, size_t *index);

typedef struct db_joint_link {
    size_t unknown;
    double weight;
} db_joint_link;

enum { DB_MOST_LINKS = 2 + DB_FRAME_TURNS };

/* Unknowns of a shot's linked variable; returns their number. */
size_t db_joint_links_of(const db_joint_links *links, size_t shot, size_t linked,
                         db_joint_link link[DB_MOST_LINKS]);

/* Values of a shot's linked variables from the unknowns. */
void db_joint_links_values(const db_joint_links *links, size_t shot, const double *unknown,
                           double *value);

/* Adds sums (db_schur_sums_size) by a shot's linked variables to sums by the unknowns. */
void db_joint_links_add(const db_joint_links *links, size_t shot, const double *own, double *sums);

/* Start of a shot's linked variable, from its model: for unknowns that not all shots share. */
typedef struct db_linked_start {
    double start, lower, upper, centre, sigma;
    size_t spots; /* of its image, found without a model */
} db_linked_start;

/* Stores the starts of a shot's local and linked variables; returns the number of linked ones. */
size_t db_joint_links_begin(db_shots *all, size_t shot, int stage, const db_variables *variables,
                            size_t spots);

/* Sets the starts of unknowns that not all shots share, from the shots in use, in *value. All processes call it. */
db_status db_joint_links_start(db_shots *all, const db_joint_links *links, db_unknowns *unknowns,
                               double *value);

/* The minimum of a joint stage. */
typedef struct db_joint_minimum {
    int stage;
    const db_joint_links *links;
    const db_unknowns *unknowns;
    const double *at;    /* values of the unknowns */
    const int *at_bound; /* [unknowns] */
    int stays;           /* 1: other data were compared; shots stay at their best points */
} db_joint_minimum;

#endif
