/* Shoeboxes of a shot for joint intensities. */
#ifndef DB_FIT_INTENSITIES_BOXES_H
#define DB_FIT_INTENSITIES_BOXES_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/pixels/shoeboxes.h"

/* The finest resolution (angstrom) at which half of the rays around the beam meet a panel. */
db_status db_intensity_rim(db_context *context, const db_experiment *experiment, double *dmin);

/* Boxes of all listed reflections that are bright enough in the model. Measured counts must not select them, or
 * intensities would come out too large. Weights have no error of shape, because the scatter between shots gives
 * it. */
db_status db_intensity_boxes_take(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, const db_asu_list *list,
                                  db_shoeboxes *boxes);

#endif
