/* Images with noise: made, written, and what is printed about them. */
#ifndef DB_CLI_NOISE_OUTPUT_H
#define DB_CLI_NOISE_OUTPUT_H

#include "cli/session.h"
#include "io/nexus/nexus_write.h"

/* Makes numbers and signals (either may be NULL) of all panels, one below the other, out of an image
 * of the same shape. region: of the only panel; of several all is made. */
db_status db_noise_make(db_context *context, const db_noise_options *options,
                        const db_detector *detector, const db_region *region, const float *image,
                        int32_t *number, float *signal, db_noise_summary *summary);

/* What a file of such numbers is to say. */
db_nexus_format db_noise_format(const db_session *session, const db_noise_options *options);

/* Numbers as the pixels of such a file; 16-bit ones take the first half of their room. */
void db_noise_narrow(const db_noise_options *options, int32_t *number, size_t count);

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
