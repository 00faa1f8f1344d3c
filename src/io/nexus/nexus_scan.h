/* Finds the axis that turns the sample during an image. Call between db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_SCAN_H
#define DB_IO_NEXUS_SCAN_H

#include "io/nexus/nexus_file.h"

/* Angles of an axis during a series of images, from the data sets that NeXus and Dectris write about
 * it: AXIS, AXIS_start, AXIS_end, AXIS_increment, AXIS_increment_set, AXIS_range_average, AXIS_range_total; one
 * number each, or one for every image. Between db_hdf5_enter and _leave. */

typedef struct db_nexus_axis {
    double start, width; /* degree, at the image and over it; NAN: not known */
    int moves;           /* 1: between images, or during them */
} db_nexus_axis;

/* path: of AXIS from a group. frame: of the image, from 0. found 0: there is none of these data sets. */
db_status db_nexus_axis_at(const db_nexus_file *file, const db_hdf5_object *from, const char *path,
                           size_t frame, db_nexus_axis *axis, int *found);

/* The circle that turns during the image, else one that moves between images, else the outermost. */
typedef struct db_nexus_scan {
    char name[64];      /* "omega" */
    double axis[3];     /* unit vector, as the circles outside of it leave it; frame of NeXus */
    db_nexus_axis over; /* its angles */
    int vague;          /* 1: the file does not state the direction of the axis */
    /* rotations by the circles inside and outside of it (row-major, frame of NeXus) */
    double fixed[9], setting[9];
} db_nexus_scan;

/* found 0: nothing turns. */
db_status db_nexus_scan_find(const db_nexus_file *file, size_t frame, db_nexus_scan *scan,
                             int *found);

#endif
