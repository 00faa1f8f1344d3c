#include "cli/report.h"

#include "cli/amorphous.h"
#include "cli/noise_output.h"
#include "cli/report_beam.h"
#include "cli/report_crystal.h"
#include "cli/report_detector.h"
#include "cli/report_text.h"
#include "base/context_internal.h"

static void report_crystal_block(const db_session *session) {
    /* the first one is misspelt in the reference, too */
    static const char *const shapes[] = { "parallelpiped", "ellipsoidal", "gaussian",
                                          "tophat-spot" };
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits;
    printf("  %zu initialized hkls (all others =%.*g)\n", e->structure_factors.listed, digits,
           e->structure_factors.default_F);
    printf("  %s xtal: %.*gx%.*gx%.*g cells\n", shapes[e->crystal.shape], digits,
           e->crystal.cells[0], digits, e->crystal.cells[1], digits, e->crystal.cells[2]);
}

static void report_beam_block(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_setup *setup = &session->settings.setup;
    const int digits = session->settings.digits;
    printf("  wave=%.*g meters +/- %.*g%% in %zu steps\n", digits, 1e-10 * e->beam.wavelength,
           digits, 100 * e->beam.dispersion,
           setup->source_file ? 1 : db_source_grid_of(&e->beam).wavelengths);
    if (e->beam.polarized)
        printf("  Kahn polarization factor: %f\n", e->beam.polarization);
    else
        puts("  polarization effect disabled");
    if (e->detector.curved) puts("  curved detector: all pixels same distance from origin");
    if (e->point_pixel) puts("  pixel obliquity effect disabled");
    printf("  incident fluence: %.*g photons/m^2\n", digits, e->beam.fluence);
}

/* What the spindle sweeps over (degree): the range given, or the one chosen
 * (docs/theory/crystal.md, Spindle steps). */
static double sweep(const db_setup *setup, const db_goniometer *goniometer) {
    if (!isnan(setup->osc)) return setup->osc;
    if (!isnan(setup->phi_step) && setup->phi_step > 0) return setup->phi_step;
    return goniometer->phi_steps * goniometer->phi_step;
}

static void report_roi(const db_session *session) {
    const db_region *r = &session->region;
    const db_panel *panel = &session->sheet;
    const int whole = session->settings.roi[0] < 0;
    printf("  roi: %d < x < %d && %d < y < %d\n", r->fast_start,
           whole ? panel->fast_pixels : r->fast_start + r->fast_count - 1, r->slow_start,
           whole ? panel->slow_pixels : r->slow_start + r->slow_count - 1);
}

static void report_mosaic(const db_crystal *crystal, int digits) {
    printf("  %d mosaic domains over mosaic spread of ", crystal->mosaic_domains);
    if (crystal->mosaic_anisotropic)
        printf("%.*g, %.*g and %.*g degrees about a*, c x a* and c\n", digits,
               crystal->mosaic_abc[0], digits, crystal->mosaic_abc[1], digits,
               crystal->mosaic_abc[2]);
    else
        printf("%.*g degrees\n", digits, crystal->mosaic_spread);
}

static void report_counts(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_setup *setup = &session->settings.setup;
    const int digits = session->settings.digits;
    const db_source_grid grid = db_source_grid_of(&e->beam);
    printf("  hdivrange=%.*g hdivstep=%.*g  radians\n", digits, 1e-3 * e->beam.divergence[0],
           digits, grid.step[0]);
    printf("  vdivrange=%.*g vdivstep=%.*g  radians\n", digits, 1e-3 * e->beam.divergence[1],
           digits, grid.step[1]);
    if (setup->source_file && setup->compat)
        puts("  -1 divergence steps"); /* not set */
    else
        printf("  %zu divergence steps\n",
               setup->source_file ? e->beam.source_count : grid.directions);
    printf("  %zu sources\n", e->beam.source_count);
    report_mosaic(&e->crystal, digits);
    printf("  %d phi steps from %.*g to %.*g degrees\n", e->goniometer.phi_steps, digits,
           e->goniometer.phi, digits, e->goniometer.phi + sweep(setup, &e->goniometer));
    printf("  %dx%d pixel oversample steps\n", e->oversample, e->oversample);
}

static db_status report_all(db_session *session) {
    static const char *const interpolation[] = { "auto-selected tricubic",
                                                 "auto-selected no interpolation", NULL };
    static const char *const placed[] = { "auto-selected", "oversampling", "random orientation",
                                          "misset seed", NULL };
    const db_settings *const s = &session->settings;
    const int crystal = !db_amorphous_alone(s);
    /* the report of -compat has the reference's lines only */
    if (!s->setup.compat) printf("dualbragg %s %s\n", db_version(), s->command);
    db_notices_print_others(&session->notices, placed);
    db_status status = db_report_frame(session);
    db_notices_print_beginning(&session->notices, interpolation);
    if (crystal) {
        db_report_crystal(session);
        db_report_structure_factors(session);
    }
    db_notices_print_rest(&session->notices);
    db_amorphous_report(s, &session->experiment.background);
    if (status == DB_OK) status = db_report_samples(session);
    if (crystal) report_crystal_block(session);
    report_beam_block(session);
    if (status == DB_OK) status = db_report_detector(session);
    report_roi(session);
    report_counts(session);
    db_noise_report(session);
    return status;
}

db_status db_report_experiment(db_session *session) {
    if (session->settings.quiet) return DB_OK;
    db_enter_stage(session->context, "report");
    const db_status status = report_all(session);
    fflush(stdout);
    db_leave_stage(session->context, "report");
    return status;
}
