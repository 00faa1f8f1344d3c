/* Bounds of a plan's spots: their photons and extents. */
#ifndef DB_ENGINE_SPOT_BOUNDS_H
#define DB_ENGINE_SPOT_BOUNDS_H

#include "engine/plan_state.h"
#include "engine/spot_physics.h"

db_spot_bounds db_spot_bounds_of(const db_plan *plan);

/* Bounds of where spots of all nodes can be (kernel/spot_box.h); outwards: of |c| - 1. */
db_spot_reach db_spot_largest_reach(const db_spot_bounds *bounds, double wavelength);

#endif
