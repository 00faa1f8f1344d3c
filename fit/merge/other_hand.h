/* Shots of the other hand, by their Bijvoet differences. */
#ifndef DB_FIT_MERGE_OTHER_HAND_H
#define DB_FIT_MERGE_OTHER_HAND_H

#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/shot_scales.h"

/* Sets shots aside whose Bijvoet differences are surely those of the other hand than most have, and
 * counts them; of a list without mates none. mean: of each shell. */
db_status db_find_other_hands(db_context *context, const db_asu_list *list, const db_shells *shells,
                              const double *mean, const db_observations *observations,
                              db_scaling *scaling, size_t *found);

#endif
