/* Intensities of many shots on a common scale, and their mean. */
#ifndef DB_FIT_MERGE_SCALING_H
#define DB_FIT_MERGE_SCALING_H

#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/shot_scales.h"

/* Scales the shots in use, excludes some, rejects measurements, and merges the rest: all of them, and each half of
 * the shots by itself, with its own scales, so that the halves are independent. seed: of the halves. */
db_status db_scale_shots(db_context *context, const db_asu_list *list,
                         const db_scaling_options *options, uint64_t seed,
                         db_observations *observations, db_scaling *scaling, db_merged *merged);

/* Shells whose means describe the decrease of intensities with resolution. */
db_shells db_scaling_shells(const db_asu_list *list);

/* Means of intensities [list->count] (NAN: missing) over their epsilon; NAN in empty shells. */
void db_shell_means(const db_asu_list *list, const db_shells *shells, const double *intensity,
                    double mean[DB_MOST_SHELLS]);

/* Raises means to a small part of the largest, so that none is 0. */
void db_shell_means_raise(const db_shells *shells, double *mean);

/* Scales by the mean intensities of shells, without common reflections: sets `scale` of shots in use, excludes
 * shots without light. mean: [shells->count] receives the mean intensities of shells, 0 in empty ones. */
db_status db_scale_by_means(db_context *context, const db_asu_list *list,
                            const db_observations *observations, const db_shells *shells,
                            double *mean, db_scaling *scaling);

#endif
