/* Messages between processes in the stage of joint intensities, beside sums: measurements of all shots go to rank 0,
 * which merges them; its results go to all, results of single shots to the process that has the shot. */
#ifndef DB_FIT_INTENSITIES_MESSAGES_H
#define DB_FIT_INTENSITIES_MESSAGES_H

#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/restraint.h"
#include "fit/shots/shots.h"

/* Rank 0 gets the measurements of all processes' shots, shot by shot; the other processes keep none. A message has
 * the measurements of one shot. */
db_status db_intensity_bring(db_shots *all, db_observations *observations);

/* All get the merged intensities and the error model that rank 0 has found; each the scales of its shots, and
 * how they are indexed. */
db_status db_intensity_share_start(db_shots *all, db_joint_intensities *result);

/* All get the restraint that rank 0 has worked out: logarithms and powers may differ in the last bit on another
 * machine. */
db_status db_intensity_share_restraint(const db_shots *all, db_intensity_restraint *restraint,
                                       size_t reflections);

/* Rank 0 gets the wavelength of the first shot in use, whose model a process has. All processes call it, with
 * or without joint intensities. */
db_status db_intensity_bring_wavelength(db_shots *all, const db_fit_shots_result *result);

#endif
