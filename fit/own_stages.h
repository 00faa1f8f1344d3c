/* Own stages of a shot, without shared parameters, and its pixels for a joint stage. */
#ifndef DB_FIT_OWN_STAGES_H
#define DB_FIT_OWN_STAGES_H

#include "fit/shots/joint_stages.h"
#include "fit/verdict/verdict.h"

/* Work on a shot (db_shot_work); user: the db_segment. Runs its remaining stages, keeps its values, and puts the
 * pixels of the joint stage into the store; without a joint stage, estimates errors and statistics. */
db_status db_segment_work(db_shots *all, db_context *context, size_t shot, void *user, double *sum);

/* How shots are judged after a joint stage. panels: what they ask for of panels; without equations: nothing. lists_parts: 1:
 * frames also list the reflections that they show by the model that the stage has found. */
typedef struct db_judging {
    db_judgement how;
    int lists_parts;
    db_panel_equations panels;
} db_judging;

/* Work on a shot (db_shot_work); user: a db_judging. Marks a shot whose spots contradict the result of joint
 * stages. sum: gets its equations of displaced panels. */
db_status db_judge_work(db_shots *all, db_context *context, size_t shot, void *user, double *sum);

#endif
