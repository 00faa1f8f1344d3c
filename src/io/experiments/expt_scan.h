/* The scan of an experiment list: the step of an image, its turn and wavelength, and the mean of values along the
 * scan. Needs jansson only. */
#ifndef DB_IO_EXPT_SCAN_H
#define DB_IO_EXPT_SCAN_H

#include "base/json_reader.h"

/* An image's place in its scan. */
typedef struct db_scan_place {
    int is_scan;         /* 0: there is none */
    long number;         /* of the image, as the scan counts them */
    long step, count;    /* number of the image in the scan, from 0, and of its images */
    double start, width; /* of its rotation (degree) */
    double wavelength;   /* of this image (A); NAN: the beam's */
} db_scan_place;

/* The image's number in the set: from 0, or from its name if the set has a template; -1: not in the set. */
long db_imageset_number(const db_json *imageset, const char *image);

/* The place in its scan of the image with this number, or (0) with this name, or (NULL) of the first image.
 * Missing models have no value. */
db_status db_scan_place_of(const db_json *scan, const db_json *imageset, const char *image,
                           long number, db_scan_place *place);

/* The mean of a model's values at the two scan points beside the image (there is one more point than images).
 * *found 0: the model has no such points; mean is unchanged. size: numbers of a point, at most 9. */
db_status db_mean_at_scan_points(const db_json *model, const char *name, const db_scan_place *place,
                                 double *mean, size_t size, int *found);

#endif
