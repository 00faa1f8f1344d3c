/* The experiment of a configuration in its experiment list. */
#ifndef DB_FIT_CONFIG_LISTED_EXPERIMENT_H
#define DB_FIT_CONFIG_LISTED_EXPERIMENT_H

#include <dualbragg/fit.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>

static inline db_expt_selection db_listed_experiment(const db_fit_config *config) {
    return (db_expt_selection){ config->setup.expt_number,
                                *config->image_file ? config->image_file : NULL,
                                config->setup.expt_frame };
}

/* What a list says of an experiment: its model, and what stands beside that. */
typedef struct db_listed {
    db_experiment experiment;
    db_expt_content content;
} db_listed;

/* Of any list; cleared on failure. */
db_status db_listed_select(db_context *context, const char *path,
                           const db_expt_selection *selection, db_listed *listed);

/* Of the configuration's, which is there. */
db_status db_listed_read(db_context *context, const db_fit_config *config, db_listed *listed);
void db_listed_clear(db_listed *listed);

/* How reflection tables name it. */
typedef struct db_listed_name {
    long number, frame; /* of the experiment, from 0, and of the image in its scan; -1: none */
    int is_other;       /* 1: it shows another image, and lends models to this one */
    char identifier[sizeof((db_expt_content *)0)->identifier]; /* "" of another image */
} db_listed_name;

db_status db_config_experiment(db_context *context, const db_fit_config *config,
                               db_listed_name *name);

/* An experiment list of a refined model keeps what the configuration's list says beside the model. */
db_status db_config_keep_list(db_context *context, const db_fit_config *config, const char *path);

#endif
