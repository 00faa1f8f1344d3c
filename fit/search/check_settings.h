/* Can settings, image and starting model be refined? */
#ifndef DB_FIT_SEARCH_CHECK_SETTINGS_H
#define DB_FIT_SEARCH_CHECK_SETTINGS_H

#include <dualbragg/fit.h>

/* Checks all. DB_ERROR_USAGE names the setting or parameter, DB_ERROR_INPUT the mismatch. is_frame: frame of a
 * series with shared intensities, which may have its own scale. */
db_status db_fit_check(db_context *context, const db_experiment *start,
                       const db_measured_image *image, const db_fit_settings *settings,
                       int is_frame);

/* Are all parameters in the table, or motions of existing groups? Others have no names. */
db_status db_fit_check_quantities(db_context *context, const db_fit_settings *settings);

/* Checks settings without parameters and stages, for an evaluation. */
db_status db_fit_check_data(db_context *context, const db_experiment *start,
                            const db_measured_image *image, const db_fit_settings *settings);

/* Are neighbouring reflections in different pixels at all? A distance in another unit puts all of them into one. */
db_status db_fit_check_spacing(db_context *context, const db_experiment *start);

#endif
