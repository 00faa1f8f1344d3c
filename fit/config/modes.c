/* Starts of refined modes: slightly off 0, where their slopes vanish. */
#include "fit/config/modes.h"

#include "fit/config/quantity.h"

#include <math.h>

static int is_zero(const double mode[9]) {
    for (int i = 0; i < 9; i++)
        if (mode[i] != 0) return 0;
    return 1;
}

/* Is the first stage that refines a parameter one of moments? */
static int starts_by_moments(const db_fit_settings *settings, const db_fit_parameter *p) {
    size_t first = 0;
    while (first < settings->stage_count && !db_fit_parameter_in_stage(p, first)) first++;
    return first < settings->stage_count && settings->stages[first].kind == DB_STAGE_MOMENTS;
}

unsigned db_modes_leave_zero(const db_fit_settings *settings, db_experiment *start) {
    unsigned zero = 0, moved = 0;
    for (int k = 0; k < DB_SPREAD_MODES; k++)
        if (is_zero(start->spread.mode[k])) zero |= 1u << k;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        const int n = (int)p->parameter - (int)DB_MODE1_XX, k = n / 9;
        if (p->group >= 0 || n < 0 || k >= DB_SPREAD_MODES || !(zero >> k & 1u) ||
            db_fit_parameter_is_tied(p) || starts_by_moments(settings, p))
            continue;
        /* different for all components and modes */
        const double value = DB_MODE_OFF_ZERO * cos(1 + 2.4 * n);
        start->spread.mode[k][n % 9] = fmin(fmax(value, p->lower), p->upper);
        moved |= 1u << k;
    }
    return moved;
}
