/* From a set-up to an experiment: order of the parts, and checks of the whole. */
#include "setup/parts.h"

#include "base/context_internal.h"
#include "base/given.h"
#include "model/model.h"

#include <dualbragg/expert/setup_defaults.h>
#include <dualbragg/expert/setup_fields.h>
#include <string.h>

static const double MOST_STEPS = 1e6;

static db_status sampling(db_context *context, const db_setup *setup, db_experiment *experiment,
                          const db_setup_notes *notes) {
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_WATER_SIZE));
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_OVERSAMPLE));
    experiment->point_pixel = setup->point_pixel;
    experiment->dmin = setup->dmin;
    experiment->background.water_size = setup->water_size;
    const int recommended = db_recommended_oversample(experiment);
    char implausible[256];
    if (!setup->oversample && recommended > DB_MOST_OVERSAMPLE &&
        db_setup_implausible(setup, experiment, NULL, implausible, sizeof implausible))
        return db_fail(context, DB_ERROR_INPUT, "%s", implausible);
    if (!setup->oversample && recommended > DB_MOST_OVERSAMPLE)
        return db_fail(context, DB_ERROR_INPUT,
                       "oversample: spots this sharp ask for %d sub-pixels along each side of a "
                       "pixel, more than %d; expected fewer (-oversample), a smaller crystal or "
                       "smaller pixels",
                       recommended, DB_MOST_OVERSAMPLE);
    experiment->oversample = setup->oversample ? setup->oversample : recommended;
    if (setup->oversample && setup->oversample < recommended)
        db_setup_note(notes, "oversampling %d: spots this sharp ask for %d", setup->oversample,
                      recommended);
    else if (!setup->oversample && experiment->spread.spots == DB_SPOTS_SAMPLED)
        db_setup_note(notes, "auto-selected %d-fold oversampling", recommended);
    return DB_OK;
}

/* Without a sensor the reference's absorption at every sample would make the image 0. */
static void reference_mode(const db_setup *setup, db_experiment *experiment) {
    db_reference_mode *const r = &experiment->reference;
    r->on = setup->compat != 0;
    if (!r->on) return;
    r->oversample_omega = setup->oversample_omega != 0;
    r->oversample_polar = setup->oversample_polar != 0;
    r->oversample_thick = setup->oversample_thick != 0 && experiment->detector.sensor_thickness > 0;
}

/* Small motions after the placement. */
static void small_motions(const db_setup *setup, db_experiment *experiment) {
    memcpy(experiment->beam.tilt, setup->beam_tilt, sizeof setup->beam_tilt);
    memcpy(experiment->crystal.misset_frame, setup->misset_frame, sizeof setup->misset_frame);
    memcpy(experiment->crystal.position, setup->crystal_position, sizeof setup->crystal_position);
    memcpy(experiment->goniometer.tilt, setup->spindle_tilt, sizeof setup->spindle_tilt);
    memcpy(experiment->detector.panel_turn, setup->panel_turn, sizeof setup->panel_turn);
    memcpy(experiment->detector.panel_shift, setup->panel_shift, sizeof setup->panel_shift);
}

/* Beyond twice the longest edge nothing diffracts. Mostly this is keV given as eV, or metres as angstrom. */
static void remark_long_wave(const db_setup *setup, const db_experiment *experiment,
                             const db_setup_notes *notes) {
    const double *const cell = experiment->crystal.cell, wavelength = experiment->beam.wavelength,
                        longest = fmax(cell[0], fmax(cell[1], cell[2]));
    const int reflections = setup->default_F != 0 || setup->hkl_file || setup->cache_file;
    if (reflections && wavelength > 2 * longest)
        db_setup_note(notes,
                      "the wavelength, %g A, is more than twice the longest cell edge, %g A: no "
                      "reflection but 0 0 0 diffracts (photon energies are in eV)",
                      wavelength, longest);
}

