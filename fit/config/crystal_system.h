/* What symmetry leaves free of a unit cell. */
#ifndef DB_FIT_CONFIG_CRYSTAL_SYSTEM_H
#define DB_FIT_CONFIG_CRYSTAL_SYSTEM_H

#include <dualbragg/fit.h>

/* Of a, b, c, alpha, beta, gamma: which other one each equals (-1: none), and at what angle it is
 * fixed (degree; 0: not). */
typedef struct db_cell_ties {
    const char *name; /* "tetragonal", "monoclinic, unique axis b" ... */
    int follows[6];
    double fixed[6];
} db_cell_ties;

/* The ties of a symmetry: a crystal system ("trigonal"), a lattice symbol ("hP"), the number of a
 * space group or its Hermann-Mauguin symbol, with or without spaces. Where axes may be chosen in
 * several ways (unique axis of monoclinic lattices, rhombohedral or hexagonal axes), the symbol
 * says, or else the cell does. NULL: the text is none of these. */
const db_cell_ties *db_cell_ties_of(const char *symmetry, const double cell[6]);

/* The cell nearest to another that keeps the ties: edges that are equal become their mean, and so
 * do angles. *worst_edge (relative) and *worst_angle (degree): the largest change. */
void db_cell_regularize(const db_cell_ties *ties, double cell[6], double *worst_edge,
                        double *worst_angle);

/* The symmetry of a configuration, expanded to ties and fixed values of the cell. */

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
