/* The stages of a refinement of many shots: some refine each shot by itself, the joint ones refine
 * what shots share. */
#ifndef DB_FIT_SHOTS_JOINT_STAGES_H
#define DB_FIT_SHOTS_JOINT_STAGES_H

#include "fit/shots/shots.h"

/* Marks the shared parameters, and those that follow one. */
void db_stages_mark_shared(db_shots *all);

/* The usual ones, of intensities that shots share, too. series: 1: shots are frames of one crystal. by_pixels: 1: joint stages compare pixels alone, since shots
 * share light: lattices of one image. */
void db_stages_default(db_context *context, db_fit_settings *settings, int series, int by_pixels);

/* Can these stages be run for several shots? */
db_status db_stages_check(const db_shots *all);

/* Stages from..to-1 refine each shot by itself; then there is a joint stage, or the end. */
typedef struct db_segment {
    int from, to, joint; /* joint: the number of that stage; -1: none */
} db_segment;

/* The next segment that begins with a stage. */
db_segment db_segment_from(const db_shots *all, int stage);

/* Where the last segment begins. */
int db_stages_last_segment(const db_shots *all);

#endif
