/* What a shot does by itself: stages that refine nothing shared, and reading its pixels for a joint
 * one. */
#ifndef DB_FIT_SHOTS_OWN_STAGES_H
#define DB_FIT_SHOTS_OWN_STAGES_H

#include "fit/shots/shots.h"

/* Stages from..to-1 refine each shot by itself; then there is a joint stage, or the end. */
typedef struct db_segment {
    int from, to, joint; /* joint: the number of that stage; -1: none */
} db_segment;

/* The next segment that begins with a stage. */
db_segment db_segment_from(const db_shots *all, int stage);

/* Does a stage refine something shared? */
int db_stage_is_joint(const db_shots *all, int stage);

/* A db_objective_work; user: the db_segment. Does the stages that the shot has not done yet, keeps its
 * values, and puts the pixels of the joint stage into the spool; without one, draws conclusions. */
db_status db_segment_work(db_shots *all, db_context *context, size_t shot, void *user);

#endif
