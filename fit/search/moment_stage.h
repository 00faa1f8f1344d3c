/* A stage of a refinement: against the moments of observed spots (DB_STAGE_MOMENTS) or, by the
 * other kinds, against their pixels. */
#ifndef DB_FIT_SEARCH_MOMENT_STAGE_H
#define DB_FIT_SEARCH_MOMENT_STAGE_H

#include "fit/search/moments.h"
#include "fit/search/refinement.h"

/* Runs a stage and stores the model. A stage of moments that has to earn its parameters is tried
 * first on each half of the spots; where the other halves are not described better, the model stays
 * as it is. */
db_status db_stage_run(db_refinement *r, int number, db_stage_result *end);

/* The spots of stage number `number`, by the model so far. Clear them, unless it fails. */
db_status db_moment_stage_take(db_refinement *r, int number, const db_variables *variables,
                               db_moments *moments);

#endif
