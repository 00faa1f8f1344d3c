/* The equations of the search for joint intensities. */
#include "fit/intensities/search.h"

#include "base/context_internal.h"

db_status db_intensity_take_equations(db_intensity_search *w) {
    db_joint_system *const s = &w->system;
    const double *const value = w->best + s->reflections;
    double *const right = s->right + s->reflections, slope[DB_FIT_MOST_PARAMETERS] = { 0 },
                  loss = 0;
    DB_TRY(db_joint_system_sum(s, DB_BOTH_HALVES));
    db_intensity_restraint_add(&w->restraint, s->reflections, s->diagonal, s->right);
    db_unknowns_add_priors(&w->shared, value, &loss, slope, s->normal);
    for (size_t g = 0; g < s->shared; g++) {
        right[g] -= 0.5 * slope[g];
        w->at_bound[g] = db_unknown_held(&w->shared, g, value[g], -2 * right[g]);
    }
    for (size_t g = 0; g < s->shared; g++)
        if (w->at_bound[g]) db_joint_system_hold(s, g);
    return DB_OK;
}
