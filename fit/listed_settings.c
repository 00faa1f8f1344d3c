/* Settings of a list of shots, before they are refined. */
#include "base/context_internal.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"
#include "fit/lists/shot_list.h"
#include "fit/shots/joint_stages.h"

#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/fit_configurations.h>
#include <math.h>
#include <stdlib.h>

/* Reads amplitudes for comparison with joint intensities, or for their restraint. */
static db_status read_reference(db_context *context, db_fit_shot_list *list) {
    db_fit_config *const c = &list->config;
    const db_structure_factor_options options = { .columns = *c->reference_columns
                                                                 ? c->reference_columns
                                                                 : NULL };
    if (!*c->reference_file || list->reference.amplitude) return DB_OK;
    list->reference.default_F = NAN;
    DB_TRY(
        db_read_structure_factors(context, c->reference_file, &options, &list->reference, NULL, 0));
    c->settings.joint.reference = &list->reference;
    return DB_OK;
}

/* Does any image have several lattices? */
static int images_are_shared(const db_fit_shot_list *list) {
    int shared = 0;
    for (size_t i = 0; i < list->count; i++) shared |= list->entry[i].image != i;
    return shared;
}

/* Modes that were to be earned are not refined of lattices of one image: they are earned by moments, and joint stages
 * of lattices compare pixels, whose likelihood takes all 27 components, however far from 0. */
static void leave_out_modes(db_fit_settings *settings) {
    size_t kept = 0;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (!p->earned || db_mode_of(p->parameter) == DB_SPREAD_MODES)
            settings->parameters[kept++] = *p;
    }
    settings->parameter_count = kept;
}

db_status db_fit_shot_list_complete(db_context *context, db_fit_shot_list *list,
                                    db_fit_config *config) {
    db_fit_settings *const settings = &config->settings;
    DB_TRY(read_reference(context, list));
    DB_TRY(db_fit_config_copy(context, &list->config, config));
    const db_status tied = db_shot_list_tie(context, list, config);
    /* with named parameters the refinement reports why no shot can be read */
    if (tied != DB_OK && settings->parameter_count == 0) return tied;
    const int lattices = images_are_shared(list);
    if (lattices) leave_out_modes(settings);
    if (settings->stage_count == 0) db_stages_default(context, settings, config->series, lattices);
    if (settings->starts.count > 1) db_stages_begin_alone(settings); /* shots try them alone */
    return DB_OK;
}
