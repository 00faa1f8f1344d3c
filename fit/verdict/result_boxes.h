/* The shoeboxes of a result. */
#ifndef DB_FIT_VERDICT_RESULT_BOXES_H
#define DB_FIT_VERDICT_RESULT_BOXES_H

#include "fit/pixels/shoeboxes.h"
#include "fit/objective/objective.h"

/* Copies the boxes into the result, with the model of an objective that has these blocks. inflation multiplies the
 * variances of the intensities. */
db_status db_result_boxes_make(db_context *context, const db_objective *objective,
                               const db_shoeboxes *boxes, double inflation, db_fit_result *result);
void db_result_boxes_free(db_fit_result *result);

#endif
