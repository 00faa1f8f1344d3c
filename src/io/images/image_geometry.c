/* What the header of an image file says about the experiment, for set-ups. */
#include "io/images/image_geometry.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "io/formats.h"

#include <math.h>
#include <string.h>

static db_status from_measured_image(db_context *context, const char *path, db_image_geometry *g) {
    db_measured_image image;
    DB_TRY(db_read_image(context, path, &image));
    *g = db_image_geometry_unknown;
    g->fast_pixels = image.fast_pixels;
    g->slow_pixels = image.slow_pixels;
    g->pixel_size = image.pixel_size[0];
    g->wavelength = image.wavelength;
    g->distance = image.distance;
    for (int i = 0; i < 2; i++) g->beam_centre[i] = image.beam_centre[i] * image.pixel_size[i];
    g->phi = image.phi;
    g->osc_range = image.osc_range;
    g->twotheta = image.twotheta;
    g->polarization = image.polarization;
    g->sensor_thickness = image.sensor_thickness;
    g->attenuation_depth = image.attenuation_depth;
    g->sensor_material = image.sensor_material;
    const double ratio = image.pixel_size[1] / image.pixel_size[0];
    db_measured_image_clear(&image);
    if (ratio != 1 && !isnan(ratio))
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected square pixels, found a ratio of %g", path, ratio);
    return DB_OK;
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
