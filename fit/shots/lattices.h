/* Several lattices of one image: shots with the same image. Its counts are the sum of their light, so each is
 * refined with the light of the others as background. */
#ifndef DB_FIT_SHOTS_LATTICES_H
#define DB_FIT_SHOTS_LATTICES_H

#include "fit/shots/shots.h"

/* Finds shots with the same image and settings of frames, from the source, and the crystals of a series. */
db_status db_lattices_find(db_shots *all);

/* Computes the light of the other lattices of each shot's image, by the present models, and keeps it in the store.
 * Does nothing if each shot has its own image. stage: the next one. */
db_status db_lattices_share(db_shots *all, int stage);

/* Adds this light to the known background of a shot's image. */
db_status db_lattices_add_light(const db_shots *all, db_context *context, size_t shot,
                                const db_measured_image *image, db_strong_pixels *strong);

#endif
