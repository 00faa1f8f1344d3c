/* What an image shows of each reflection, by fitting the model's spot to its shoebox. */
#ifndef DB_FIT_OBJECTIVE_INTENSITIES_H
#define DB_FIT_OBJECTIVE_INTENSITIES_H

#include "fit/pixels/shoeboxes.h"
#include "loss/block.h"

/* The spot of a box of its own (number 0), whose block has been solved: its coefficients are linear.
 * Returns 0 where the model has no light in the box. */
int db_intensity_measure(const db_block *block, const double linear[DB_LINEAR],
                         const db_shoeboxes *box, db_fit_reflection *spot);

/* A rotation may show a reflection twice: the same F for all spots of one, their weighted mean. In the
 * order of h, k, l. */
void db_intensities_share(db_fit_reflection *list, size_t count);

#endif
