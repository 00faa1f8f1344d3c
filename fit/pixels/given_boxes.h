/* Shoeboxes of a list: each is any rectangle of pixels. */
#ifndef DB_FIT_PIXELS_GIVEN_BOXES_H
#define DB_FIT_PIXELS_GIVEN_BOXES_H

#include "fit/pixels/predict.h"

#include <stdint.h>

/* Assigns boxes to reflections: *given, to be freed, has a box or NULL for each predicted reflection. A box with
 * indices belongs to this reflection, if it is predicted there; a box without to the reflection predicted nearest
 * to its middle. */
db_status db_given_boxes_assign(db_context *context, const db_fit_spots *boxes,
                                const db_predicted_spots *prediction, const db_fit_spot ***given);

/* Half the width (pixels) of squares around the largest box. */
int db_given_boxes_half_width(const db_fit_spots *boxes);

/* Square of pixels around a box, moved to be on a panel of these sizes. */
db_region db_given_box_region(const db_fit_spot *box, int half_width, const int pixels[2]);

/* Clears pixels of the square outside the box; returns whether any are left. */
int db_given_box_pixels(const db_fit_spot *box, const db_region *region, uint8_t *own);

#endif
