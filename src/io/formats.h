/* Every kind of file that is read, in one table: how it is told by its content, what it holds, who
 * reads it. A new format is a row of formats.c; nothing goes by the names of files. */
#ifndef DB_IO_FORMATS_H
#define DB_IO_FORMATS_H

#include "io/experiments/expt_circles.h"
#include "io/format_text.h"
#include "io/images/image.h"
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/listed_shots.h>

/* How amplitudes are read (structure_factors_read.c). */
typedef enum db_amplitude_file {
    DB_NO_AMPLITUDES,
    DB_AMPLITUDES_LINES, /* h k l F */
    DB_AMPLITUDES_MTZ,
    DB_AMPLITUDES_CIF, /* reflections, or atoms */
    DB_AMPLITUDES_PDB,
    DB_AMPLITUDES_CACHE /* Fdump.bin */
} db_amplitude_file;

typedef struct db_format {
    const char *label; /* "SMV": at most 15 characters; db_measured_image.format at first */
    const char *name;  /* for messages: "an SMV image" */
    unsigned holds;    /* DB_HOLDS_*; 0: known, so that messages can name it, but not read */
    int (*begins)(const db_file_head *head);
    int uncertain; /* 1: text that could be something else, too: never a reason to refuse it */
    int by_name;   /* 1: its library opens the file itself, which cannot be packed then */
    db_amplitude_file amplitudes;
    /* Readers; NULL: none. Of an image from the whole file in memory, of one of many images from the
     * file (frame from 1; 0: the only one). image: initialized with the label. */
    db_status (*image)(db_context *context, const char *path, const db_file_content *content,
                       db_measured_image *image);
    db_status (*frame)(db_context *context, const char *path, long frame, db_measured_image *image);
    /* What an image says of the experiment, where that is more than db_measured_image has. */
    db_status (*header)(db_context *context, const char *path, long frame,
                        db_image_geometry *geometry);
    /* Frame, detector, beam, crystal: as db_read_expt. */
    db_status (*geometry)(db_context *context, const char *path, const db_expt_selection *selection,
                          db_experiment *experiment, db_expt_content *content);
    /* What stands between crystal, spindle and laboratory, in the frame of lists; found 0: nothing. */
    db_status (*circles)(db_context *context, const char *path, db_circles *circles, int *found);
    /* Number of images, or of experiments of a list; NULL: one. */
    db_status (*count)(db_context *context, const char *path, size_t *count);
    /* As db_list_shots, into an empty list, which is cleared after a failure. */
    db_status (*shots)(db_context *context, const char *path, db_listed_shots *shots);
    /* As db_read_mosflm_matrix. */
    db_status (*matrix)(db_context *context, const char *path, double matrix[9]);
} db_format;

/* The format of a file; NULL: none of the table. Formats that hold what is wanted (DB_HOLDS_*; 0: no
 * matter what) are looked through first. A file that is no regular one is not touched: NULL. */
db_status db_format_of_file(db_context *context, const char *path, unsigned wanted,
                            const db_format **format);

/* The format of content that is in memory already. */
const db_format *db_format_of_content(const char *path, const db_file_content *content,
                                      unsigned wanted);

/* Fails because a file holds something else than wanted (one of DB_HOLDS_*): what was expected, and
 * what was found. content may be NULL. */
db_status db_fail_format(db_context *context, const char *path, const db_format *format,
                         const db_file_content *content, unsigned wanted);

/* Number of images, or of experiments, of a file (not FILE#N). */
db_status db_file_count(db_context *context, const char *path, size_t *count);

#endif
