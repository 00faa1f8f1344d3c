/* Files of curves in a text of kinds of sites, SITES=CURVE[,SITES=CURVE...] (db_setup.sites). */
#ifndef DB_FIT_CONFIG_CURVE_FILES_H
#define DB_FIT_CONFIG_CURVE_FILES_H

#include <dualbragg/fit_config.h>

/* Hands the name of each file to a function, which may change it. DB_ERROR_USAGE: the text has no room. */
db_status db_fit_each_curve_file(db_context *context, char sites[DB_FIT_PATH_SIZE],
                                 db_status (*each)(void *user, db_context *context,
                                                   char name[DB_FIT_PATH_SIZE]),
                                 void *user);

#endif
