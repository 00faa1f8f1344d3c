/* What a shot does by itself: stages that refine nothing shared, and reading its pixels for a joint
 * one. */
#ifndef DB_FIT_OWN_STAGES_H
#define DB_FIT_OWN_STAGES_H

#include "fit/shots/joint_stages.h"

/* A db_shot_work; user: the db_segment. Runs the stages that the shot has not done yet, keeps its
 * values, and puts the pixels of the joint stage into the store; without a joint stage, estimates
 * errors and statistics. */
db_status db_segment_work(db_shots *all, db_context *context, size_t shot, void *user, double *sum);

/* A db_shot_work; user: a db_judgement. Marks a shot whose spots contradict what joint stages have found. */
db_status db_judge_work(db_shots *all, db_context *context, size_t shot, void *user, double *sum);

#endif
