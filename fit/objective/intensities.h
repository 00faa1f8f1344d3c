/* What an image shows of each reflection, by fitting the model's spot to its shoebox. */
#ifndef DB_FIT_OBJECTIVE_INTENSITIES_H
#define DB_FIT_OBJECTIVE_INTENSITIES_H

#include "fit/objective/objective.h"
#include "fit/pixels/shoeboxes.h"

/* Of the boxes of an objective with free intensities that has been solved: their spots, in the order
 * of the boxes, *count of at most `boxes->count`. A box in which the model has no light has none. */
db_status db_intensities_measure(db_objective *objective, const db_shoeboxes *boxes,
                                 db_fit_reflection *list, size_t *count);

#endif
