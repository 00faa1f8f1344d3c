/* What the groups of a NeXus file say of the experiment of one image. Between db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_HEADER_H
#define DB_IO_NEXUS_HEADER_H

#include "io/images/image.h"
#include "io/nexus/nexus_counts.h"
#include "io/nexus/nexus_file.h"

typedef struct db_nexus_header {
    const db_nexus_file *file;
    size_t number; /* of the image, from 0 */
    db_nexus_limits limits;
    /* what images have room for is in the image, the rest here */
    db_measured_image *image;
    db_image_geometry geometry;
    int faces_beam, usual_spindle; /* axes are those of the default convention */
    int by_chain;                  /* 1: the file places the detector by a chain */
} db_nexus_header;

/* file, number and image are filled. */
db_status db_nexus_header_read(db_nexus_header *header);

#endif
