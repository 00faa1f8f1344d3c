/* Files that a configuration names. */
#ifndef DB_FIT_CONFIG_INPUT_FILES_H
#define DB_FIT_CONFIG_INPUT_FILES_H

#include <dualbragg/expert/fit_configurations.h>

/* Hands the configuration's own file and every file that it names as an input to a function, with its key. known:
 * files that this configuration has under the same key are left out; NULL: none. */
void db_fit_config_each_input(const db_fit_config *config, const db_fit_config *known,
                              db_fit_input_function each, void *user);

/* The file alone of FILE#N, an image of many in a file. */
void db_fit_input_name(const char *key, const char *path, db_fit_input_function each, void *user);

#endif
