/* A lattice that is not as symmetric as its cell is held to be. */
#ifndef DB_FIT_VERDICT_STRAINED_LATTICE_H
#define DB_FIT_VERDICT_STRAINED_LATTICE_H

#include "fit/objective/stage_data.h"

/* If intensities are free: asks the places and widths of spots for the constants of the cell that are held, and widens errors
 * by what these would change (docs/theory/refinement.md, Errors). taken: the pixels of the result, weighted by it. */
db_status db_strained_lattice_widen(db_context *context, const db_fit_data *data,
                                    const db_stage_data *taken, const db_objective *refined,
                                    db_fit_result *result);

#endif
