/* The experiment of a configuration in its experiment list. */
#include "fit/pixels/experiment_name.h"

#include "base/context_internal.h"
#include "fit/config/listed_experiment.h"

#include <string.h>

db_status db_config_experiment(db_context *context, const db_fit_config *config,
                               db_listed_name *name) {
    const db_expt_selection selection = db_listed_experiment(config);
    db_experiment experiment;
    db_expt_content content;
    *name = (db_listed_name){ -1, -1, "" };
    if (!*config->expt_file) return DB_OK;
    DB_TRY(db_experiment_init(context, &experiment));
    const db_status status =
        db_read_expt(context, config->expt_file, &selection, &experiment, &content);
    if (status == DB_OK) {
        name->number = content.number;
        name->frame = content.has_frame ? content.frame : -1;
        memcpy(name->identifier, content.identifier, sizeof content.identifier);
    }
    db_expt_content_clear(&content);
    db_experiment_clear(&experiment);
    return status;
}

db_status db_config_keep_list(db_context *context, const db_fit_config *config, const char *path) {
    db_listed_name name;
    DB_TRY(db_config_experiment(context, config, &name));
    return name.number < 0 ? DB_OK
                           : db_expt_keep(context, path, config->expt_file, (size_t)name.number);
}
