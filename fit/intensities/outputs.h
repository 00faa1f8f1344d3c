/* What is told of the intensities that all shots share. */
#ifndef DB_FIT_INTENSITIES_OUTPUTS_H
#define DB_FIT_INTENSITIES_OUTPUTS_H

#include "fit/merge/crystal_kinds.h"
#include "fit/merge/indexing.h"
#include "fit/merge/statistics.h"
#include "fit/report/json_document.h"

#include <dualbragg/fit_shots.h>

/* Of a result that has such intensities. */
void db_intensity_statistics(const db_fit_shots_result *result, db_merge_statistics *statistics);

/* A line that tells how shots were indexed; empty: there was but one way, and one hand. */
enum { DB_INDEXING_LINE = 512 };
void db_intensity_indexing_line(const db_fit_shots_result *result, char line[DB_INDEXING_LINE]);

enum { DB_REFERENCE_LINE = 300 };

/* That the reference does not seem to be of the crystal of the shots; empty: it does, or there is
 * none. */
void db_intensity_reference_line(const db_fit_shots_result *result, char line[DB_REFERENCE_LINE]);

/* Which crystals with other intensities the shots are of, and which is kept; empty: there was but one.
 * Returns 0 if which one is to be kept is not clear. */
int db_intensity_crystals_line(const db_fit_shots_result *result, char line[DB_KINDS_LINE]);

/* How a shot was indexed; NULL: nothing is known of it. */
const db_indexing *db_intensity_indexing(const db_fit_shots_result *result, size_t shot,
                                         double *probability);

/* A field of PREFIX.json, of a db_fit_shots_result. */
extern const db_json_table db_intensity_fields;
int db_has_intensities(const void *result);
json_t *db_make_intensities(db_document *d, const void *result);

#endif
