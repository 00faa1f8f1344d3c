/* What a parameter can be, whatever a configuration says, and what it may become if it says
 * nothing.
 */
#ifndef DB_FIT_PHYSICAL_RANGE_H
#define DB_FIT_PHYSICAL_RANGE_H

#include <dualbragg/fit.h>

/* Least and most possible value, inclusive; -INFINITY, INFINITY if there is none. */
void db_physical_range(db_parameter parameter, double *least, double *most);

/* Closes bounds that are open where a refinement that goes beyond cannot be right any more: farther
 * from the start than any start is good for. A scale may be anything. */
void db_limit_bounds(const db_experiment *start, db_fit_parameter *parameter);

#endif
