/* Several lattices of one image: shots that have the same image. Its counts are the sum of their
 * light, so each is refined beside the light of the others. */
#ifndef DB_FIT_SHOTS_LATTICES_H
#define DB_FIT_SHOTS_LATTICES_H

#include "fit/shots/shots.h"

/* Finds out from the source which shots have the same image. */
db_status db_lattices_find(db_shots *all);

/* Works out, by the models so far, the light of the other lattices of each shot's image, and keeps
 * it in the store. Does nothing where each shot has an image of its own. stage: the next one. */
db_status db_lattices_share(db_shots *all, int stage);

/* Adds that light to what is known of the background of a shot's image. */
db_status db_lattices_add_light(const db_shots *all, db_context *context, size_t shot,
                                const db_measured_image *image, db_strong_pixels *strong);

#endif
