/* Stages of a refinement of many shots: some refine each shot by itself, joint ones refine shared quantities. */
#ifndef DB_FIT_SHOTS_JOINT_STAGES_H
#define DB_FIT_SHOTS_JOINT_STAGES_H

#include "fit/shots/shots.h"

/* Marks shared parameters, and parameters that follow one. */
void db_stages_mark_shared(db_shots *all);

/* The setting that a parameter goes with (db_fit_setting); -1: none. */
int db_setting_of(db_parameter parameter);

/* Sets default stages, also for joint intensities. series: 1: shots are frames of one crystal. by_pixels: 1: joint
 * stages compare only pixels, because shots share light: lattices of one image. */
void db_stages_default(db_context *context, db_fit_settings *settings, int series, int by_pixels);

/* Puts a stage of each shot's local quantities before a first stage that also refines shared ones. */
void db_stages_begin_alone(db_fit_settings *settings);

/* Can these stages be run for several shots? */
db_status db_stages_check(const db_shots *all);

/* Stages from..to-1 refine each shot by itself; a joint stage, or the end, follows. Where lattices of one image share no
 * quantity, the last stage is a segment of its own: it begins with the light that the stages before have found. */
typedef struct db_segment {
    int from, to, joint; /* joint: number of this stage; -1: none */
} db_segment;

/* The next segment, which begins with a stage. */
db_segment db_segment_from(const db_shots *all, int stage);

/* Do shots that are excluded up to the end of this stage begin once more? */
int db_stage_lets_begin_again(const db_shots *all, int stage);

/* First stage of the last segment. */
int db_stages_last_segment(const db_shots *all);

#endif
