/* Intensities of many shots on one scale, and their mean. */
#ifndef DB_FIT_MERGE_SCALING_H
#define DB_FIT_MERGE_SCALING_H

#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/shot_scales.h"

/* Scales the shots that have not been excluded, excludes more, marks measurements as rejected,
 * and merges the others: all of them, and each half of the shots by itself, with scales of its
 * own, so that nothing of one half is known in the other. seed: of the halves. */
db_status db_scale_shots(db_context *context, const db_asu_list *list,
                         const db_scaling_options *options, uint64_t seed,
                         db_observations *observations, db_scaling *scaling, db_merged *merged);

/* Shells whose means tell how intensities fall with resolution. */
db_shells db_scaling_shells(const db_asu_list *list);

/* Scales by the mean intensity of each shell of resolution alone, which needs no reflection in
 * common: sets `scale` of shots that are not excluded, excludes those without light. mean:
 * [shells->count] receives the mean intensity of shells, 0 in empty ones. */
db_status db_scale_by_means(db_context *context, const db_asu_list *list,
                            const db_observations *observations, const db_shells *shells,
                            double *mean, db_scaling *scaling);

#endif
