/* Modes of spots in closed form (db_spread.mode) at the start of a refinement. */
#ifndef DB_FIT_CONFIG_MODES_H
#define DB_FIT_CONFIG_MODES_H

#include <dualbragg/fit.h>

/* Below this (1e-3, i.e. mrad or per mille) a mode has no visible effect on spots. */
#define DB_MODE_OFF_ZERO 0.2

/* Number of a parameter's mode, from 0; DB_SPREAD_MODES: none. */
static inline unsigned db_mode_of(db_parameter parameter) {
    const int n = (int)parameter - (int)DB_MODE1_XX;
    return n >= 0 && n < 9 * DB_SPREAD_MODES ? (unsigned)n / 9 : DB_SPREAD_MODES;
}

/* The image depends on the square of a mode, so at 0 its slope is 0, and no step leaves 0. Refined components of
 * modes that are all 0 get small values, always the same ones, unless a stage of moments finds their start.
 * Returns these modes as bits. */
unsigned db_modes_leave_zero(const db_fit_settings *settings, db_experiment *start);

#endif
