/* The place of an image's only panel, in the frame of images. */
#include "io/images/placement.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

int db_image_geometry_place(const double origin[3], db_image_geometry *g) {
    static const double beam[3] = { 1, 0, 0 }, GRAZING = 0.02;
    double normal[3], to_point[3];
    db_cross(g->fast_axis, g->slow_axis, normal);
    double cosine = db_dot(beam, normal), close = db_dot(origin, normal);
    if (close < 0) {
        cosine = -cosine;
        close = -close;
        for (int i = 0; i < 3; i++) normal[i] = -normal[i];
    }
    if (!(close > 0)) return 0;
    if (cosine < 0) memcpy(g->normal, normal, sizeof g->normal);
    const int meets = cosine > GRAZING;
    if (meets)
        g->distance = close / cosine;
    else
        g->close_distance = close;
    for (int i = 0; i < 3; i++) to_point[i] = (meets ? g->distance * beam[i] : 0) - origin[i];
    double *const point = meets ? g->beam_centre : g->near_point;
    point[0] = db_dot(to_point, g->fast_axis);
    point[1] = db_dot(to_point, g->slow_axis);
    return 1;
}

void db_image_swing(db_context *context, const char *path, double twotheta, int stated,
                    db_measured_image *image) {
    static const double STEEPEST = 89; /* the beam must meet the panel (degree) */
    double *const centre = image->beam_centre;
    image->twotheta = twotheta;
    if (!(fabs(twotheta) > 0)) return;
    if (!(fabs(twotheta) < STEEPEST)) {
        image->twotheta = image->distance = centre[0] = centre[1] = NAN;
        db_notice(
            context,
            "%s: the detector stands at two-theta %g degree, where the beam does not meet it: "
            "distance and beam centre are not used",
            path, twotheta);
        return;
    }
    image->twotheta = -twotheta; /* about the axis of mosflm, which is against the spindle */
    centre[1] += image->distance * tan(twotheta * DB_DEGREE) / image->pixel_size[1];
    if (isnan(centre[1])) centre[0] = NAN;
    image->distance /= cos(twotheta * DB_DEGREE);
    if (!stated)
        db_notice(context,
                  "%s: the detector stands at two-theta %g degree; the header does not contain the "
                  "axis, taken as the usual spindle along rows of pixels, and distance and beam "
                  "centre as those "
                  "at two-theta 0",
                  path, twotheta);
}

static int is_along(const double v[3], double x, double y, double z) {
    static const double TOLERANCE = 1e-5;
    return isnan(v[0]) ||
           (fabs(v[0] - x) < TOLERANCE && fabs(v[1] - y) < TOLERANCE && fabs(v[2] - z) < TOLERANCE);
}

int db_image_geometry_faces_beam(const db_image_geometry *g) {
    return is_along(g->fast_axis, 0, 0, 1) && is_along(g->slow_axis, 0, -1, 0);
}

int db_image_geometry_usual_spindle(const db_image_geometry *g) {
    return is_along(g->spindle_axis, 0, 0, 1);
}

db_status db_image_geometry_from(db_context *context, const char *path,
                                 const db_measured_image *image, db_image_geometry *g) {
    *g = db_image_geometry_unknown;
    g->fast_pixels = image->fast_pixels;
    g->slow_pixels = image->slow_pixels;
    g->pixel_size = image->pixel_size[0];
    g->wavelength = image->wavelength;
    g->distance = image->distance;
    for (int i = 0; i < 2; i++) g->beam_centre[i] = image->beam_centre[i] * image->pixel_size[i];
    g->phi = image->phi;
    g->osc_range = image->osc_range;
    g->twotheta = image->twotheta;
    g->polarization = image->polarization;
    g->sensor_thickness = image->sensor_thickness;
    g->attenuation_depth = image->attenuation_depth;
    g->sensor_material = image->sensor_material;
    const double ratio = image->pixel_size[1] / image->pixel_size[0];
    if (ratio != 1 && !isnan(ratio))
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected square pixels, found a ratio of %g", path, ratio);
    return DB_OK;
}
