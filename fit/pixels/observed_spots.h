/* Spots of a measured image, found without a model. */
#ifndef DB_FIT_PIXELS_OBSERVED_SPOTS_H
#define DB_FIT_PIXELS_OBSERVED_SPOTS_H

#include "fit/pixels/strong_pixels.h"

/* Finds the strong pixels of an image, then its spots. */
db_status db_observed_spots_of_image(db_context *context, const db_measured_image *image,
                                     const db_fit_settings *settings, db_observed_spots *spots);

/* Spots of strong pixels, the brightest first: groups of touching pixels; one with several summits is as many spots. They are
 * found when they are asked for first, and the strong pixels remember them. */
db_status db_observed_spots_find(db_context *context, const db_measured_image *image,
                                 const db_strong_pixels *strong, const db_fit_settings *settings,
                                 db_observed_spots *spots);
/* The spots of an image, found when somebody asks for them first, the strongest first; with its strong pixels. */
typedef struct db_image_spots {
    const db_measured_image *image;
    int known;
    db_observed_spots seen;
    db_strong_pixels strong;
} db_image_spots;
db_status db_image_spots_need(db_context *context, const db_fit_settings *settings,
                              db_image_spots *spots);
void db_image_spots_clear(db_image_spots *spots);

/* Sorts spots, the strongest first. */
void db_observed_spots_sort(db_observed_spots *spots);
void db_observed_spots_clear(db_observed_spots *spots);

#endif
