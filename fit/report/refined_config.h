/* The refined experiment as a configuration. */
#ifndef DB_FIT_REPORT_REFINED_CONFIG_H
#define DB_FIT_REPORT_REFINED_CONFIG_H

#include <dualbragg/fit.h>
#include <stdio.h>

/* *refined: *config with the experiment as its starting model: all numbers are given, none left to an image header
 * or a matrix file; without an output prefix. It describes the same experiment up to rounding. Borrows from
 * *config. */
db_status db_fit_refined_config(db_context *context, const db_fit_config *config,
                                const db_experiment *experiment, db_fit_config *refined);

/* Comments at the top of a written configuration. */
typedef void (*db_config_heading)(FILE *stream, const void *of);

/* Writes a configuration after its heading. */
db_status db_config_write(db_context *context, const char *path, const db_fit_config *config,
                          db_config_heading heading, const void *of);

/* Writes the refined configuration of a shot, with names as `path` requires. */
db_status db_refined_config_write(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_result *found,
                                  db_config_heading heading, const void *of);

#endif
