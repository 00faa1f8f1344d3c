/* Joint intensities are freed. */
#include "fit/intensities/joint_intensities.h"

#include <stdlib.h>

void db_joint_intensities_destroy(db_joint_intensities **amplitudes) {
    if (!amplitudes || !*amplitudes) return;
    db_asu_list_clear(&(*amplitudes)->list);
    db_merged_clear(&(*amplitudes)->merged);
    db_scaling_clear(&(*amplitudes)->scaling);
    db_indexing_result_clear(&(*amplitudes)->indexing);
    db_observations_clear(&(*amplitudes)->observations);
    free((*amplitudes)->reference);
    free(*amplitudes);
    *amplitudes = NULL;
}
