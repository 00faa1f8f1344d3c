/* Reads the experiment from the header of an image. */
#ifndef DB_IO_IMAGE_GEOMETRY_H
#define DB_IO_IMAGE_GEOMETRY_H

#include "io/images/image.h"

/* Reads it from a file of any format of images. */
db_status db_image_geometry_read(db_context *context, const char *path,
                                 db_image_geometry *geometry);

/* The numbers in an SMV header as the reference program finds them: each behind the first '=' after
 * the last place where the name of the key occurs at all. */
typedef struct db_reference_header {
    double size[2], pixel_size, distance, close_distance, wavelength, beam_center[2], org[2], phi,
        osc_range; /* NAN where the name does not occur */
} db_reference_header;

db_status db_reference_header_read(db_context *context, const char *path,
                                   db_reference_header *numbers);

#endif
