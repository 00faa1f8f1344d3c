/* The list of reflections that a configuration names. */
#include "base/context_internal.h"

#include <dualbragg/fit.h>
#include <dualbragg/io.h>
#include <string.h>

/* Number of the configuration's experiment in its list; -1: it has none. */
static db_status experiment_number(db_context *context, const db_fit_config *config, int *number) {
    const db_expt_selection selection = { config->setup.expt_number, config->image_file };
    db_experiment experiment;
    db_expt_content content;
    *number = -1;
    if (!*config->expt_file) return DB_OK;
    DB_TRY(db_experiment_init(context, &experiment));
    const db_status status =
        db_read_expt(context, config->expt_file, &selection, &experiment, &content);
    if (status == DB_OK) *number = (int)content.number;
    db_expt_content_clear(&content);
    db_experiment_clear(&experiment);
    return status;
}

db_status db_fit_config_read_spots(db_context *context, const db_fit_config *config,
                                   db_fit_spots *spots) {
    const db_fit_listing listing = *config->box_file    ? DB_FIT_LISTED_BY_BOX
                                   : *config->spot_file ? DB_FIT_LISTED_BY_POSITION
                                                        : DB_FIT_LISTED_BY_INDEX;
    const char *const list = listing == DB_FIT_LISTED_BY_BOX        ? config->box_file
                             : listing == DB_FIT_LISTED_BY_POSITION ? config->spot_file
                                                                    : config->reflection_file;
    int experiment;
    memset(spots, 0, sizeof *spots);
    if (!*list) return DB_OK;
    DB_TRY(experiment_number(context, config, &experiment));
    return db_fit_spots_read(context, list, listing, experiment, spots);
}
