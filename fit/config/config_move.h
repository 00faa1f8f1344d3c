/* Names of the files that a configuration is about: outputs, and all of one that is written elsewhere. */
#ifndef DB_FIT_CONFIG_CONFIG_MOVE_H
#define DB_FIT_CONFIG_CONFIG_MOVE_H

#include <dualbragg/fit.h>

/* Completes the configuration's prefix of outputs where it is open, or a folder ("results/"):
 * NAME_refined, where NAME is that of the configuration's file without its ending. */
DB_API db_status db_fit_complete_output_prefix(db_context *context, db_fit_config *config);

/* Names of data as the file at `path` must give them. */
db_status db_fit_config_move_names(db_context *context, const char *path, db_fit_config *config);

/* The same; and the experiment list is named PREFIX.expt, as the one written beside PREFIX.yaml. */
db_status db_fit_config_move(db_context *context, const char *path, db_fit_config *config);

/* The written model has groups of panels where they were moved to: bounds and priors of their
 * motions count from there. found: by name, of some of the settings' parameters. */
void db_fit_settings_count_from(const db_fit_estimates *found, db_fit_settings *settings);

#endif
