/* How far one step of a refinement may go. The quadratic model that it follows is that of spots
 * which overlap what was measured: it knows nothing of where a spot will be that has moved by more
 * than its box. */
#ifndef DB_FIT_SEARCH_STAGE_SEARCH_H
#define DB_FIT_SEARCH_STAGE_SEARCH_H

#include "fit/objective/objective.h"

/* Pixels of the farthest block from the direct beam; 0: there is none. */
db_status db_farthest_block(const db_objective *shot, double *pixels);

/* In the quantity's unit, so that no spot within so many pixels of the beam moves by more than a
 * quarter of the width of a shoebox, and no more than `most`. */
double db_longest_step(const db_objective *shot, const db_fit_parameter *parameter, double farthest,
                       double most);

#endif
