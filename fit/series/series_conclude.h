/* Results of a series at its minimum. */
#ifndef DB_FIT_SERIES_SERIES_CONCLUDE_H
#define DB_FIT_SERIES_SERIES_CONCLUDE_H

#include "fit/search/stage_search.h"
#include "fit/series/series.h"

/* Errors of shared and local quantities, and statistics of the frames, whose objectives have been
 * evaluated at end->value. normal: with priors. */
db_status db_series_conclude(const db_series *series, const db_stage_result *end,
                             const double *normal, db_fit_shots_result *result);

#endif
