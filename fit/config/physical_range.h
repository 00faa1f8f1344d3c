/* What a parameter may become if a configuration says nothing. */
#ifndef DB_FIT_CONFIG_PHYSICAL_RANGE_H
#define DB_FIT_CONFIG_PHYSICAL_RANGE_H

#include <dualbragg/fit.h>

/* Closes bounds that are open where a refinement that goes beyond cannot be right any more: farther
 * from the start than any start is good for. A scale may be anything, and several starts have room
 * for their turns. */
void db_limit_bounds(const db_experiment *start, const db_fit_starts *starts,
                     db_fit_parameter *parameter);

/* Values between which a refinement that nobody bounds stays near the value of its start. */
void db_reach_of(const db_experiment *start, const db_parameter_facts *facts, double value,
                 double *low, double *high);

#endif
