/* Curves of f' and f'' that all shots share: their priors. */
#ifndef DB_FIT_SHOTS_CURVES_H
#define DB_FIT_SHOTS_CURVES_H

#include "fit/search/stage_search.h"
#include "fit/shots/shots.h"

/* Adds the priors of the settings' curves to the unknowns of a joint stage, where it refines them. */
db_status db_curves_restrain(const db_shots *all, db_unknowns *unknowns);

#endif
