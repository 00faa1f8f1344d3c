/* Reads the experiment from the header of an image file, for set-ups. */
#include "io/images/image_geometry.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "io/formats.h"
#include "io/images/placement.h"

#include <dualbragg/expert/file_kind.h>
#include <math.h>
#include <string.h>

static db_status from_measured_image(db_context *context, const char *path, db_image_geometry *g) {
    db_measured_image image;
    DB_TRY(db_read_image(context, path, &image));
    const db_status status = db_image_geometry_from(context, path, &image, g);
    db_measured_image_clear(&image);
    return status;
}

db_status db_image_geometry_read(db_context *context, const char *path,
                                 db_image_geometry *geometry) {
    const db_format *format;
    char file[4096];
    const long frame = db_frame_split(path, file, sizeof file);
    DB_TRY(db_format_of_file(context, file, DB_HOLDS_IMAGES, &format));
    if (format && format->header && frame >= 0 && (frame == 0 || format->frame))
        return format->header(context, file, frame, geometry);
    return from_measured_image(context, path, geometry);
}
