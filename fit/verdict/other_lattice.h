/* Another lattice of the same cell, whose spots are on the image, too. */
#ifndef DB_FIT_VERDICT_OTHER_LATTICE_H
#define DB_FIT_VERDICT_OTHER_LATTICE_H

#include "fit/verdict/evidence.h"

#include <dualbragg/fit_result.h>

/* Counts the spots at no reflection of a model, and if they are many, searches among them for another lattice of
 * the same cell. If they are few, but the verdict has failed, searches among the spots that the start left (NULL: does not).
 * evidence: of all spots. Fills result->all_spots, left_spots and other_lattice. */
db_status db_other_lattice_look(db_context *context, const db_experiment *model,
                                const db_experiment *start, const db_fit_settings *settings,
                                const db_evidence *evidence, const db_observed_spots *spots,
                                db_fit_result *result);

/* Are so many of all spots left that they may be those of another lattice? */
int db_many_spots_left(size_t left, size_t all);

#endif
