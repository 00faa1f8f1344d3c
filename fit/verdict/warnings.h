/* Points to check before a result is used, in words. */
#ifndef DB_FIT_VERDICT_WARNINGS_H
#define DB_FIT_VERDICT_WARNINGS_H

#include <dualbragg/fit_shots.h>

/* Fills the result's warnings, replacing those it has. */
db_status db_fit_warnings_make(db_context *context, db_fit_result *result);

/* Fills the warnings of a rotation series. distance: of its first frame in use (mm) */
db_status db_fit_series_warnings_make(db_context *context, double distance,
                                      db_fit_shots_result *result);

/* Adds warnings of shared quantities, unless a series has them, and of quantities of single shots that the data do not
 * determine, and of misfit beyond noise. In the process that knows all shots. */
db_status db_fit_undetermined_warnings_add(db_context *context, db_fit_shots_result *result);

/* Adds a warning of a centring that nobody has named. In the process that knows all shots. */
db_status db_fit_centring_warning_add(db_context *context, db_fit_shots_result *result);

/* Adds a warning of shots whose cells are longer or shorter than the others'. In the process that knows all shots. */
db_status db_fit_cells_warning_add(db_context *context, db_fit_shots_result *result);

enum { DB_DIRECTION_TEXT_SIZE = 256 };

/* Names the parameters of a direction, the largest component first: "distance +0.71 with cell_a
 * +0.70". Components below a fifth are left out. Returns text. */
const char *db_direction_text(char text[DB_DIRECTION_TEXT_SIZE], const db_fit_estimates *found,
                              const db_fit_direction *direction);

#endif
