/* Intensities that frames of a series share in a joint stage: one for the parts of a reflection on frames
 * in a row. For given values of the unknowns they are at their best, and eliminated from what the frames
 * say of the unknowns (docs/theory/refinement.md, Rotation series). The frames are rendered with those
 * with which the stage began, and rank 0 gathers a linearization of each (fit/linear/linearization.h), which tells what
 * there is at any others: an evaluation depends on the unknowns alone, not on those before it. */
#ifndef DB_FIT_SHOTS_SERIES_H
#define DB_FIT_SHOTS_SERIES_H

#include "fit/shots/links.h"
#include "fit/shots/shot_fit.h"
#include "fit/shots/shots.h"

#include <dualbragg/fit_run.h>

/* Numbers the reflections of the frames in use, whose pixels are in the store, in all->series; degrees of
 * freedom of the frames then count common intensities. only_light: 1: only numbers them, to compare their light: another
 * stage has found the intensities. All processes must call this function. */
db_status db_series_begin(db_shots *all, const db_joint_links *links, int stage, int only_light);
void db_series_end(db_shots *all);

/* Finds the intensities with which frames are rendered in a stage that begins at values of the unknowns. */
db_status db_series_start(db_shots *all, const double *unknown);

/* Before an evaluation: brings them nearer to their best where chi2 is not quadratic in them. */
db_status db_series_approach(db_shots *all, const double *unknown);

/* At the minimum: finds the best intensities, and the intensities of the starting models. */
db_status db_series_solve(db_shots *all, const double *unknown);

/* Gives the boxes of a shot's objective their intensities: of the starting models (at_start), or the present ones. */
void db_series_give(const db_shots *all, size_t shot, int at_start, db_objective *objective);

/* Keeps what the boxes of an open shot say, as evaluated. By any thread. */
db_status db_series_note(const db_shots *all, db_context *context, size_t shot,
                         const db_open_shot *open);

/* Adds what all frames say, which have been noted, to sums (db_schur_sums_size) by the unknowns, with the
 * intensities eliminated; all processes get them. pulls: two such sums, or NULL: get the products of half
 * the gradients of the frames, by where reflections begin, and of reflections. */
db_status db_series_sum(db_shots *all, double *sums, double *const pulls[2]);

/* Then brings the targets of this process' frames from the intensities of the rendering to those that were found, and to the
 * scales that frames ask for, if scales wait for a later stage. */
void db_series_correct_targets(db_shots *all);

size_t db_series_reflections(const db_shots *all);

/* At the minimum, with the intensities that were found: keeps what the boxes of an open shot show, as evaluated. By any
 * thread. */
db_status db_series_note_light(const db_shots *all, db_context *context, size_t shot,
                               db_open_shot *open);

/* Brings the light of all frames to rank 0 and compares it with the models': db_shot_summary.light. All processes call
 * it. */
db_status db_series_compare_light(db_shots *all);

/* May intensities that shots share be used, by the light of all shots, which rank 0 knows? All processes call it. */
db_status db_intensities_judge(const db_shots *all, db_fit_shots_result *result);

/* What part of its light the model explains; NAN: it has none, or is not known. */
double db_light_explained(const db_frame_light *light);

/* The frames about one, it itself, then those before and after it in turn; 0: there is none of this number in use. */
int db_series_near(const db_shots *all, size_t frame, size_t n, size_t *near);

/* Which frames does the model leave without most of their light? Marks them as wrong; on rank 0. */
void db_series_judge_light(db_shots *all);

/* Then lists what all frames show of each reflection, on rank 0. All processes call it. */
db_status db_series_passages(db_shots *all, db_fit_shots_result *result);
/* Leaves out passages with a frame that was excluded since: neither its pixels nor its model count any more. */
void db_series_drop_passages(const db_shots *all, db_fit_shots_result *result);

/* Numbers the sweeps of the frames in use, in all->frames.sweep. All processes call it. */
db_status db_sweeps_find(db_shots *all);

/* At the minimum of the last stage, whose frames have been noted and gathered: all->frames.turns says in words what turns of
 * frames are likelier than those of the model (docs/theory/verdict.md, Turns of a series); "": none. All processes call it. */
db_status db_series_judge_turns(db_shots *all, const db_joint_minimum *at);

/* Then, with the light of frames: the same of frames that meet, though their widths are not their steps. All processes call
 * it. */
db_status db_series_judge_width(db_shots *all);

#endif
