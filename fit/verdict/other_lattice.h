/* Spots that a model leaves: are they another crystal's? */
#ifndef DB_FIT_VERDICT_OTHER_LATTICE_H
#define DB_FIT_VERDICT_OTHER_LATTICE_H

#include "fit/verdict/evidence.h"

/* Counts the spots that lie at no reflection of a model, and looks among them, if they are many, for
 * another lattice of the same cell. They are all that is left of the spots. evidence: of all of them. Fills
 * result->all_spots, left_spots and other_lattice. */
db_status db_other_lattice_look(db_context *context, const db_experiment *model,
                                const db_fit_settings *settings, const db_evidence *evidence,
                                db_observed_spots *spots, db_fit_result *result);

#endif
