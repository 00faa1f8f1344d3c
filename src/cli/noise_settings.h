/* What the flags say about noise and detector. */
#ifndef DB_CLI_NOISE_SETTINGS_H
#define DB_CLI_NOISE_SETTINGS_H

#include "cli/settings.h"

/* Nothing asked for; dualbragg noise has unequal pixels by default. */
void db_noise_leave_open(db_settings *settings);

/* Whether the subcommand is dualbragg noise, whose image comes from a file. */
int db_noise_alone(const db_settings *settings);

/* Whether this build makes noise. */
int db_noise_available(void);

/* Whether an image with noise is to be written. */
int db_noise_wanted(const db_settings *settings);

/* Whether what dualbragg noise gets is an image with a header, not raw floats. */
int db_noise_of_image(db_context *context, const db_settings *settings);

/* For dualbragg noise: fills in what the setup asks for but no detector needs, and the shape of raw
 * floats, from the size of their file. Reports what is wrong. */
db_status db_noise_prepare(db_context *context, db_settings *settings);

/* What db_noise_apply is to do; scale is left at 1. */
db_noise_options db_noise_options_of(const db_settings *settings, const db_experiment *experiment);

/* Everything that can be checked before the work starts: flags that belong together, and ranges.
 * Reports what is wrong. */
db_status db_noise_flags_check(db_context *context, const db_settings *settings,
                               const db_experiment *experiment);

#endif
