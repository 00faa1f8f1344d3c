/* Phi steps (docs/theory/crystal.md, Spindle steps). */
#include "setup/parts.h"

#include "base/context_internal.h"

static const double COUNT_LIMIT = 1e6;

db_status db_setup_spindle(db_context *context, const db_setup *setup, db_goniometer *goniometer,
                           const db_setup_notes *notes) {
    const double osc = setup->osc, step = setup->phi_step;
    const int has_osc = db_setup_given(osc), has_step = db_setup_given(step) && step != 0,
              stated = setup->phi_steps < 0 && !has_step && setup->stated.phi_steps > 0,
              phi_steps = stated ? setup->stated.phi_steps : setup->phi_steps,
              has_count = phi_steps >= 0;
    if (osc < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "osc: expected a range of 0 degree or more, found %g", osc);
    if (step < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "phi step: expected a step of 0 degree or more, found %g", step);
    goniometer->phi = setup->phi;
    goniometer->phi_step = 0;
    goniometer->phi_steps = 1;
    const int count = phi_steps == 0 ? 1 : phi_steps;
    if (!has_osc && !has_step) {
        if (!has_count || count == 1) return DB_OK;
        goniometer->phi_steps = count;
        goniometer->phi_step = 1.0 / count;
        db_setup_note(notes, "%d phi steps without a range: over 1 degree", count);
    } else if (!has_osc) {
        goniometer->phi_steps = 2;
        goniometer->phi_step = step;
        db_setup_note(notes, "phi step without a range: two steps of %g degree", step);
    } else if (has_count) {
        goniometer->phi_steps = count;
        goniometer->phi_step = has_step ? step : osc / count;
    } else if (has_step) {
        const double steps = db_setup_intervals(osc, step);
        if (!(steps < COUNT_LIMIT))
            return db_fail(context, DB_ERROR_INPUT,
                           "phi step: %g degree divides %g degree into too many steps", step, osc);
        goniometer->phi_steps = steps < 1 ? 1 : (int)steps;
        goniometer->phi_step = step;
    } else {
        goniometer->phi_steps = 2;
        goniometer->phi_step = osc / 2;
        db_setup_note(notes, "osc without a number of steps: two steps of %g degree", osc / 2);
    }
    return DB_OK;
}
