/* Files that a configuration names. */
#ifndef DB_FIT_CONFIG_INPUT_FILES_H
#define DB_FIT_CONFIG_INPUT_FILES_H

#include <dualbragg/expert/fit_configurations.h>

/* The file alone of FILE#N, an image of many in a file. */
void db_fit_input_name(const char *key, const char *path, db_fit_input_function each, void *user);

#endif
