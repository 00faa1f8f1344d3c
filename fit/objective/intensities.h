/* What an image shows of each reflection, by fitting the model's spot to its shoebox. */
#ifndef DB_FIT_OBJECTIVE_INTENSITIES_H
#define DB_FIT_OBJECTIVE_INTENSITIES_H

#include "fit/pixels/shoeboxes.h"

#include <dualbragg/expert/boxes.h>

/* The spot of a box. Returns 0 where the model has no light in it. */
int db_intensity_of(const db_box_measured *measured, const db_reflection *reflection,
                    const db_region *region, db_fit_reflection *spot);

/* A rotation may show a reflection twice: the same F for all spots of one, their weighted mean. In the
 * order of h, k, l. */
void db_intensities_share(db_fit_reflection *list, size_t count);

#endif
