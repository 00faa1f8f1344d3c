/* How far a stage looks, by the spots that an image has. */
#ifndef DB_FIT_SEARCH_STAGE_LIMIT_H
#define DB_FIT_SEARCH_STAGE_LIMIT_H

#include "fit/pixels/fit_data.h"

/* The finest resolution (A) of the data of stage number `number`: its dmin, or where its share of the spots found without a
 * model lies within, whichever is coarser. 0: none. */
db_status db_stage_limit(db_context *context, const db_experiment *model, const db_fit_data *data,
                         int number, double *dmin);

#endif
