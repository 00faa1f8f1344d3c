/* Images with noise: making, writing, printed lines. */
#ifndef DB_CLI_NOISE_OUTPUT_H
#define DB_CLI_NOISE_OUTPUT_H

#include "cli/session.h"
#include "io/nexus/nexus_write.h"

/* Makes numbers and signals (either may be NULL) of all panels, one below the other, from an image of this shape.
 * region: of a single panel; several panels are made completely. */
db_status db_noise_make(db_context *context, const db_noise_options *options,
                        const db_detector *detector, const db_region *region, const float *image,
                        int32_t *number, float *signal, db_noise_summary *summary);

/* Format of a file of such numbers. */
db_nexus_format db_noise_format(const db_session *session, const db_noise_options *options);

/* Numbers as pixels of such a file; 16-bit ones use the first half of the memory. */
void db_noise_narrow(const db_noise_options *options, int32_t *number, size_t count);

/* Prints lines about noise among those about the experiment; none without noise. */
void db_noise_report(const db_session *session);

/* Makes the image with noise from the rendered one (photons, whole panel) and writes it, if wanted; prints its
 * photons. A point spread function needs pixels around the region of interest, which are rendered here. style may
 * be NULL. The caller reports failures, here and below. */
db_status db_noise_output(const db_session *session, const float *image, const db_smv_style *style);

/* As db_noise_output, for any options and any image of the detector; files may be NULL. With options->noisy it
 * prints the photons. */
db_status db_noise_write(const db_session *session, const db_noise_options *options,
                         const float *image, const char *number_file, const char *float_file,
                         const db_smv_style *style);

#endif
