/* File names of a configuration that is written elsewhere. */
#ifndef DB_FIT_CONFIG_CONFIG_MOVE_H
#define DB_FIT_CONFIG_CONFIG_MOVE_H

#include <dualbragg/fit.h>

/* Names of data as the file at `path` must give them. */
db_status db_fit_config_move_names(db_context *context, const char *path, db_fit_config *config);

/* The same; and the experiment list is named PREFIX.expt, as the one written beside PREFIX.yaml. */
db_status db_fit_config_move(db_context *context, const char *path, db_fit_config *config);

/* The written model has groups of panels where they were moved to: bounds and priors of their
 * motions count from there. found: by name, of some of the settings' parameters. */
void db_fit_settings_count_from(const db_fit_estimates *found, db_fit_settings *settings);

#endif
