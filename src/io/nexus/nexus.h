/* Images of HDF5 files as NeXus (NXmx) and detectors of Dectris lay them out. */
#ifndef DB_IO_NEXUS_H
#define DB_IO_NEXUS_H

#include "io/experiments/expt_circles.h"
#include "io/images/image.h"
#include <dualbragg/expert/experiment_list_content.h>

/* The thickness (mm) written for a detector without a sensor: dxtbx needs one above 0. */
#define DB_NO_SENSOR 1e-6

/* Reads image number `frame` (from 1; 0: the only one) of a file: pixels, mask and the values of its experiment.
 * On failure the caller clears the image. */
db_status db_nexus_read(db_context *context, const char *path, long frame,
                        db_measured_image *image);

/* Number of images. */
db_status db_nexus_count(db_context *context, const char *path, size_t *count);

/* Reads only the geometry; the file need not have pixels. frame 0: the first. */
db_status db_nexus_geometry(db_context *context, const char *path, long frame,
                            db_image_geometry *geometry);

/* As db_nexus_geometry, without the size of the image and the places of its panels. */
db_status db_nexus_state(db_context *context, const char *path, long frame,
                         db_image_geometry *geometry);

/* The goniometer's circles that stand still, at the first image, in the frame of experiment lists. found 0: there
 * is no chain, or only one circle. */
db_status db_nexus_circles(db_context *context, const char *path, db_circles *circles, int *found);

/* Reads beam, spindle and all modules of an NXmx file, in the frame of experiment lists: as db_read_expt. The
 * arrays of a stack are panels in their order; modules of one array state where they begin in it. */
db_status db_nexus_experiment(db_context *context, const char *path,
                              const db_expt_selection *selection, db_experiment *experiment,
                              db_expt_content *content);

#endif
