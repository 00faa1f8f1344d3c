/* Sums over all shots that take part in a pass, and the scale that they have in the mean. */
#ifndef DB_FIT_INTENSITIES_TOTALS_H
#define DB_FIT_INTENSITIES_TOTALS_H

#include "fit/intensities/shot.h"

/* Doubles alone. */
typedef struct db_intensity_totals {
    double loss, base; /* of the pass; of where the linearizations were made */
    double log_scale;  /* logarithms of the scales at the best point */
} db_intensity_totals;
db_status db_intensity_add_up(db_intensity_pass *pass, db_intensity_totals *totals);

/* The place of a parameter among a shot's own quantities; their number: it is none. */
size_t db_intensity_local_place(const db_intensity_pass *pass, db_parameter parameter);

/* Divides the scales of the shots, and their errors, by the geometric mean of the scales, the factor. All
 * processes call it. */
db_status db_intensity_normalize_scales(db_intensity_pass *pass, double *factor);

#endif
