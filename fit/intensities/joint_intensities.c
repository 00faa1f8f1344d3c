/* Joint intensities: the indexing of their shots, and freeing. */
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

db_status db_joint_indexing_resolve(const db_shots *all, const db_asu_list *list,
                                    const double *reference, db_observations *observations,
                                    db_scaling *scaling, db_indexing_result *result,
                                    db_crystal_kinds *kinds) {
    db_indexing_options options = { .crystal = NULL };
    size_t *const crystal = malloc((all->count + 1) * sizeof *crystal);
    if (!crystal) return db_fail_memory(all->context, "the indexing of the shots");
    const size_t *const own = all->frames.setting[DB_FIT_SETTING_INDEXING],
                        ways = own ? all->frames.setting_count[DB_FIT_SETTING_INDEXING] : 1;
    for (size_t s = 0; s < all->count; s++)
        crystal[s] = ways * db_shots_crystal(all, s) + (own ? own[s] : 0);
    if (all->options->series) {
        options.crystal = crystal;
        options.crystals = ways * all->frames.crystals;
    }
    const db_status status = db_indexing_resolve(all->context, list, &options, reference,
                                                 observations, scaling, result, kinds);
    free(crystal);
    return status;
}
