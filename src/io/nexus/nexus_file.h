/* The groups of a NeXus file, its images and its chains of transformations. Call between db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_FILE_H
#define DB_IO_NEXUS_FILE_H

#include "io/hdf5/hdf5_file.h"

/* The groups of a file; id -1: missing. */
typedef struct db_nexus_file {
    db_context *context;
    const char *path;
    db_hdf5_object root, entry, data, instrument, detector, specific, beam, sample;
} db_nexus_file;

db_status db_nexus_open(db_context *context, const char *path, db_nexus_file *file);
void db_nexus_close(db_nexus_file *file);

/* The place of an image: in a data set of shape slow x fast, images x slow x fast or images x panels x slow x
 * fast. */
typedef struct db_nexus_frame {
    db_hdf5_object data;
    hsize_t index; /* of the image in that data set, from 0 */
    int rank;
    hsize_t extent[4]; /* of the data set */
    size_t number;     /* of the image among all, from 0 */
    /* The number of the detector's thresholds, and this image's, from 0. With one threshold, rank 4 means several
     * panels. */
    int thresholds, threshold;
} db_nexus_frame;

/* Finds an image. frame: from 1; 0: the only one. Numbers beyond all images continue with the images of the second
 * threshold, and so on. */
db_status db_nexus_find_frame(const db_nexus_file *file, long frame, db_nexus_frame *found);

/* The number of an image (from 0) within its threshold. The file need not have images. */
size_t db_nexus_number_of(const db_nexus_file *file, long frame);

/* Fills the thresholds of a frame; 1: its detector has one, or none. */
db_status db_nexus_count_thresholds(const db_nexus_file *file, db_nexus_frame *frame);

/* The data set of this name (such as its mask) in the group of threshold `number` (from 0); id -1: there is none. */
db_status db_nexus_threshold_data(const db_nexus_file *file, int number, const char *name,
                                  db_hdf5_object *data);

/* A notice that names the thresholds to choose from. images: the number of images of one. */
db_status db_nexus_tell_thresholds(const db_nexus_file *file, const db_nexus_frame *frame,
                                   size_t images);

/* Number of images, of one threshold. */
db_status db_nexus_count_frames(const db_nexus_file *file, size_t *count);

/* Rotation and shift (mm): p becomes turn p + shift. Rows of the matrix. */
typedef struct db_nexus_motion {
    double turn[3][3], shift[3];
} db_nexus_motion;

/* The place of a panel: in the frame of NeXus, z along the beam, y up; mm. */
typedef struct db_nexus_panel {
    double origin[3], fast[3], slow[3]; /* outer corner of the first pixel; unit vectors */
    double pixel_size[2];
} db_nexus_panel;

/* Reads the place of a group of class NXdetector_module. */
db_status db_nexus_read_module(const db_hdf5_object *module, size_t frame, db_nexus_panel *panel);

/* Calls `take` for the detector's modules, groups of class NXdetector_module, in the order of their names. Modules
 * behind broken links are skipped. */
typedef db_status db_nexus_module_taker(void *user, const db_hdf5_object *module, const char *name);
db_status db_nexus_each_module(const db_nexus_file *file, db_nexus_module_taker *take, void *user);

/* The module of the detector; found 0: it has none, or several. */
db_status db_nexus_module(const db_nexus_file *file, size_t frame, db_nexus_panel *panel,
                          int *found);

#endif
