/* Conclusion of a refinement: statistics, errors, shoeboxes, the model's image. */
#ifndef DB_FIT_VERDICT_CONCLUDE_H
#define DB_FIT_VERDICT_CONCLUDE_H

#include "fit/objective/objective.h"
#include "fit/objective/stage_data.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/verdict/evidence.h"

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

/* Parts of the conclusion. */

/* Copies the boxes into the result, with the model of an objective that has these blocks. inflation multiplies the
 * variances of the intensities. */
db_status db_result_boxes_make(db_context *context, const db_objective *objective,
                               const db_shoeboxes *boxes, double inflation, db_fit_result *result);
void db_result_boxes_free(db_fit_result *result);

/* If intensities are free: asks the places and widths of spots for the constants of the cell that are held, and widens errors
 * by what these would change (docs/theory/refinement.md, Errors). taken: the pixels of the result, weighted by it. */
db_status db_strained_lattice_widen(db_context *context, const db_fit_data *data,
                                    const db_stage_data *taken, const db_objective *refined,
                                    db_fit_result *result);

#endif
