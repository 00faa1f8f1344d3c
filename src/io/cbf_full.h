/* Full CBF (imgCIF): arrays of pixels with tables that say what they are. */
#ifndef DB_IO_CBF_FULL_H
#define DB_IO_CBF_FULL_H

#include "io/image_formats.h"

/* As db_cbf_decode, for a file without a miniCBF header. */
db_status db_cbf_full_decode(db_context *context, const char *path, const db_file_content *content,
                             db_measured_image *image);

#endif
