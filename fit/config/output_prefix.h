/* What outputs of a refinement are named by. */
#ifndef DB_FIT_CONFIG_OUTPUT_PREFIX_H
#define DB_FIT_CONFIG_OUTPUT_PREFIX_H

#include <dualbragg/fit.h>

/* Completes the configuration's prefix where it is open, or a folder ("results/"): NAME_refined,
 * where NAME is that of the configuration's file without its ending. */
DB_API db_status db_fit_complete_output_prefix(db_context *context, db_fit_config *config);

#endif
