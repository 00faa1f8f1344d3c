/* How the search of a stage ended. */
#ifndef DB_FIT_SEARCH_STAGE_END_H
#define DB_FIT_SEARCH_STAGE_END_H

#include "fit/search/search.h"

/* Evaluates at the best point, unless that was the last one; finds which unknowns are at a bound (-1, 0, 1) and what a
 * further step promises, and tells from them how the stage ended. */
db_status db_stage_judge(db_search *search, int *at_bound, db_stage_result *result);

/* Is an unknown at a bound (-1: the lower, 1: the upper one)? At one that the user chose only if the slope pushes outward;
 * at a physical one always: there, as for a mosaic spread of 0, the slope may be that of another parameter. */
int db_stage_bound_of(const db_unknowns *unknowns, size_t i, double value, double slope);

/* Is a quantity held by a bound that was chosen, not by a physical one as a spread's 0? text: says so. */
enum { DB_BOUND_SIZE = DB_FIT_NAME_SIZE + 96 };
int db_bound_holds(const db_fit_settings *settings, const db_fit_parameter *parameter, int at_bound,
                   char text[DB_BOUND_SIZE]);

#endif
