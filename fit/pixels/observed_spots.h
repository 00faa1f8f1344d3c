/* Spots of a measured image, found without a model. */
#ifndef DB_FIT_PIXELS_OBSERVED_SPOTS_H
#define DB_FIT_PIXELS_OBSERVED_SPOTS_H

#include "fit/pixels/strong_pixels.h"

typedef struct db_observed_spot {
    size_t panel;
    double position[2];   /* centroid of its counts above the background (pixels, fast, slow) */
    double counts;        /* of them */
    size_t pixels;        /* in its group; 0: not known, as the covariance then is */
    double covariance[3]; /* of these counts (pixels^2: fast, slow, of both) */
    int hkl[3];
} db_observed_spot;

typedef struct db_observed_spots {
    size_t count;
    db_observed_spot *spot; /* owned */
} db_observed_spots;

/* Centroids of the groups of touching strong pixels. */
db_status db_observed_spots_find(db_context *context, const db_measured_image *image,
                                 const db_strong_pixels *strong, db_observed_spots *spots);

/* The same of an image whose strong pixels nobody has found. */
db_status db_observed_spots_of_image(db_context *context, const db_measured_image *image,
                                     const db_fit_settings *settings, db_observed_spots *spots);

/* The same, but a group that has several summits is as many spots. */
db_status db_observed_spots_divide(db_context *context, const db_measured_image *image,
                                   const db_strong_pixels *strong, const db_fit_settings *settings,
                                   db_observed_spots *spots);
/* The strongest first. */
void db_observed_spots_sort(db_observed_spots *spots);
void db_observed_spots_clear(db_observed_spots *spots);

#endif
