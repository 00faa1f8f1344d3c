/* Ranges of parameters for which the configuration has no bounds. */
#ifndef DB_FIT_CONFIG_PHYSICAL_RANGE_H
#define DB_FIT_CONFIG_PHYSICAL_RANGE_H

#include <dualbragg/fit.h>

/* Cells along an edge of a large block: its nodes are narrower than this part of the way to the next one, and so than
 * pixels. Larger ones look alike, and a size at such a bound is none that a bound holds. */
#define DB_LARGE_BLOCKS 5000.0

/* Closes open bounds where a refinement must have gone wrong: farther from the start than any useful start. A
 * scale may have any value, and several starts have room for their turns. */
void db_limit_bounds(const db_experiment *start, const db_fit_starts *starts,
                     db_fit_parameter *parameter);

/* Values near the start, between which an unbounded refinement stays. */
void db_reach_of(const db_experiment *start, const db_parameter_facts *facts, double value,
                 double *low, double *high);

#endif
