/* Free constants of a unit cell with a symmetry. */
#ifndef DB_FIT_CONFIG_CRYSTAL_SYSTEM_H
#define DB_FIT_CONFIG_CRYSTAL_SYSTEM_H

#include <dualbragg/fit.h>

/* For a, b, c, alpha, beta, gamma: the constant that each equals (-1: none), and its fixed angle (degree; 0:
 * free). */
typedef struct db_cell_ties {
    const char *name;  /* "tetragonal", "monoclinic, unique axis b" ... */
    const char *group; /* space group whose rotations all groups of this system have */
    int follows[6];
    double fixed[6];
} db_cell_ties;

/* Ties of a symmetry: a crystal system ("trigonal"), a lattice symbol ("hP"), the number of a space group or its
 * Hermann-Mauguin symbol, with or without spaces. If there are several choices of axes (unique axis of monoclinic
 * lattices, rhombohedral or hexagonal axes), the symbol decides, or else the cell. NULL: the text is none of
 * these. */
const db_cell_ties *db_cell_ties_of(const char *symmetry, const double cell[6]);

/* Letter of the lattice that a symmetry names, whatever its case: of a lattice symbol ("oC") or of a Hermann-Mauguin symbol
 * ("c 2 2 21"); "H 3" of the PDB is R in hexagonal axes. 0: a crystal system or a number, or none of these. */
int db_lattice_letter(const char *symmetry);

/* The nearest cell that keeps the ties: equal edges become their mean, and so do equal angles. *worst_edge
 * (relative) and *worst_angle (degree): the largest change. */
void db_cell_regularize(const db_cell_ties *ties, double cell[6], double *worst_edge,
                        double *worst_angle);

/* Does a centring forbid a reflection (International Tables A, 2.1.3)? A, B, C, I, F; in hexagonal axes R (obverse) and r
 * (reverse). No other letter forbids any. */
int db_centring_forbids(int centring, const int hkl[3]);

/* Nodes of a cell for each one that a centring (A, B, C, I, F, R; r: reverse) allows. */
int db_centring_nodes(int centring);

/* The centring of a cell of a named lattice: its letter, or 'P' for R in rhombohedral axes. 0: none is named. */
int db_centring_of_cell(int centring, const double cell[6]);

/* The symmetry of a configuration, expanded to ties and fixed values of the cell. */

/* Largest difference of a starting cell from its symmetry: fraction of an edge, degree. */
#define DB_CELL_EDGE_TOLERANCE 0.01
#define DB_CELL_ANGLE_TOLERANCE 1.0

/* Makes the start's cell regular, with a notice if it was not, and keeps the refined parameters that symmetry
 * leaves free: cell parameters that equal another one follow it, fixed angles are no longer refined.
 * DB_ERROR_USAGE for an unknown symmetry; DB_ERROR_INPUT for a cell that contradicts it by more than the
 * tolerances. Without a symmetry nothing happens. */
db_status db_fit_tie_cell(db_context *context, db_fit_config *config, db_experiment *start,
                          db_notice_function notices, void *user);

#endif
