/* Shoeboxes that a list gives: any rectangle of pixels each. */
#ifndef DB_FIT_PIXELS_GIVEN_BOXES_H
#define DB_FIT_PIXELS_GIVEN_BOXES_H

#include "fit/pixels/predict.h"

#include <stdint.h>

/* Whose boxes they are: in *given, to be freed, a box for each predicted reflection, or NULL. A box
 * with indices is that reflection's, if it is predicted there; one without is that of the
 * reflection predicted nearest to its middle. */
db_status db_given_boxes_assign(db_context *context, const db_fit_spots *boxes,
                                const db_prediction *prediction, const db_fit_spot ***given);

/* Half the width (pixels) of squares that hold the largest of them. */
int db_given_boxes_half_width(const db_fit_spots *boxes);

/* Square of pixels around a box, moved to be on a panel of these sizes. */
db_region db_given_box_region(const db_fit_spot *box, int half_width, const int pixels[2]);

/* Clears what of the square lies outside the box; returns whether anything is left. */
int db_given_box_pixels(const db_fit_spot *box, const db_region *region, uint8_t *own);

#endif
