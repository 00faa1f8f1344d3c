/* Images of HDF5 files as NeXus (NXmx) and detectors of Dectris lay them out. */
#ifndef DB_IO_NEXUS_H
#define DB_IO_NEXUS_H

#include "io/experiments/expt_circles.h"
#include "io/images/image.h"
#include <dualbragg/expert/experiment_list_content.h>

/* Thickness (mm) of a sensor that stands for none: dxtbx asks for one above 0. */
#define DB_NO_SENSOR 1e-6

/* Reads image number `frame` (from 1; 0: the only one) of a file: pixels, mask and what it says of
 * the experiment. On failure the caller clears the image. */
db_status db_nexus_read(db_context *context, const char *path, long frame,
                        db_measured_image *image);

/* Number of images. */
db_status db_nexus_count(db_context *context, const char *path, size_t *count);

/* What it says of the experiment alone; without pixels, too. frame 0: the first. */
db_status db_nexus_geometry(db_context *context, const char *path, long frame,
                            db_image_geometry *geometry);

/* The same without the size of the image and its panels' places. */
db_status db_nexus_state(db_context *context, const char *path, long frame,
                         db_image_geometry *geometry);

/* Circles of a goniometer beside the one that turns, as they stand at the first image, in the frame of
 * lists. found 0: there is no chain, or only one circle. */
db_status db_nexus_circles(db_context *context, const char *path, db_circles *circles, int *found);

/* Beam, spindle and all modules of an NXmx file, in the frame of lists: as db_read_expt. Arrays of a
 * stack are panels in their order; modules of one array know where they begin in it. */
db_status db_nexus_experiment(db_context *context, const char *path,
                              const db_expt_selection *selection, db_experiment *experiment,
                              db_expt_content *content);

#endif
