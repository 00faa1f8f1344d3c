/* The search of a stage from start to end: the method that the stage names, and how it ended. */
#ifndef DB_FIT_SEARCH_DRIVER_H
#define DB_FIT_SEARCH_DRIVER_H

#include "fit/search/search.h"

/* Allocates a search and applies the stage's settings. Context, problem, stage, number, unknowns, course, log and
 * degrees are set before. Clear the search after a failure, too. */
db_status db_search_prepare(db_search *search);

/* Minimizes from these values of the unknowns, which become the best point; at_bound gets -1, 0 or 1 for each.
 * Gradient and normal matrix of the search belong to this point, priors included; the problem was evaluated there
 * last, unless it was cancelled. */
db_status db_search_run(db_search *search, double *value, int *at_bound, db_stage_result *result);
void db_search_clear(db_search *search);

/* Is an unknown at a bound (-1: the lower, 1: the upper one)? At a bound of the user only if the slope pushes
 * outward; at a physical bound always: at a mosaic spread of 0, for example, the slope may come from another
 * parameter. */
int db_stage_bound_of(const db_unknowns *unknowns, size_t i, double value, double slope);

/* Does a bound of the user hold a quantity, and not a physical one such as a spread of 0? text: a sentence about
 * it. */
enum { DB_BOUND_SIZE = DB_FIT_NAME_SIZE + 96 };
int db_bound_holds(const db_fit_settings *settings, const db_fit_parameter *parameter, int at_bound,
                   char text[DB_BOUND_SIZE]);

#endif
