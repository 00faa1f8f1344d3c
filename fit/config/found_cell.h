/* A cell that was not given, but found. */
#ifndef DB_FIT_CONFIG_FOUND_CELL_H
#define DB_FIT_CONFIG_FOUND_CELL_H

#include <dualbragg/expert/fit_cell.h>
#include <dualbragg/fit.h>

/* Does a configuration that looks for orientations say nothing of the cell? Its experiment list may. */
int db_cell_is_sought(const db_fit_config *config);

/* The configuration keeps a copy. */
db_status db_found_cell_keep(db_context *context, const db_fit_found_cell *cell,
                             db_fit_config *config);

/* The model gets the cell, and its lattice as symmetry unless one was named. */
db_status db_found_cell_take(db_context *context, const db_fit_found_cell *cell,
                             db_fit_config *config);

/* Tells that it was found, and what else it may be. */
void db_found_cell_say(const db_fit_found_cell *cell, void (*notices)(void *user, const char *line),
                       void *user);

#endif
