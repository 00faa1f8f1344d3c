/* Where the only panel of an image stands: in the frame of images, whose axes are the beam, up, and along
 * the fast axis of detectors that face the beam. */
#ifndef DB_IO_PLACEMENT_H
#define DB_IO_PLACEMENT_H

#include "io/images/image.h"

/* What a measured image says of it; pixels must be square. */
db_status db_image_geometry_from(db_context *context, const char *path,
                                 const db_measured_image *image, db_image_geometry *geometry);

/* Of a panel whose axes are known and which begins at the origin: where the beam meets it or, where it passes
 * by, the point closest to the sample. 0: it is at the sample. */
int db_image_geometry_place(const double origin[3], db_image_geometry *geometry);

/* Are axes those that are taken anyway, to rounding? */
int db_image_geometry_faces_beam(const db_image_geometry *geometry);
int db_image_geometry_usual_spindle(const db_image_geometry *geometry);

#endif
