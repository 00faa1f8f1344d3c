/* The lists of an experiment. */
#ifndef DB_MODEL_EXPERIMENT_LISTS_H
#define DB_MODEL_EXPERIMENT_LISTS_H

#include <dualbragg/experiment.h>

/* DB_ERROR_USAGE for a list that is NULL although it has elements. */
db_status db_experiment_need_lists(db_context *context, const db_experiment *experiment);

#endif
