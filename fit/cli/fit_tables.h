/* The tables that dualbragg fit prints. */
#ifndef DB_FIT_CLI_FIT_TABLES_H
#define DB_FIT_CLI_FIT_TABLES_H

#include "fit/cli/printout.h"

#include <dualbragg/fit.h>

/* Image, starting model, what is refined. */
void db_fit_say_start(db_fit_log *log, const db_fit_config *config, const db_measured_image *image,
                      const db_experiment *start);

/* Statistics before and after, parameters with errors, strong correlations. */
void db_fit_say_result(db_fit_log *log, const db_fit_config *config, const db_fit_result *result);

/* The refined cell, in one line. */
void db_fit_say_cell(db_fit_log *log, const db_fit_config *config, const db_fit_result *result);

#endif
