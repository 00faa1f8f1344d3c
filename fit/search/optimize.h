/* One stage of a refinement: minimizes the loss of an objective with priors. */
#ifndef DB_FIT_SEARCH_OPTIMIZE_H
#define DB_FIT_SEARCH_OPTIMIZE_H

#include "fit/search/driver.h"

/* Minimizes from the variables' start with the stage's algorithm. The history gets values as users know them
 * (below). Fails for a bad configuration; otherwise the result says how the stage ended. */
db_status db_optimize_stage(db_objective *objective, const db_fit_stage *stage, int number,
                            const db_crystal *given, db_fit_course *course,
                            db_stage_result *result);

/* Values of the settings' parameters as users know them: angles relative to the given crystal's orientation. */
void db_report_values(const db_fit_settings *settings, const db_crystal *given,
                      const db_experiment *experiment, const db_panel_placement *placement,
                      double *value);

#endif
