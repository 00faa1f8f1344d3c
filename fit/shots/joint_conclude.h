/* Results of a joint refinement at its minimum. */
#ifndef DB_FIT_SHOTS_JOINT_CONCLUDE_H
#define DB_FIT_SHOTS_JOINT_CONCLUDE_H

#include "fit/shots/links.h"
#include "fit/shots/shot_fit.h"

/* The minimum of a joint stage. */
typedef struct db_joint_minimum {
    int stage;
    const db_joint_links *links;
    const db_unknowns *unknowns;
    const double *at;    /* values of the unknowns */
    const int *at_bound; /* [unknowns] */
    int stays;           /* 1: other data were compared; shots stay at their best points */
} db_joint_minimum;

/* Estimates errors of shared and local quantities and statistics of the shots. Their models are at the start of
 * the stage, their best points at its minimum. */
db_status db_joint_conclude(db_shots *all, const db_joint_minimum *at, db_fit_shots_result *result);

#endif
