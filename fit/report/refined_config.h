/* The refined experiment in the terms of a configuration. */
#ifndef DB_FIT_REPORT_REFINED_CONFIG_H
#define DB_FIT_REPORT_REFINED_CONFIG_H

#include <dualbragg/fit.h>

/* *refined: *config with the experiment as its starting model, every number given, nothing left to
 * an image header or a matrix file; without an output prefix. It describes the same experiment to
 * rounding. Borrows from *config. */
db_status db_fit_refined_config(db_context *context, const db_fit_config *config,
                                const db_experiment *experiment, db_fit_config *refined);

#endif
