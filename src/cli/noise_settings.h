/* Settings of noise and detector, from the flags. */
#ifndef DB_CLI_NOISE_SETTINGS_H
#define DB_CLI_NOISE_SETTINGS_H

#include "cli/settings.h"

/* Sets defaults; dualbragg noise has unequal pixels by default. */
void db_noise_leave_open(db_settings *settings);

/* Is the command dualbragg noise, whose image comes from a file? */
int db_noise_alone(const db_settings *settings);

/* Can this build make noise? */
int db_noise_available(void);

/* Is an image with noise to be written? */
int db_noise_wanted(const db_settings *settings);

/* Does dualbragg noise get an image with a header, and not raw floats? */
int db_noise_of_image(db_context *context, const db_settings *settings);

/* For dualbragg noise: completes the set-up with values that a detector does not need, and the shape of raw
 * floats, from the size of their file. Reports errors. */
db_status db_noise_prepare(db_context *context, db_settings *settings);

/* Options for db_noise_apply; scale is 1. */
db_noise_options db_noise_options_of(const db_settings *settings, const db_experiment *experiment);

/* Checks everything before the work starts: flags that belong together, and ranges. Reports errors. */
db_status db_noise_flags_check(db_context *context, const db_settings *settings,
                               const db_experiment *experiment);

#endif
