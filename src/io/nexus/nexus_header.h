/* Reads the experiment of one image from the groups of a NeXus file. Call between db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_HEADER_H
#define DB_IO_NEXUS_HEADER_H

#include "io/images/image.h"
#include "io/nexus/nexus_counts.h"
#include "io/nexus/nexus_file.h"

typedef struct db_nexus_header {
    const db_nexus_file *file;
    size_t number; /* of the image, from 0 */
    db_nexus_limits limits;
    /* the image takes the values that it has members for, geometry the rest */
    db_measured_image *image;
    db_image_geometry geometry;
    int faces_beam, usual_spindle; /* 1: the detector, or the spindle, has the default axes */
    int by_chain;                  /* 1: the file places the detector by a chain */
} db_nexus_header;

/* file, number and image are filled. */
db_status db_nexus_header_read(db_nexus_header *header);

#endif
