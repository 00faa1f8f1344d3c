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

/* Numbers the crystals that were indexed one by one: their frames, on a setting of the goniometer. crystal: [shots] */
static size_t number_crystals(const db_shots *all, size_t *crystal) {
    const size_t *const own = all->frames.setting[DB_FIT_SETTING_INDEXING],
                        ways = own ? all->frames.setting_count[DB_FIT_SETTING_INDEXING] : 1;
    for (size_t s = 0; s < all->count; s++)
        crystal[s] = ways * db_shots_crystal(all, s) + (own ? own[s] : 0);
    return ways * all->frames.crystals;
}

db_status db_joint_indexing_resolve(const db_shots *all, const db_asu_list *list,
                                    const double *reference, db_observations *observations,
                                    db_scaling *scaling, db_indexing_result *result,
                                    db_crystal_kinds *kinds) {
    db_indexing_options options = { .crystal = NULL };
    size_t *const crystal = malloc((all->count + 1) * sizeof *crystal);
    if (!crystal) return db_fail_memory(all->context, "the indexing of the shots");
    const size_t crystals = number_crystals(all, crystal);
    if (all->options->series) {
        options.crystal = crystal;
        options.crystals = crystals;
    }
    const db_status status = db_indexing_resolve(all->context, list, &options, reference,
                                                 observations, scaling, result, kinds);
    free(crystal);
    return status;
}

db_status db_joint_symmetry_check(const db_shots *all, const db_joint_intensities *merged) {
    db_indexing_options options = { .crystal = NULL };
    db_lower_symmetry lower;
    if (!all->settings.joint.reindex) return DB_OK;
    size_t *const crystal = malloc((all->count + 1) * sizeof *crystal);
    if (!crystal) return db_fail_memory(all->context, "the crystals of a series");
    options.crystals = number_crystals(all, crystal);
    options.crystal = crystal;
    db_status status =
        db_lower_symmetry_of_mates(all->context, &merged->list, &options, &merged->observations,
                                   merged->merged.intensity, &lower);
    if (status == DB_OK)
        status = db_lower_symmetry_refuse(all->context, &merged->list, "series", &lower);
    free(crystal);
    return status;
}
