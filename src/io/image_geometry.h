/* What the header of an image says about the experiment. */
#ifndef DB_IO_IMAGE_GEOMETRY_H
#define DB_IO_IMAGE_GEOMETRY_H

#include "io/smv_header.h"

#include <dualbragg/experiment.h>

/* NAN, 0 and "" where the header does not say. F, S: coordinates along fast and slow from the outer
 * corner of the first pixel (mm). */
typedef struct db_image_geometry {
    int fast_pixels, slow_pixels;
    double pixel_size;            /* mm */
    double wavelength;            /* angstrom */
    double distance;              /* mm, along the beam */
    double close_distance;        /* mm, along the normal */
    double beam_centre[2];        /* F, S of the direct beam */
    double near_point[2];         /* F, S of the point closest to the sample */
    double phi, osc_range;        /* degree */
    int osc_steps;                /* phi steps in the range */
    double twotheta, rotation[3]; /* degree */
    double attenuation_depth;     /* um */
    double sensor_thickness;      /* um */
    db_sensor_material sensor_material;
    char convention[20], pivot[8]; /* names of a db_convention, a db_pivot */
} db_image_geometry;

/* Keys are taken as they stand: exactly. Direct beam: DENZO_X_BEAM and DENZO_Y_BEAM (X along slow,
 * Y along fast, mm from the outer corner of the first pixel), else MOSFLM_CENTER_X and _Y (the same
 * minus half a pixel), else, without XDS_ORGX, BEAM_CENTER_X and _Y in the sense of ADSC headers
 * (as DENZO). Near point: XDS_ORGX and XDS_ORGY (pixels; the middle of the first one is 1). */
db_status db_smv_geometry_read(const db_smv_header *header, db_image_geometry *geometry);

/* The same from a file, SMV or miniCBF. Distance and direct beam are not taken from files of the
 * reference program with two-theta, which leaves it out there. */
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
