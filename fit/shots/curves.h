/* Curves of f' and f'' that all shots share: their priors. */
#ifndef DB_FIT_SHOTS_CURVES_H
#define DB_FIT_SHOTS_CURVES_H

#include "fit/search/stage_search.h"
#include "fit/shots/shots.h"

/* Are strengths of priors to be chosen before a stage? It is the last one, and refines curves. */
int db_curves_are_open(const db_shots *all, int stage);

/* Chooses the strengths with the largest evidence: the probability of the shots, integrated over all curves. sums: of all shots
 * (db_schur_sums_size) by the unknowns of a stage, at their values x. */
db_status db_curves_choose(db_shots *all, const size_t *index, size_t unknowns, const double *x,
                           const double *sums);

/* Adds the priors of the settings' curves to the unknowns of a joint stage, where it refines them. */
db_status db_curves_restrain(const db_shots *all, db_unknowns *unknowns);

#endif
