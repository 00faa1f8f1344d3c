/* File names of a configuration: of its outputs, and of its data when it is written to another folder. */
#ifndef DB_FIT_CONFIG_CONFIG_MOVE_H
#define DB_FIT_CONFIG_CONFIG_MOVE_H

#include <dualbragg/fit.h>

/* Completes the prefix of outputs if it is open or a folder ("results/"): NAME_refined, where NAME is the
 * configuration's file without its ending. */
DB_API db_status db_fit_complete_output_prefix(db_context *context, db_fit_config *config);

/* Rewrites names of data for a configuration in the file `path`. */
db_status db_fit_config_move_names(db_context *context, const char *path, db_fit_config *config);

/* As db_fit_config_move_names; also names the experiment list PREFIX.expt, which is written beside PREFIX.yaml. */
db_status db_fit_config_move(db_context *context, const char *path, db_fit_config *config);

/* In the written model groups of panels are at their refined places: bounds and priors of their motions are
 * relative to these. found: by name, of some parameters of the settings. */
void db_fit_settings_count_from(const db_fit_estimates *found, db_fit_settings *settings);

#endif
