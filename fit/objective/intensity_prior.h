/* The prior on free intensities. A reflection far from the Ewald sphere has a shape of almost no
 * intensity; without a prior, a huge J could make any spot near it out of that. Wilson statistics
 * say how large intensities are. */
#ifndef DB_FIT_OBJECTIVE_INTENSITY_PRIOR_H
#define DB_FIT_OBJECTIVE_INTENSITY_PRIOR_H

#include "fit/pixels/shoeboxes.h"

/* Sets boxes->ridge: sigma is `limit` times the mean intensity of the 61 boxes nearest in
 * resolution (limit 0: no ridge). light: sums of the model's image of unit J over each box
 * (db_boxes_light), which are used up. */
db_status db_intensity_prior_set(db_context *context, db_shoeboxes *boxes, double *light,
                                 double limit);
/* The same from that image. */
db_status db_intensity_prior_of_image(db_context *context, db_shoeboxes *boxes, const float *shape,
                                      double limit);

#endif
