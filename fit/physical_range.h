/* What a parameter can be, whatever a configuration says. */
#ifndef DB_FIT_PHYSICAL_RANGE_H
#define DB_FIT_PHYSICAL_RANGE_H

#include <dualbragg/parameters.h>

/* Least and most possible value, inclusive; -INFINITY, INFINITY if there is none. */
void db_physical_range(db_parameter parameter, double *least, double *most);

#endif
