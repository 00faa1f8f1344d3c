/* Mean intensities of shells of resolution, whatever a few uncertain ones are. */
#ifndef DB_FIT_MERGE_USUAL_INTENSITY_H
#define DB_FIT_MERGE_USUAL_INTENSITY_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/merge/shells.h"

/* mean: [shells->count] receives the means of intensities over their epsilon, each counted as much as
 * it says beside the spread of intensities, or two of their standard errors, if they are less; 0 in empty
 * shells. intensity, sigma:
 * [list->count], NAN where there is none; sigma NULL: without errors. also: only reflections are counted
 * that have one there, too; or NULL. */
void db_usual_intensities(const db_asu_list *list, const db_shells *shells, const double *intensity,
                          const double *sigma, const double *also, double *mean);

#endif
