/* Modes of spots in closed form (db_spread.mode) at the start of a refinement. */
#ifndef DB_FIT_CONFIG_MODES_H
#define DB_FIT_CONFIG_MODES_H

#include <dualbragg/fit.h>

/* The image depends on the square of a mode: where all of it is 0 its slope is 0, and no step leaves
 * there. Refined components of modes that are all 0 get small values, always the same ones. Returns
 * the modes that did, as bits. */
unsigned db_modes_leave_zero(const db_fit_settings *settings, db_experiment *start);

#endif
