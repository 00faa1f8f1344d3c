/* dualbragg fit with many shots: shots.list of the configuration. */
#ifndef DB_FIT_CLI_MANY_SHOTS_H
#define DB_FIT_CLI_MANY_SHOTS_H

#include "fit/cli/fit_options.h"

/* Refines, prints, writes; reports errors itself. */
db_status db_fit_many_shots(db_context *context, const db_fit_options *options,
                            const db_fit_config *config);

#endif
