/* The scan of an experiment list: which of its images is meant, its turn and wavelength, and what varies
 * along it. Built with jansson only. */
#ifndef DB_IO_EXPT_SCAN_H
#define DB_IO_EXPT_SCAN_H

#include "base/json_reader.h"

/* An image's place in its scan. */
typedef struct db_scan_place {
    int is_scan;         /* 0: there is none */
    long number;         /* of the image, as the scan counts them */
    long step, count;    /* number of the image in the scan, from 0, and of its images */
    double start, width; /* of its rotation (degree) */
    double wavelength;   /* its own (A); NAN: that of the beam */
} db_scan_place;

/* The number of an image in its set, from 0 or as its name says; -1: it is not there. */
long db_imageset_number(const db_json *imageset, const char *image);

/* Where an image is in its scan: the one of that number, or else (0) of that name, or else (NULL) the
 * first one. Models without value are absent. */
db_status db_scan_place_of(const db_json *scan, const db_json *imageset, const char *image,
                           long number, db_scan_place *place);

/* What a model says of a scan's points, between which its images are: the mean of the two beside the
 * image. There is one more point than images. *found 0: the model has no such points, and mean stays
 * as it was. size: of a point, at most 9. */
db_status db_mean_at_scan_points(const db_json *model, const char *name, const db_scan_place *place,
                                 double *mean, size_t size, int *found);

#endif
