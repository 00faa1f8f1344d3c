/* What is refined where a configuration leaves that open (no section refine): all that one image can
 * determine, spots in closed form. */
#ifndef DB_FIT_CONFIG_AUTOMATIC_H
#define DB_FIT_CONFIG_AUTOMATIC_H

#include <dualbragg/fit.h>

/* Adds the parameters to the settings, and completes what the start says of the crystal's blocks and
 * spreads. */
db_status db_fit_choose_parameters(db_context *context, db_fit_config *config,
                                   db_experiment *start);

#endif
