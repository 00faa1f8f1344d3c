/* The natural size of derivatives: by how much of itself what one sample scatters can change with a
 * parameter (docs/reference/precision.md has the sum). */
#ifndef DB_ENGINE_SLOPE_BOUND_H
#define DB_ENGINE_SLOPE_BOUND_H

#include "engine/plan_state.h"

/* bound[parameter][pixel]: the largest of the pixel's samples of the greatest |d ln I/dp|, I what
 * it adds to the pixel (1/unit). Infinite where nothing bounds it: parameters of a source without
 * weight, structure factors that are 0 or interpolated. Of the crystal alone: what scatters without
 * a lattice does not count. In closed form spots are bounded, tile by tile. DB_ERROR_MEMORY. */
db_status db_plan_slope_bounds(db_plan *plan, double *const *bound);

#endif
