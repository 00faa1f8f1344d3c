/* The place of an image's only panel in the frame of images, with the axes: beam, up, and the fast axis of
 * detectors that face the beam. */
#ifndef DB_IO_PLACEMENT_H
#define DB_IO_PLACEMENT_H

#include "io/images/image.h"

/* Takes the geometry from a measured image; its pixels must be square. */
db_status db_image_geometry_from(db_context *context, const char *path,
                                 const db_measured_image *image, db_image_geometry *geometry);

/* Fills distance and beam centre of a panel with known axes that begins at `origin`: at the point where the beam
 * meets it, else at the point closest to the sample. Returns 0 if the panel is at the sample. */
int db_image_geometry_place(const double origin[3], db_image_geometry *geometry);

/* 1 if the axes are the default ones, up to rounding. */
int db_image_geometry_faces_beam(const db_image_geometry *geometry);
int db_image_geometry_usual_spindle(const db_image_geometry *geometry);

#endif
