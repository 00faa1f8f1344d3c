/* The moments of a shot's spots, which a joint stage of them works with, in the store. */
#ifndef DB_FIT_SHOTS_SHOT_MOMENTS_H
#define DB_FIT_SHOTS_SHOT_MOMENTS_H

#include "fit/search/moments.h"
#include "fit/shots/shots.h"

/* Writes them to the store. */
db_status db_shot_moments_write(db_shots *all, db_context *context, size_t shot,
                                const db_moments *moments);

/* Reads them back, for a model at which the variables start; both are borrowed. Clear them. */
db_status db_shot_moments_read(const db_shots *all, db_context *context, size_t shot,
                               const db_experiment *model, const db_variables *variables,
                               db_moments *moments);

#endif
