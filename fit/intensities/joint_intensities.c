/* Freeing of joint intensities. */
#include "fit/intensities/joint_intensities.h"

#include <stdlib.h>

void db_joint_intensities_destroy(db_joint_intensities **intensities) {
    if (!intensities || !*intensities) return;
    db_asu_list_clear(&(*intensities)->list);
    db_merged_clear(&(*intensities)->merged);
    db_scaling_clear(&(*intensities)->scaling);
    db_indexing_result_clear(&(*intensities)->indexing);
    db_observations_clear(&(*intensities)->observations);
    db_smooth_scales_clear(&(*intensities)->smooth);
    free((*intensities)->reference);
    free(*intensities);
    *intensities = NULL;
}
