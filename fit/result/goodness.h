/* Goodness of fit by resolution, by place on the detector, and of single pixels. */
#ifndef DB_FIT_RESULT_GOODNESS_H
#define DB_FIT_RESULT_GOODNESS_H

#include "fit/objective/objective.h"

/* Cuts the data of a target into shells and regions of the result, whose experiment gives the
 * resolution of the pixels. shell: receives the shell of each element of the blocks' arrays that is in use; to be freed. */
db_status db_goodness_prepare(db_context *context, const db_objective *objective,
                              db_fit_result *result, uint8_t **shell);

typedef enum db_goodness_time { DB_GOODNESS_BEFORE, DB_GOODNESS_AFTER } db_goodness_time;

/* Fills before or after of shells and regions from the target as last evaluated, which has the blocks of
 * db_goodness_prepare. */
db_status db_goodness_measure(db_context *context, const db_objective *objective,
                              const uint8_t *shell, db_goodness_time time, db_fit_result *result);

/* Fills spots and shift of the regions from the result's shoeboxes. */
void db_goodness_shifts(db_fit_result *result);

/* Fills the result's distrusted pixels from the target as last evaluated: pixels with little weight in the targets
 * huber and student. */
db_status db_distrusted_pixels_find(db_context *context, const db_objective *objective,
                                    db_fit_result *result);

void db_goodness_free(db_fit_result *result);

#endif
