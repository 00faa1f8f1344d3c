/* XPARM.XDS and GXPARM.XDS: geometry and crystal as XDS writes them. */
#ifndef DB_IO_XPARM_H
#define DB_IO_XPARM_H

#include "base/file_content.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>

/* Recognition by content: the name in the first line, or the eleven lines of 42 numbers of older
 * versions. */
int db_is_xparm(const db_file_content *content);

/* A part of the detector with a place of its own. Pixels are counted from 1. */
typedef struct db_xparm_segment {
    int range[4];      /* first and last pixel along x, first and last along y */
    double origin[2];  /* ORGXS, ORGYS (pixels) */
    double distance;   /* FS (mm) */
    double axis[2][3]; /* of x and y in the detector's system */
} db_xparm_segment;

/* The contents of the file, in its own frame; the real-space vectors are at a spindle angle of 0. */
typedef struct db_xparm {
    long first_image;
    double first_angle, osc_range; /* degree: at the start of that image, and the width of each */
    double spindle[3];
    double wavelength, beam[3]; /* beam: away from the source, of any length */
    int space_group;            /* number */
    double cell[6];
    double real[9]; /* rows a, b, c (A) */
    int pixels[2];
    double pixel_size[2];      /* mm */
    double origin[2];          /* ORGX, ORGY (pixels) */
    double distance;           /* mm along the third axis; may be negative */
    double axis[3][3];         /* of the detector: x, y, their normal */
    size_t segment_count;      /* 0: the detector is one */
    db_xparm_segment *segment; /* owned */
} db_xparm;

/* Reads the file as it is. To be cleared in any case. */
db_status db_xparm_parse(db_context *context, const char *path, db_xparm *xparm);
void db_xparm_clear(db_xparm *xparm);

/* The rotation (row-major) from the file's frame to that of experiment lists, as dxtbx chooses it: x along the
 * spindle, z against the beam. Returns 0 if there is none. */
int db_xparm_frame(const db_xparm *xparm, double turn[9]);

/* db_read_expt of such a file. */
db_status db_xparm_read(db_context *context, const char *path, const db_expt_selection *selection,
                        db_experiment *experiment, db_expt_content *content);

/* Writes an experiment in the frame of the file `source`, with the rest of that file's values. */
db_status db_xparm_write(db_context *context, const char *path, const char *source,
                         const db_experiment *experiment);

#endif
