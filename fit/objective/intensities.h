/* What an image shows of each reflection, by fitting the model's spot to its shoebox. */
#ifndef DB_FIT_OBJECTIVE_INTENSITIES_H
#define DB_FIT_OBJECTIVE_INTENSITIES_H

#include "fit/pixels/shoeboxes.h"
#include "fit/objective/objective.h"

#include <dualbragg/expert/boxes.h>

/* The spot of a box. Returns 0 where the model has no light in it. */
int db_intensity_of(const db_box_measured *measured, const db_reflection *reflection,
                    const db_region *region, db_fit_reflection *spot);

/* A rotation may show a reflection twice: the same F for all spots of one, their weighted mean. In the
 * order of h, k, l. */
void db_intensities_share(db_fit_reflection *list, size_t count);

/* An intensity that all blocks of an objective share. */

/* Moves the intensity of all blocks, and the background of each, to their best values. */
db_status db_objective_solve_common(db_objective *objective);

/* The prior on free intensities. A reflection far from the Ewald sphere has a shape of almost no
 * intensity; without a prior, a huge J could make any spot near it out of that. Wilson statistics
 * say how large intensities are. */

/* Sets boxes->ridge: sigma is `limit` times the mean intensity of the 61 boxes nearest in
 * resolution (limit 0: no ridge). light: sums of the model's image of unit J over each box
 * (db_boxes_light), which are used up. */
db_status db_intensity_prior_set(db_context *context, db_shoeboxes *boxes, double *light,
                                 double limit);
/* The same from that image. */
db_status db_intensity_prior_of_image(db_context *context, db_shoeboxes *boxes, const float *shape,
                                      double limit);

#endif
