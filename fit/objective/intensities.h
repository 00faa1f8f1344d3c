/* Intensity of each reflection on an image: the model's spot, fitted to its shoebox. */
#ifndef DB_FIT_OBJECTIVE_INTENSITIES_H
#define DB_FIT_OBJECTIVE_INTENSITIES_H

#include "fit/pixels/shoeboxes.h"
#include "fit/objective/objective.h"

#include <dualbragg/expert/boxes.h>

/* Intensity of a box. Returns 0 if the model has no light in it. */
int db_intensity_of(const db_box_measured *measured, const db_spot *reflection,
                    const db_region *region, db_fit_reflection *spot);

/* Gives all spots of a reflection, which a rotation may show twice, their weighted mean F. List: in the order of
 * h, k, l. */
void db_intensities_share(db_fit_reflection *list, size_t count);

/* Intensity that all blocks of an objective share. */

/* Moves the intensity of all blocks, and the background of each, to their best values. */
db_status db_objective_solve_common(db_objective *objective);

/* Prior on free intensities. A reflection far from the Ewald sphere has almost no light; without a prior, a huge J
 * would make any spot near it. Wilson statistics give the size of intensities. */

/* Sets boxes->ridge: sigma is `limit` times the mean intensity of the 61 boxes nearest in resolution (limit 0: no
 * ridge). light: sums of the model's image with unit J over each box (db_boxes_light), which are overwritten. */
db_status db_intensity_prior_set(db_context *context, db_shoeboxes *boxes, double *light,
                                 double limit);
/* As db_intensity_prior_set, from this image. */
db_status db_intensity_prior_of_image(db_context *context, db_shoeboxes *boxes, const float *shape,
                                      double limit);

#endif
