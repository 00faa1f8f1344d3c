/* Counts of a detector as pixels of an image: values, and which of them do not count. */
#ifndef DB_IO_NEXUS_COUNTS_H
#define DB_IO_NEXUS_COUNTS_H

#include "io/hdf5/hdf5_chunks.h"
#include "io/images/counts.h"
#include "io/images/image.h"

/* The valid counts that a file states; NAN: not stated. */
typedef struct db_nexus_limits {
    double underload, saturation; /* valid ones are within */
    double bits;                  /* of a count */
    int own; /* 1: no number but the largest unsigned one is a mark: files of this program */
} db_nexus_limits;

typedef struct db_nexus_sink {
    float *value;
    uint8_t *mask;
    db_counts counts;
    /* 1: all numbers are needed to tell whether negative ones are counts or marks
     * (db_decide_marks) */
    int settles;
} db_nexus_sink;

/* Sets the sink's limits, and the image's overload, from those stated and the type. Without stated limits the two
 * largest unsigned numbers are marks (no detector, defective), so are the lowest signed number and floats beyond
 * the range of integers. */
void db_nexus_sink_init(const db_nexus_limits *limits, const db_hdf5_format *format,
                        db_measured_image *image, db_nexus_sink *sink);

/* db_hdf5_sinks of such a user. The first leaves the mask of pixels that are masked already. */
void db_nexus_take_pixels(void *user, const db_hdf5_format *format, const unsigned char *elements,
                          size_t n, size_t to);
void db_nexus_take_mask(void *user, const db_hdf5_format *format, const unsigned char *elements,
                        size_t n, size_t to);

/* Marks pixels that no piece has as gaps. Call before unpacking. */
void db_nexus_mark_gaps(const db_hdf5_pieces *pieces, db_measured_image *image);

#endif
