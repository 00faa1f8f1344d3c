/* Image formats db_read_image knows; each reads from a file that is already in memory. */
#ifndef DB_IO_IMAGE_FORMATS_H
#define DB_IO_IMAGE_FORMATS_H

#include <dualbragg/io.h>

#include "base/file_content.h"

/* Recognition by content. */
int db_is_smv(const db_file_content *content);
int db_is_cbf(const db_file_content *content);

/* Fill an image that was prepared by db_image_init; on failure the caller clears it. path is for
 * messages. */
db_status db_smv_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image);
db_status db_cbf_decode(db_context *context, const char *path, const db_file_content *content,
                        db_measured_image *image);

/* Everything unknown, no pixels. */
void db_image_init(db_measured_image *image, const char *format);

/* Allocates value and mask (all trusted). Checks the shape: at least 1 x 1, at most 2^31 - 1
 * pixels. */
db_status db_image_allocate(db_context *context, const char *path, long long fast_pixels,
                            long long slow_pixels, db_measured_image *image);

#endif
