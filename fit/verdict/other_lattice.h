/* Spots at no reflection of a model: do they belong to another crystal? */
#ifndef DB_FIT_VERDICT_OTHER_LATTICE_H
#define DB_FIT_VERDICT_OTHER_LATTICE_H

#include "fit/verdict/evidence.h"

/* Counts the spots at no reflection of a model, and if they are many, searches among them for another lattice of
 * the same cell. Keeps only these spots. evidence: of all spots. Fills result->all_spots, left_spots and
 * other_lattice. */
db_status db_other_lattice_look(db_context *context, const db_experiment *model,
                                const db_fit_settings *settings, const db_evidence *evidence,
                                db_observed_spots *spots, db_fit_result *result);

#endif
