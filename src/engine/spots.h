/* The spots of a plan in closed form (kernel/spot.h): which there are, what the pixel loop reads of
 * them, and which regions they reach. Lists are made anew when the experiment's values change. */
#ifndef DB_ENGINE_SPOTS_H
#define DB_ENGINE_SPOTS_H

#include "engine/spot_physics.h"

#include <dualbragg/plan.h>

/* What a plan keeps for spots in closed form. */
typedef struct db_spots db_spots;

/* Turns an experiment into one whose numbers of domains, phi steps and sensor layers are 1, the
 * range being the phi step's. */
void db_spots_one_of_each(db_experiment *experiment);

db_status db_spots_create(db_plan *plan);
void db_spots_destroy(db_spots *spots);

/* The experiment has new values. */
void db_spots_outdate(db_plan *plan);

/* Makes current what the job's spots are made of, for devices that make them. */
db_status db_spots_begin(db_plan *plan);

/* Makes the job's spots current. */
db_status db_spots_fill(db_plan *plan);

/* Room for the slopes of all spots, [spots][parameters][columns], in the plan's precision; NULL without
 * memory. */
void *db_spots_slope_room(db_plan *plan, size_t size);

#endif
