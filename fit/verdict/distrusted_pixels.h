/* Single pixels that a robust target hardly lets count: zingers, hot pixels, foreign spots. */
#ifndef DB_FIT_VERDICT_DISTRUSTED_PIXELS_H
#define DB_FIT_VERDICT_DISTRUSTED_PIXELS_H

#include "fit/objective/objective.h"

/* Fills the result's distrusted pixels from the target as last evaluated; other targets than huber
 * and student trust all pixels alike. */
db_status db_distrusted_pixels_find(db_context *context, const db_objective *shot,
                                    db_fit_result *result);

#endif
