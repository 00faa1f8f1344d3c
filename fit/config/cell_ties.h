/* The symmetry of a configuration, expanded to ties and fixed values of the cell. */
#ifndef DB_FIT_CONFIG_CELL_TIES_H
#define DB_FIT_CONFIG_CELL_TIES_H

#include <dualbragg/fit.h>

/* How far a starting cell may be from what its symmetry asks for: part of an edge, degree. */
#define DB_CELL_EDGE_TOLERANCE 0.01
#define DB_CELL_ANGLE_TOLERANCE 1.0

/* Makes the start's cell regular, with a notice if it was not, and the refined parameters those
 * that symmetry leaves free: cell parameters that equal another one follow it, fixed angles are no
 * longer refined. DB_ERROR_USAGE for a symmetry that is none; DB_ERROR_INPUT for a cell that
 * contradicts it by more than the tolerances. Without a symmetry nothing happens. */
db_status db_fit_tie_cell(db_context *context, db_fit_config *config, db_experiment *start,
                          void (*notices)(void *user, const char *line), void *user);

#endif
