/* The natural size of derivatives: the largest relative change of one sample's scattering by a parameter
 * (derivation: docs/reference/precision.md). */
#ifndef DB_ENGINE_SLOPE_BOUND_H
#define DB_ENGINE_SLOPE_BOUND_H

#include "engine/plan_state.h"

/* bound[parameter][pixel]: the largest |d ln I/dp| of the pixel's samples, I a sample's photons (1/unit). Infinite
 * if nothing bounds it: parameters of a source without weight, structure factors that are 0 or interpolated. Of
 * the crystal only, not of what scatters without a lattice. In closed form spots are bounded, tile by tile.
 * DB_ERROR_MEMORY. */
db_status db_plan_slope_bounds(db_plan *plan, double *const *bound);

#endif
