/* Angles of an axis during a series of images, from the data sets that NeXus and Dectris write about
 * it: AXIS, AXIS_start, AXIS_end, AXIS_increment, AXIS_increment_set, AXIS_range_average, AXIS_range_total; one
 * number each, or one for every image. Between db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_AXIS_H
#define DB_IO_NEXUS_AXIS_H

#include "io/nexus/nexus_file.h"

typedef struct db_nexus_axis {
    double start, width; /* degree, at the image and over it; NAN: not known */
    int moves;           /* 1: between images, or during them */
} db_nexus_axis;

/* path: of AXIS from a group. frame: of the image, from 0. found 0: there is none of these data sets. */
db_status db_nexus_axis_at(const db_nexus_file *file, const db_hdf5_object *from, const char *path,
                           size_t frame, db_nexus_axis *axis, int *found);

#endif
