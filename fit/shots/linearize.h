/* Linearization of an open shot's boxes (fit/linear/linearization.h). */
#ifndef DB_FIT_SHOTS_LINEARIZE_H
#define DB_FIT_SHOTS_LINEARIZE_H

#include "fit/linear/linearization.h"
#include "fit/shots/shot_fit.h"

/* Number of these quantities that may move one box: motions of panels count for one group only. */
size_t db_moving_quantities(const db_fit_settings *settings, const size_t *index, size_t count);

/* Intensities, losses, slopes and curvatures of the boxes, from the sums of the last evaluation. */
void db_shot_linearize(const db_open_shot *open, const db_schur_order *order,
                       const db_linearization *linearization);

#endif
