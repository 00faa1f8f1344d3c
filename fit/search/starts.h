/* Several starts: orientations around the given one, tried by a short first stage. */
#ifndef DB_FIT_SEARCH_STARTS_H
#define DB_FIT_SEARCH_STARTS_H

#include "fit/search/refinement.h"

/* Turn of a start about the laboratory's axes (degree): none for the first one, then points that fill a ball
 * evenly for any number of them (additive recurrence by powers of the root of x^4 = x + 1, as in Roberts, The
 * unreasonable effectiveness of quasirandom sequences, 2018). */
void db_starts_turn(const db_fit_starts *starts, int number, double turn[3]);

/* Runs the stages before number `to` of a refinement that has begun: a short first stage from each of several
 * starts, each on one thread; then all of these stages from the best starts, until one is good enough. The
 * refinement ends at the best of them, and *end is the result of its last stage; the refinement's result lists the
 * others. asked: stages of each parameter, with which each of the best starts begins: what one did not earn, another may. */
db_status db_starts_run(db_refinement *r, const db_experiment *start, const unsigned *asked,
                        int stages, db_stage_result *end);

/* Runs stages from..to-1 of a refinement that has begun, until one diverges, is refused or is cancelled. */
db_status db_stages_run(db_refinement *r, int from, int to, db_stage_result *end);

#endif
