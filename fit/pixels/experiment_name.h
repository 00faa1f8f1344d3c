/* How reflection tables name the experiment of a configuration. */
#ifndef DB_FIT_PIXELS_EXPERIMENT_NAME_H
#define DB_FIT_PIXELS_EXPERIMENT_NAME_H

#include <dualbragg/fit.h>
#include <dualbragg/io.h>

enum { DB_IDENTIFIER_SIZE = sizeof((db_expt_content *)0)->identifier };

/* Number and identifier of the configuration's experiment in its list; -1 and "": there is no list. */
db_status db_config_experiment(db_context *context, const db_fit_config *config, long *number,
                               char identifier[DB_IDENTIFIER_SIZE]);

/* An experiment list of a refined model keeps what the configuration's list says beside the model. */
db_status db_config_keep_list(db_context *context, const db_fit_config *config, const char *path);

#endif
