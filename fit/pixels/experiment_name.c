/* The experiment of a configuration in its experiment list. */
#include "fit/pixels/experiment_name.h"

#include "base/context_internal.h"
#include "fit/config/listed_experiment.h"

#include <string.h>

db_status db_config_experiment(db_context *context, const db_fit_config *config, long *number,
                               char identifier[DB_IDENTIFIER_SIZE]) {
    const db_expt_selection selection = db_listed_experiment(config);
    db_experiment experiment;
    db_expt_content content;
    *number = -1;
    *identifier = '\0';
    if (!*config->expt_file) return DB_OK;
    DB_TRY(db_experiment_init(context, &experiment));
    const db_status status =
        db_read_expt(context, config->expt_file, &selection, &experiment, &content);
    if (status == DB_OK) *number = content.number;
    if (status == DB_OK) memcpy(identifier, content.identifier, sizeof content.identifier);
    db_expt_content_clear(&content);
    db_experiment_clear(&experiment);
    return status;
}

db_status db_config_keep_list(db_context *context, const db_fit_config *config, const char *path) {
    char identifier[DB_IDENTIFIER_SIZE];
    long number;
    DB_TRY(db_config_experiment(context, config, &number, identifier));
    return number < 0 ? DB_OK : db_expt_keep(context, path, config->expt_file, (size_t)number);
}
