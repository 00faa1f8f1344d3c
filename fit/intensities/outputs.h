/* Outputs of joint intensities. */
#ifndef DB_FIT_INTENSITIES_OUTPUTS_H
#define DB_FIT_INTENSITIES_OUTPUTS_H

#include "fit/merge/crystal_kinds.h"
#include "fit/merge/indexing.h"
#include "fit/merge/statistics.h"
#include "fit/report/json_document.h"

#include <dualbragg/fit_shots.h>

/* Joint intensities of a result, or the merged ones of a series; NULL: neither. */
const struct db_joint_intensities *db_intensities_of(const db_fit_shots_result *result);

/* Statistics of a result with such intensities. */
void db_intensity_statistics(const db_fit_shots_result *result, db_merge_statistics *statistics);

/* A line about the indexing of shots; empty: only one way and one hand. */
enum { DB_INDEXING_LINE = 512 };
void db_intensity_indexing_line(const db_fit_shots_result *result, char line[DB_INDEXING_LINE]);

enum { DB_REFERENCE_LINE = 300 };

/* A line that warns of a reference that does not fit the shots' crystal; empty: it fits, or there is none. */
void db_intensity_reference_line(const db_fit_shots_result *result, char line[DB_REFERENCE_LINE]);

/* A line about different crystals among the shots, and the one that is kept; empty: only one. Returns 0 if it is
 * not clear which one to keep. */
int db_intensity_crystals_line(const db_fit_shots_result *result, char line[DB_KINDS_LINE]);

/* Indexing of a shot; NULL: unknown. */
const db_indexing *db_intensity_indexing(const db_fit_shots_result *result, size_t shot,
                                         double *probability);

/* A field of PREFIX.json, of a db_fit_shots_result. */
extern const db_json_table db_intensity_fields;
int db_has_intensities(const void *result);
json_t *db_make_intensities(db_document *d, const void *result);

#endif
