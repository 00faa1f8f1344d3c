/* A cell that was found, because the configuration gave none. */
#ifndef DB_FIT_CONFIG_FOUND_CELL_H
#define DB_FIT_CONFIG_FOUND_CELL_H

#include <dualbragg/expert/fit_cell.h>
#include <dualbragg/fit.h>

/* Does a configuration that searches for orientations leave the cell open? Its experiment list may have it. */
int db_cell_is_sought(const db_fit_config *config);

/* Keeps a copy in the configuration. */
db_status db_found_cell_keep(db_context *context, const db_fit_found_cell *cell,
                             db_fit_config *config);

/* Gives the model the cell, and its lattice as symmetry unless a symmetry was named. */
db_status db_found_cell_take(db_context *context, const db_fit_found_cell *cell,
                             db_fit_config *config);

/* Reports the found cell, and other possible lattices. */
void db_found_cell_say(const db_fit_found_cell *cell, db_notice_function notices, void *user);

#endif
