/* Formulas of spots in closed form for the host: plain doubles. */
#ifndef DB_ENGINE_SPOT_PHYSICS_H
#define DB_ENGINE_SPOT_PHYSICS_H

#include "kernel/spot_finder.h"
#include "model/model.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/spot.h"
#include "kernel/spot_box.h"
#include "kernel/spot_place.h"
#include "kernel/spot_rows.h"
typedef spot_values db_spot_values;
typedef spot_reach db_spot_reach;
#undef DIRS
#undef REAL

#endif
