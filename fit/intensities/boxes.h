/* The shoeboxes of a shot whose intensities all shots share. */
#ifndef DB_FIT_INTENSITIES_BOXES_H
#define DB_FIT_INTENSITIES_BOXES_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/pixels/shoeboxes.h"

/* The finest resolution (angstrom) that half of the rays around the beam meet a panel at. */
db_status db_intensity_rim(db_context *context, const db_experiment *experiment, double *dmin);

/* Boxes of all reflections of the list that the model makes bright enough, whatever was counted
 * there: what was measured must not choose, or intensities would come out too large. They are
 * weighed without an error of shape, which the scatter between shots tells. */
db_status db_intensity_boxes_take(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, const db_asu_list *list,
                                  db_shoeboxes *boxes);

#endif
