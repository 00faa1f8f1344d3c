/* The experiment of a configuration in its experiment list. */
#include "fit/config/listed_experiment.h"

#include "base/context_internal.h"

#include <string.h>

db_status db_listed_select(db_context *context, const char *path,
                           const db_expt_selection *selection, db_listed *listed) {
    DB_TRY(db_experiment_init(context, &listed->experiment));
    const db_status status =
        db_read_expt(context, path, selection, &listed->experiment, &listed->content);
    if (status != DB_OK) db_listed_clear(listed);
    return status;
}

db_status db_listed_read(db_context *context, const db_fit_config *config, db_listed *listed) {
    const db_expt_selection selection = db_listed_experiment(config);
    return db_listed_select(context, config->expt_file, &selection, listed);
}

void db_listed_clear(db_listed *listed) {
    db_expt_content_clear(&listed->content);
    db_experiment_clear(&listed->experiment);
}

db_status db_config_experiment(db_context *context, const db_fit_config *config,
                               db_listed_name *name) {
    db_listed listed;
    *name = (db_listed_name){ -1, -1, 0, "" };
    if (!*config->expt_file) return DB_OK;
    DB_TRY(db_listed_read(context, config, &listed));
    name->number = listed.content.number;
    name->is_other = *listed.content.other_image != '\0';
    name->frame = listed.content.has_frame && !name->is_other ? listed.content.frame : -1;
    if (!name->is_other)
        memcpy(name->identifier, listed.content.identifier, sizeof name->identifier);
    db_listed_clear(&listed);
    return DB_OK;
}

db_status db_config_keep_list(db_context *context, const db_fit_config *config, const char *path) {
    db_listed_name name;
    DB_TRY(db_config_experiment(context, config, &name));
    return name.number < 0
               ? DB_OK
               : db_expt_keep(context, path, config->expt_file, (size_t)name.number, name.is_other);
}
