/* Lists of known amplitudes: their indices, and whether measured intensities are in their order. */
#ifndef DB_FIT_MERGE_KNOWN_AMPLITUDES_H
#define DB_FIT_MERGE_KNOWN_AMPLITUDES_H

#include "fit/merge/indexing.h"

#include <dualbragg/fit.h>

typedef struct db_ordered_intensity {
    double d_spacing;
    double calculated, measured; /* in any units */
} db_ordered_intensity;

/* Agreement between both orders, in standard deviations of chance; sorts the list. Only intensities of similar resolution are
 * compared, because both decrease with it (Kendall, Biometrika 30, 81, 1938). NAN: too few. */
double db_intensity_order(db_ordered_intensity *list, size_t count);

/* F^2 of a reflection; 0: it is not listed. */
double db_listed_square(const db_structure_factors *factors, const int hkl[3]);

/* Ways to index a lattice of this cell that give its reflections other known amplitudes: those of the group of settings, or of
 * no symmetry if settings name no group. */
db_status db_indexings_of_amplitudes(db_context *context, const db_fit_settings *settings,
                                     const double cell[6], db_indexings *indexings);

/* Fails if nearly all amplitudes of a list have reverse indices of R in hexagonal axes. Reflections of models are obverse.
 * name: of the list; symmetry: that asks for R. */
db_status db_refuse_reverse_list(db_context *context, const char *name,
                                 const db_structure_factors *factors, const char *symmetry);

#endif
