/* Several starts: orientations around the given one, tried by a short first stage. */
#ifndef DB_FIT_SEARCH_STARTS_H
#define DB_FIT_SEARCH_STARTS_H

#include "fit/search/refinement.h"

/* The turn of a start about the laboratory's axes (degree): none for the first one, then points
 * that fill a ball evenly for any number of them (additive recurrence by powers of the root of x^4
 * = x + 1, as in Roberts, The unreasonable effectiveness of quasirandom sequences, 2018). */
void db_starts_turn(const db_fit_starts *starts, int number, double turn[3]);

/* Runs the stages before number `to` of a refinement that has begun: a short first stage from each of several
 * starts, each on one thread; then all of these stages from the best ones until one is good enough. The
 * refinement ends at the best of those, and *end is its last stage's; its result lists the others. */
db_status db_starts_run(db_refinement *r, const db_experiment *start, int stages,
                        db_stage_result *end);

/* Runs stages from..to-1 of a refinement that has begun, up to one that diverges, is refused or is cancelled, from
 * whose end there is no way on. */
db_status db_stages_run(db_refinement *r, int from, int to, db_stage_result *end);

#endif
