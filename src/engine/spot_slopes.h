#ifndef DB_ENGINE_SPOT_SLOPES_H
#define DB_ENGINE_SPOT_SLOPES_H

#include <dualbragg/plan.h>

/* Makes the slopes of the job's spots by the plan's parameters current, once the spots are. */
db_status db_spots_fill_slopes(db_plan *plan);

#endif
