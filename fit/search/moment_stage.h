/* A stage of a refinement: against the moments of observed spots (DB_STAGE_MOMENTS), or against pixels. */
#ifndef DB_FIT_SEARCH_MOMENT_STAGE_H
#define DB_FIT_SEARCH_MOMENT_STAGE_H

#include "fit/search/moments.h"
#include "fit/search/refinement.h"

/* Runs a stage and stores the model. A stage of moments that must earn its parameters is first tried on each half
 * of the spots; if the other halves are not described better, the model stays as it is. Before the first such stage the lattice
 * is judged; if other indices are likelier at the end of the stages of moments before stage `to`, they are taken. */
db_status db_stage_run(db_refinement *r, int number, int to, db_stage_result *end);

/* The spots of stage number `number` with the present model. Clear them, unless it fails. */
db_status db_moment_stage_take(db_refinement *r, int number, const db_variables *variables,
                               db_moments *moments);

#endif
