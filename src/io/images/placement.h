/* The place of an image's only panel in the frame of images, with the axes: beam, up, and the fast axis of
 * detectors that face the beam. */
#ifndef DB_IO_PLACEMENT_H
#define DB_IO_PLACEMENT_H

#include "io/images/image.h"

/* Takes the geometry from a measured image; its pixels must be square. */
db_status db_image_geometry_from(db_context *context, const char *path,
                                 const db_measured_image *image, db_image_geometry *geometry);

/* Swings the panel to two-theta: about the sample and the spindle, in the sense of the spindle, so that 90 degree is
 * straight up in the frame of images. Distance and beam centre of the image, as headers and dxtbx have them, are those
 * at two-theta 0, where the panel faces the beam; they become those of its last place. What the header lacks for
 * that becomes NAN. A notice tells the sense unless `stated`: the format states it. */
void db_image_swing(db_context *context, const char *path, double twotheta, int stated,
                    db_measured_image *image);

/* Fills distance and beam centre of a panel with known axes that begins at `origin`: at the point where the beam
 * meets it, else at the point closest to the sample. Returns 0 if the panel is at the sample. */
int db_image_geometry_place(const double origin[3], db_image_geometry *geometry);

/* 1 if the axes are the default ones, up to rounding. */
int db_image_geometry_faces_beam(const db_image_geometry *geometry);
int db_image_geometry_usual_spindle(const db_image_geometry *geometry);

#endif
