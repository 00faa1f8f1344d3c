/* What each of several crystals on one image shines: where their spots overlap, each gets its
 * share. */
#ifndef DB_FIT_OBJECTIVE_LATTICE_LIGHT_H
#define DB_FIT_OBJECTIVE_LATTICE_LIGHT_H

#include "fit/pixels/fit_data.h"

/* Fills light[c], an image each, with the counts of each crystal's spots (0 beside them). The
 * image's expected counts are the sum over crystals, and a background. Intensities of all crystals
 * are found together, at the best of the weighted target: each crystal's from the image without the
 * light of the others, again and again until none changes any more. */
db_status db_lattice_light(db_context *context, const db_experiment *crystals, size_t count,
                           const db_fit_data *data, float *const *light);

#endif
