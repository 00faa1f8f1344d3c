/* Spots of a plan in closed form (kernel/spot.h): their list, the pixel loop's data, and the regions that each spot
 * reaches. New lists are made when the experiment's values change. */
#ifndef DB_ENGINE_SPOTS_H
#define DB_ENGINE_SPOTS_H

#include "engine/spot_physics.h"

#include <dualbragg/plan.h>

/* A plan's data for spots in closed form. */
typedef struct db_spots db_spots;

/* Sets the numbers of domains, phi steps and sensor layers to 1; the one phi step is the whole range. */
void db_spots_one_of_each(db_experiment *experiment);

db_status db_spots_create(db_plan *plan);
void db_spots_destroy(db_spots *spots);

/* Marks the lists as out of date: the experiment has new values. */
void db_spots_outdate(db_plan *plan);

/* Brings the search's input up to date, from which lists are made here or on a device. */
db_status db_spots_begin(db_plan *plan);

/* Brings the job's lists of spots up to date. */
db_status db_spots_fill(db_plan *plan);

/* Memory for the slopes of all spots, [spots][parameters][columns], in the plan's precision; NULL: out of
 * memory. */
void *db_spots_slope_room(db_plan *plan, size_t size);

#endif
