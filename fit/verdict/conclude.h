/* Conclusion of a refinement: statistics, errors, shoeboxes, the model's image. */
#ifndef DB_FIT_VERDICT_CONCLUDE_H
#define DB_FIT_VERDICT_CONCLUDE_H

#include "fit/objective/stage_data.h"

/* Fills before, after, error, correlation, shoeboxes and model_image of a result whose start,
 * refined, at_bound and experiment are known. */
db_status db_fit_conclude(db_context *context, const db_experiment *start, const db_fit_data *data,
                          const db_panel_placement *placement, db_fit_result *result);

/* For one of many shots: fills before and after (except for strong pixels) and error. Images of all predicted
 * reflections would take as long as the refinement. */
db_status db_fit_conclude_shot(db_context *context, const db_experiment *start,
                               const db_fit_data *data, const db_panel_placement *placement,
                               db_fit_result *result);

/* Frees what belongs to a result. */
void db_fit_result_clear(db_fit_result *result);

#endif
