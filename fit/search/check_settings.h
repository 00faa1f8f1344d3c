/* Are settings, image and starting model fit for a refinement? */
#ifndef DB_FIT_SEARCH_CHECK_SETTINGS_H
#define DB_FIT_SEARCH_CHECK_SETTINGS_H

#include <dualbragg/fit.h>

/* DB_ERROR_USAGE names the setting or parameter; DB_ERROR_INPUT what does not match. is_frame: of a
 * series whose frames share intensities, so that each may have a scale. */
db_status db_fit_check(db_context *context, const db_experiment *start,
                       const db_measured_image *image, const db_fit_settings *settings,
                       int is_frame);

/* Are the parameters those of the table, and of groups that there are? Else they have no names. */
db_status db_fit_check_quantities(db_context *context, const db_fit_settings *settings);

/* The same without parameters and stages, for an evaluation. */
db_status db_fit_check_data(db_context *context, const db_experiment *start,
                            const db_measured_image *image, const db_fit_settings *settings);

#endif
