/* Errors of partialities, from the scatter of symmetry mates on one image (docs/theory/refinement.md, Intensities). */
#ifndef DB_FIT_OBJECTIVE_MATES_H
#define DB_FIT_OBJECTIVE_MATES_H

#include <dualbragg/fit.h>

/* Estimates the error of partialities, and adds it to square_sigma of all reflections. symmetry: of the settings, a space
 * group, lattice or crystal system; "": Friedel mates alone. */
db_status db_mates_widen(db_context *context, const char *symmetry, const double cell[6],
                         db_fit_reflection *list, size_t count, db_fit_mates *mates);

#endif
