/* Messages between processes in the stage of joint intensities, beside sums: rank 0 gets the measurements of all
 * shots and merges them; all processes get its results, those of a shot only the process that has the shot. */
#ifndef DB_FIT_INTENSITIES_MESSAGES_H
#define DB_FIT_INTENSITIES_MESSAGES_H

#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/restraint.h"
#include "fit/shots/shots.h"

/* Brings the measurements of all processes' shots to rank 0, one message for each shot; the other processes keep
 * none. */
db_status db_intensity_bring(db_shots *all, db_observations *observations);

/* Sends the merged intensities, without halves, and the error model of rank 0 to all processes; each also gets scales and
 * indexing of its shots. */
db_status db_intensity_share_start(db_shots *all, db_joint_intensities *result);

/* Sends the restraint of rank 0 to all processes: logarithms and powers may differ in the last bit on another
 * machine. */
db_status db_intensity_share_restraint(const db_shots *all, db_intensity_restraint *restraint,
                                       size_t reflections);

#endif