/* Phi steps (docs/theory/crystal.md, Spindle steps). */
static db_status phi_steps(db_context *context, const db_setup *setup, db_goniometer *goniometer,
                           const db_setup_notes *notes) {
    const int compat = setup->compat != 0, negative_step = setup->phi_step < 0;
    /* negative numbers are open in the reference; a step of 0 is open, except where all three are given */
    const double osc = compat && setup->osc < 0 ? NAN : setup->osc;
    const int has_osc = db_setup_given(osc), all = compat && has_osc && setup->phi_steps >= 0,
              has_step = db_setup_given(setup->phi_step) && !(compat && negative_step) &&
                         (setup->phi_step != 0 || all),
              stated = setup->phi_steps < 0 && !has_step && setup->stated.phi_steps > 0,
              phi_steps = stated ? setup->stated.phi_steps : setup->phi_steps,
              has_count = phi_steps >= 0;
    /* steps follow the direction of the range */
    const double step = has_osc && has_step ? copysign(setup->phi_step, osc) : setup->phi_step;
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_OSC));
    if (!(compat && negative_step)) DB_TRY(db_setup_field_check(context, setup, DB_FIELD_PHI_STEP));
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
        const double steps = db_setup_intervals(fabs(osc), fabs(step));
        if (!(steps < MOST_STEPS))
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

static db_status check_setup(db_context *context, const db_setup *setup) {
    DB_TRY(DB_NEED_ZEROS(context, "set-up", setup));
    DB_TRY(DB_NEED_ZEROS(context, "spread of a set-up", &setup->spread));
    for (int id = 0; id < DB_FIELD_COUNT; id++)
        if (db_setup_fields[id].kind == DB_FIELD_CHOICE)
            DB_TRY(db_setup_field_check(context, setup, (db_setup_field_id)id));
    return DB_OK;
}

static db_status resolve_parts(db_context *context, const db_setup *setup,
                               db_experiment *experiment, const db_setup_notes *notes) {
    DB_TRY(setup->expt_file ? db_setup_expt(context, setup, experiment, notes)
                            : db_setup_detector(context, setup, experiment, notes));
    small_motions(setup, experiment);
    DB_TRY(db_setup_beam(context, setup, experiment, notes));
    /* after the beam, which may take the wavelength from a spectrum */
    DB_TRY(db_setup_sensor(context, setup, experiment, notes));
    reference_mode(setup, experiment);
    DB_TRY(db_setup_crystal(context, setup, experiment, notes));
    DB_TRY(db_setup_spread(context, setup, experiment));
    DB_TRY(phi_steps(context, setup, &experiment->goniometer, notes));
    experiment->structure_factors.default_F = setup->default_F;
    DB_TRY(db_experiment_check(context, experiment));
    remark_long_wave(setup, experiment, notes);
    (void)db_setup_implausible(setup, experiment, notes, NULL, 0);
    db_setup_remark_one_cell(setup, experiment, notes);
    DB_TRY(sampling(context, setup, experiment, notes));
    /* large files last, when all cheap checks have passed */
    DB_TRY(db_setup_background(context, setup, experiment, notes));
    DB_TRY(db_setup_structure_factors(context, setup, experiment, notes));
    return db_experiment_check(context, experiment);
}

db_status db_setup_resolve(db_context *context, const db_setup *setup, db_experiment *experiment,
                           void (*notices)(void *user, const char *line), void *user) {
    const db_setup_notes notes = { notices, user };
    DB_TRY(db_experiment_init(context, experiment));
    db_enter_stage(context, "set-up");
    db_setup settled;
    db_status status = check_setup(context, setup);
    if (status == DB_OK) status = db_setup_spots(context, setup, &settled, &notes);
    if (status == DB_OK) status = resolve_parts(context, &settled, experiment, &notes);
    db_leave_stage(context, "set-up");
    if (status != DB_OK) db_experiment_clear(experiment);
    return status;
}
