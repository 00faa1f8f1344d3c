/* Files that a configuration names. */
#ifndef DB_FIT_CONFIG_INPUT_FILES_H
#define DB_FIT_CONFIG_INPUT_FILES_H

#include <dualbragg/fit_config.h>
#include <dualbragg/expert/site_curves.h>
#include <dualbragg/expert/fit_configurations.h>

/* The file alone of FILE#N, an image of many in a file. */
void db_fit_input_name(const char *key, const char *path, db_fit_input_function each, void *user);

/* Files of curves in a text of kinds of sites (db_setup.sites). */

/* Writes kinds as a text. DB_ERROR_USAGE: it has no room. */
db_status db_fit_write_sites(db_context *context, const db_setup_sites *kinds,
                             char sites[DB_FIT_PATH_SIZE]);

/* Hands the name of each file to a function, which may change it. DB_ERROR_USAGE: the text is none of kinds, or has no
 * room. */
db_status db_fit_each_curve_file(db_context *context, char sites[DB_FIT_PATH_SIZE],
                                 db_status (*each)(void *user, db_context *context,
                                                   char name[DB_FIT_PATH_SIZE]),
                                 void *user);

#endif
