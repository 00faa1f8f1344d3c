#ifndef DB_ENGINE_SPOT_SLOPES_H
#define DB_ENGINE_SPOT_SLOPES_H

#include <dualbragg/plan.h>

/* The slopes of the job's spots by the plan's parameters are none of the present values. */
void db_spots_outdate_slopes(db_plan *plan);

/* Makes spots and slopes current for the processor. */
db_status db_spots_fill_slopes(db_plan *plan);

#endif
