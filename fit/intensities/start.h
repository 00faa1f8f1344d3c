/* Start of the search for joint intensities. */
#ifndef DB_FIT_INTENSITIES_START_H
#define DB_FIT_INTENSITIES_START_H

#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/records.h"
#include "fit/intensities/restraint.h"

/* Scales shots by the records of the first pass, in which all intensities are 0; excludes shots that have nothing
 * in common with the others; merges the others to starting intensities, value, [reflections]. result: receives
 * scaling, indexing, kinds and agreement; without further passes also the merged intensities. */
db_status db_intensity_start(db_intensity_pass *pass, db_intensity_records *records,
                             db_intensity_restraint *restraint, db_joint_intensities *result,
                             double *value);

#endif
