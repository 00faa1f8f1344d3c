/* Merged intensities of a rotation series: passages of equivalent reflections, of all sweeps, on one scale
 * (docs/theory/merging.md, Frames of a series). */
#ifndef DB_FIT_INTENSITIES_SERIES_MERGE_H
#define DB_FIT_INTENSITIES_SERIES_MERGE_H

#include "fit/shots/first_frame.h"

/* Fills result->merged from result->passages, in rank 0. */
db_status db_series_merge(const db_shots *all, const db_first_frame *first,
                          db_fit_shots_result *result);

#endif
