/* Images with noise: made, written, and what is printed about them. */
#ifndef DB_CLI_NOISE_OUTPUT_H
#define DB_CLI_NOISE_OUTPUT_H

#include "cli/session.h"

/* The lines about noise among those about the experiment; none without noise. */
void db_noise_report(const db_session *session);

/* Makes the image with noise out of the rendered one (photons, that of the whole panel) and writes
 * it, where one is asked for; prints the photons on it. A point spread function asks for pixels
 * around the region of interest: they are rendered here. style may be NULL. Failures are left to
 * the caller to report, here and below. */
db_status db_noise_output(const db_session *session, const float *image, const db_smv_style *style);

/* The same for any options and any image of the detector; files may be NULL. With options->noisy
 * the photons are printed. */
db_status db_noise_write(const db_session *session, const db_noise_options *options,
                         const float *image, const char *number_file, const char *float_file,
                         const db_smv_style *style);

#endif
