/* The parts of a NeXus file, and what its chains of transformations say. Between db_hdf5_enter and
 * _leave. */
#ifndef DB_IO_NEXUS_FILE_H
#define DB_IO_NEXUS_FILE_H

#include "io/hdf5/hdf5_file.h"

/* Groups of a file; id -1 where there is none. */
typedef struct db_nexus_file {
    db_context *context;
    const char *path;
    db_hdf5_object root, entry, data, instrument, detector, specific, beam, sample;
} db_nexus_file;

db_status db_nexus_open(db_context *context, const char *path, db_nexus_file *file);
void db_nexus_close(db_nexus_file *file);

/* Where an image is: a data set of one of the shapes slow x fast, images x slow x fast and images x
 * panels x slow x fast. */
typedef struct db_nexus_frame {
    db_hdf5_object data;
    hsize_t index; /* of the image in that data set, from 0 */
    int rank;
    hsize_t extent[4]; /* of the data set */
    size_t number;     /* of the image among all, from 0 */
} db_nexus_frame;

/* frame from 1; 0: the only one there is. */
db_status db_nexus_find_frame(const db_nexus_file *file, long frame, db_nexus_frame *found);

/* Number of images. */
db_status db_nexus_count_frames(const db_nexus_file *file, size_t *count);

/* Rotation and shift (mm): p becomes turn p + shift. Rows of the matrix. */
typedef struct db_nexus_motion {
    double turn[3][3], shift[3];
} db_nexus_motion;

/* The axis of a sample's chain that turns during the scan. */
typedef struct db_nexus_scan {
    double axis[3];    /* as the axes outside of it leave it */
    double phi, range; /* degree, at the image and over it; NAN */
} db_nexus_scan;

/* The motion by a transformation and all that it depends on, at image number `frame` (from 0). path
 * begins at `from`, "." is no motion. */
db_status db_nexus_chain(const db_hdf5_object *from, const char *path, size_t frame,
                         db_nexus_motion *motion);

/* found 0: nothing turns. */
db_status db_nexus_scan_axis(const db_nexus_file *file, size_t frame, db_nexus_scan *scan,
                             int *found);

/* A length in mm, an angle in degree: what a number in units is times this; 0: not known. */
double db_nexus_length_unit(const char *unit);
double db_nexus_angle_unit(const char *unit);

/* A length (mm), in metres where it does not say; NAN: missing. */
db_status db_nexus_length(const db_hdf5_object *from, const char *path, size_t index,
                          double *length);

/* Where the panel stands: in the frame of NeXus, z along the beam, y up; mm. */
typedef struct db_nexus_panel {
    double origin[3], fast[3], slow[3]; /* outer corner of the first pixel; unit vectors */
    double pixel_size[2];
} db_nexus_panel;

/* Where a group of class NXdetector_module says that it stands. */
db_status db_nexus_read_module(const db_hdf5_object *module, size_t frame, db_nexus_panel *panel);

/* The module of the detector; found 0: it has none, or several. */
db_status db_nexus_module(const db_nexus_file *file, size_t frame, db_nexus_panel *panel,
                          int *found);

#endif
