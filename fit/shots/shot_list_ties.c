/* What symmetry leaves to be refined is the same for all shots. */
#include "base/context_internal.h"
#include "fit/shots/shot_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The parameters of a tied configuration, with what the common one says of them. Bounds of the tied
 * one are those of its shot. */
static db_status take_parameters(db_context *context, const db_fit_settings *tied,
                                 db_fit_config *common) {
    db_fit_settings *const settings = &common->settings;
    db_fit_config *const was = malloc(sizeof *was);
    if (!was) return db_fail_memory(context, "the parameters of all shots");
    *was = *common;
    settings->parameter_count = tied->parameter_count;
    for (size_t i = 0; i < tied->parameter_count; i++) {
        const int quantity = db_fit_quantity_of(&tied->parameters[i]);
        size_t k = 0;
        while (k < was->settings.parameter_count &&
               db_fit_quantity_of(&was->settings.parameters[k]) != quantity)
            k++;
        const int known = k < was->settings.parameter_count;
        settings->parameters[i] =
            known ? was->settings.parameters[k] : db_fit_parameter_free((db_parameter)quantity);
        settings->parameters[i].follows = tied->parameters[i].follows;
        common->range[i] = known ? was->range[k] : (double)NAN;
        common->refine_line[i] = known ? was->refine_line[k] : 0;
    }
    free(was);
    return DB_OK;
}

static db_status tie_by(db_context *context, const db_fit_shot_list *list, size_t shot,
                        db_fit_config *own, db_fit_config *config) {
    db_measured_image image;
    db_experiment start;
    DB_TRY(db_fit_shot_list_config(context, list, shot, own));
    own->settings.stage_count = config->settings.stage_count;
    memcpy(own->settings.stages, config->settings.stages, sizeof own->settings.stages);
    DB_TRY(db_fit_config_read_image(context, own, &image, NULL, NULL));
    const db_status status = db_fit_config_start(context, own, &image, &start, NULL, NULL);
    db_measured_image_clear(&image);
    DB_TRY(status);
    db_experiment_clear(&start);
    DB_TRY(take_parameters(context, &own->settings, config));
    for (size_t s = 0; s < config->settings.stage_count; s++)
        config->settings.stages[s] = own->settings.stages[s];
    return DB_OK;
}

db_status db_fit_shot_list_tie(db_context *context, const db_fit_shot_list *list,
                               db_fit_config *config) {
    if (!*config->symmetry) return DB_OK;
    db_fit_config *const own = malloc(sizeof *own);
    if (!own) return db_fail_memory(context, "the configuration of a shot");
    db_status status = DB_ERROR_INPUT;
    for (size_t s = 0; s < list->count && status != DB_OK; s++)
        status = tie_by(context, list, s, own, config);
    free(own);
    return status;
}
