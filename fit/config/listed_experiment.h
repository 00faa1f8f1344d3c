/* Which experiment of its list a configuration is about. */
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

#endif
