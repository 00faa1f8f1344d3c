/* How reflection tables name the experiment of a configuration. */
#ifndef DB_FIT_PIXELS_EXPERIMENT_NAME_H
#define DB_FIT_PIXELS_EXPERIMENT_NAME_H

#include <dualbragg/fit.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>

/* What the configuration's experiment list says of it. */
typedef struct db_listed_name {
    long number, frame; /* of the experiment, from 0, and of the image in its scan; -1: none */
    char identifier[sizeof((db_expt_content *)0)->identifier];
} db_listed_name;

db_status db_config_experiment(db_context *context, const db_fit_config *config,
                               db_listed_name *name);

/* An experiment list of a refined model keeps what the configuration's list says beside the model. */
db_status db_config_keep_list(db_context *context, const db_fit_config *config, const char *path);

#endif
