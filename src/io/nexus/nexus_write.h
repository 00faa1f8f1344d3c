/* Writes images with their experiments as NeXus files of the application definition NXmx. */
#ifndef DB_IO_NEXUS_WRITE_H
#define DB_IO_NEXUS_WRITE_H

#include "io/hdf5/bitshuffle_write.h"

#include <dualbragg/plan.h>

typedef enum db_nexus_pixels {
    DB_NEXUS_FLOATS, /* float */
    DB_NEXUS_16_BIT, /* uint16_t */
    DB_NEXUS_32_BIT  /* int32_t */
} db_nexus_pixels;

typedef struct db_nexus_format {
    db_nexus_pixels pixels;
    const unsigned char *mask; /* 0: a pixel that does not count; shape of an image; NULL: all do */
    const db_region *region;   /* pixels of the only panel outside of it do not count; NULL */
    double exposure;           /* s; 0: not known */
    double gain, pedestal;     /* pixel = pedestal + gain * photons */
} db_nexus_format;

typedef struct db_nexus_writer db_nexus_writer;

/* 1 for a name that ends in .h5, .hdf5 or .nxs. */
int db_names_hdf5(const char *path);

/* Begins a file for images of an experiment: of all panels, which are of one width, one below the
 * other. DB_ERROR_UNSUPPORTED for other detectors and in builds without libhdf5. */
db_status db_nexus_create(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer);

/* Continues a file begun by db_nexus_create for the same experiment and format; the file is unchanged until
 * db_nexus_finish. */
db_status db_nexus_resume(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer);

/* The number of images in a file, if there is one; 0: there is none. */
db_status db_nexus_count_images(db_context *context, const char *path, size_t *count);

/* Fails unless this is the last image of a file that is gone on with. */
db_status db_nexus_expect_last(db_nexus_writer *writer, const db_packed *packed);

/* Packs an image for a writer, which may be done by several threads at once; each with a context of
 * its own. */
db_status db_nexus_pack(db_context *context, const db_nexus_writer *writer, const void *pixels,
                        db_packed *packed);

/* Appends an image. Of its experiment the wavelengths and the spindle's angles may be others. */
db_status db_nexus_append(db_nexus_writer *writer, const db_experiment *experiment,
                          const db_packed *packed);

/* Gives the file its name if status is DB_OK, else removes it; the writer is gone. Returns status, or
 * the failure. *writer may be NULL. */
db_status db_nexus_finish(db_nexus_writer **writer, db_status status);

/* Writes a file with one image. */
db_status db_nexus_write(db_context *context, const char *path, const db_experiment *experiment,
                         const db_nexus_format *format, const void *pixels);

#endif
