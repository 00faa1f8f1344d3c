/* The places of detector, goniometer and beam in the tables of a CBF file (imgCIF): chains of axes, each carried
 * by the next. Their laboratory has x along the outermost axis of the goniometer and z from the sample to the
 * source, as dxtbx does. */
#ifndef DB_IO_IMGCIF_H
#define DB_IO_IMGCIF_H

#include "io/cif.h"
#include "io/experiments/panel_plate.h"
#include "io/images/image.h"

typedef struct db_imgcif {
    db_context *context;
    const char *path; /* for messages */
    db_cif_table axis, scan_axis, frame_axis, data_frame, list, list_axis, radiation, wavelength;
} db_imgcif;

/* Reads them from the text [start, end), which must stay. To be cleared in any case. */
db_status db_imgcif_read(db_context *context, const char *path, const char *start, const char *end,
                         db_imgcif *tables);
void db_imgcif_clear(db_imgcif *tables);

/* Do they place the detector? */
int db_imgcif_places(const db_imgcif *tables);

/* The place of an array, or of a section of it (mm; the outer corner of the first pixel). first: the section's
 * first pixel, for tables that place whole arrays. */
db_status db_imgcif_panel(const db_imgcif *tables, db_word array, db_word section,
                          const int first[2], db_frame *frame, double pixel_size[2]);

/* The goniometer: `fixed` turns the crystal first, then the axis by the angle, then `setting` (row-major). */
typedef struct db_imgcif_scan {
    double axis[3], start, width; /* unit vector, degree; width 0: nothing turns */
    double fixed[9], setting[9];
} db_imgcif_scan;

/* Tells of axes of the detector whose settings are listed, but not known. */
void db_imgcif_tell_open_detector(const db_imgcif *tables);

/* found: 0 if the tables have no goniometer. */
db_status db_imgcif_scan_read(const db_imgcif *tables, db_imgcif_scan *scan, int *found);

typedef struct db_imgcif_beam {
    double direction[3]; /* of travel, unit vector */
    double wavelength;   /* A; NAN */
    double polarization; /* Kahn factor; NAN */
    double polarization_axis[3];
} db_imgcif_beam;

db_status db_imgcif_beam_read(const db_imgcif *tables, db_imgcif_beam *beam);

/* Turns a vector from the tables' laboratory into this program's frame of images. */
void db_imgcif_to_own(const double v[3], double own[3]);

#endif
