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

/* Space group of lists that are written: the symmetry of the fit, else what the configuration's list states. */
static inline const char *db_listed_group(const db_fit_config *config) {
    return *config->symmetry ? config->symmetry : config->setup.stated.space_group;
}

/* An experiment of a list: its model, and further facts of the list. */
typedef struct db_listed {
    db_experiment experiment;
    db_expt_content content;
} db_listed;

/* Selects an experiment of any list; cleared on failure. */
db_status db_listed_select(db_context *context, const char *path,
                           const db_expt_selection *selection, db_listed *listed);

/* Reads the experiment of the configuration's list, which exists. */
db_status db_listed_read(db_context *context, const db_fit_config *config, db_listed *listed);
void db_listed_clear(db_listed *listed);

/* Name of an experiment in reflection tables. */
typedef struct db_listed_name {
    long number,
        frame;    /* number of the experiment, from 0, and of the image in its scan; -1: none */
    int is_other; /* 1: the experiment shows another image, and only its models are used */
    char identifier[sizeof((db_expt_content *)0)->identifier]; /* "" for another image */
} db_listed_name;

db_status db_config_experiment(db_context *context, const db_fit_config *config,
                               db_listed_name *name);

/* Keeps further facts of the configuration's list in the experiment list of the refined model. */
db_status db_config_keep_list(db_context *context, const db_fit_config *config, const char *path);

#endif
