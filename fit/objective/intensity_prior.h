/* The prior on free intensities. A reflection far from the Ewald sphere has a shape of almost no
 * intensity; without a prior, a huge J could make any spot near it out of that. Wilson statistics
 * say how large intensities are. */
#ifndef DB_FIT_OBJECTIVE_INTENSITY_PRIOR_H
#define DB_FIT_OBJECTIVE_INTENSITY_PRIOR_H

#include "fit/pixels/shoeboxes.h"

/* Sets boxes->ridge: sigma is `limit` times the mean intensity of the 61 boxes nearest in
 * resolution (limit 0: no ridge). shape: the model's image of unit J in the boxes. */
db_status db_intensity_prior_set(db_context *context, db_shoeboxes *boxes, const float *shape,
                                 double limit);

#endif
