/* Light of each of several crystals on one image: overlapping spots get their shares. */
#ifndef DB_FIT_OBJECTIVE_LATTICE_LIGHT_H
#define DB_FIT_OBJECTIVE_LATTICE_LIGHT_H

#include "fit/pixels/fit_data.h"

/* Fills light[c], an image each, with the counts of a crystal's spots (0 beside them). The image's expected counts
 * are the sum over crystals, plus a background. Intensities minimize the weighted target together: each crystal's
 * are found from the image without the light of the others, repeatedly until they settle. */
db_status db_lattice_light(db_context *context, const db_experiment *crystals, size_t count,
                           const db_fit_data *data, float *const *light);

#endif
