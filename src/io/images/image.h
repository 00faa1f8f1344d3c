/* A measured image while it is read, and its header's experiment. */
#ifndef DB_IO_IMAGE_H
#define DB_IO_IMAGE_H

#include "base/file_content.h"

#include <dualbragg/io.h>

/* No sensor that a header states is thicker (mm). */
#define DB_THICKEST_SENSOR 100

/* Everything unknown, no pixels. */
void db_image_init(db_measured_image *image, const char *format);

/* Allocates value and mask (all trusted). Checks the shape: at least 1 x 1, at most 2^31 - 1
 * pixels. */
db_status db_image_allocate(db_context *context, const char *path, long long fast_pixels,
                            long long slow_pixels, db_measured_image *image);

/* Copies 32-bit words, which files hold in little-endian order. */
void db_copy_words(const void *from, size_t count, void *to);

/* NAN, 0 and "": not in the header. F, S: coordinates along fast and slow from the outer corner of the first pixel
 * (mm). */
typedef struct db_image_geometry {
    int fast_pixels, slow_pixels;
    double pixel_size;     /* mm */
    double wavelength;     /* angstrom */
    double distance;       /* mm, along the beam */
    double close_distance; /* mm, along the normal */
    double beam_centre[2]; /* F, S of the direct beam */
    double near_point[2];  /* F, S of the point closest to the sample */
    double fast_axis[3], slow_axis[3], spindle_axis[3]; /* if not those of mosflm */
    double
        normal[3]; /* of the panel, away from the sample; where it does not point along the beam */
    double phi, osc_range;        /* degree; < 0: turns backwards; 0: a still */
    int osc_steps;                /* phi steps in the range */
    double twotheta, rotation[3]; /* degree */
    double polarization;          /* Kahn factor */
    double attenuation_depth;     /* um */
    double sensor_thickness;      /* um */
    db_sensor_material sensor_material;
    char convention[20], pivot[8]; /* names of a db_convention, a db_pivot */
} db_image_geometry;

/* Nothing is known. */
extern const db_image_geometry db_image_geometry_unknown;

#endif
