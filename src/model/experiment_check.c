/* Every value that the model takes on trust is checked here, once, with the value named. */
#include <dualbragg/experiment.h>
#include <dualbragg/expert/experiment_geometry.h>

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/given.h"
#include "base/vector.h"
#include "model/amplitude_box.h"
#include "model/crystal_position.h"
#include "model/experiment_lists.h"
#include "model/model.h"
#include "model/site_kinds.h"
#include "model/spread_check.h"

static const double LARGEST_EXPONENT = 80;
enum { LARGEST_PANEL = 1 << 20, LARGEST_COUNT = 1000000 };

static db_status check_range(db_context *context, const char *what, double value, double low,
                             double high, const char *unit) {
    if (value >= low && value <= high) return DB_OK; /* false for NaN */
    return db_fail(context, DB_ERROR_INPUT, "%s: expected a number from %g to %g %s, found %g",
                   what, low, high, unit, value);
}

static db_status check_count(db_context *context, const char *what, long value, long high) {
    if (value >= 1 && value <= high) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected 1 to %ld, found %ld", what, high, value);
}

static db_status check_unit_vector(db_context *context, const char *what, const double v[3]) {
    const double length = db_length(v);
    if (fabs(length - 1) <= 1e-6) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected a vector of length 1, found (%g, %g, %g)",
                   what, v[0], v[1], v[2]);
}

static db_status check_cell(db_context *context, const double cell[6]) {
    static const char *const edges[3] = { "cell edge a", "cell edge b", "cell edge c" };
    static const char *const angles[3] = { "cell angle alpha", "cell angle beta",
                                           "cell angle gamma" };
    for (int i = 0; i < 3; i++)
        DB_TRY(check_range(context, edges[i], cell[i], 0.1, 1e6, "angstrom"));
    for (int i = 0; i < 3; i++)
        DB_TRY(check_range(context, angles[i], cell[3 + i], 1, 179, "degree"));
    const double x = cos(cell[3] * DB_DEGREE), y = cos(cell[4] * DB_DEGREE),
                 z = cos(cell[5] * DB_DEGREE);
    const double square = 1 - x * x - y * y - z * z + 2 * x * y * z;
    if (!(square > 1e-8))
        return db_fail(context, DB_ERROR_INPUT,
                       "cell angles %g, %g, %g degree: no cell has them (each must be less than "
                       "the sum of the "
                       "other two, and all together less than 360)",
                       cell[3], cell[4], cell[5]);
    return DB_OK;
}

static db_status check_orientation(db_context *context, const double u[9]) {
    double cofactors[9];
    const double determinant = db_cofactors(u, cofactors), worst = db_distortion(u);
    if (worst <= 1e-6 && determinant > 0) return DB_OK;
    return db_fail(
        context, DB_ERROR_INPUT,
        "crystal orientation: expected a rotation matrix, found one off by %g with determinant %g",
        worst, determinant);
}

/* Differences may step over a sigma of 0. */
static db_status check_halo(db_context *context, const db_crystal *crystal) {
    const int axes = !db_has_halo(crystal) ? 1 : crystal->diffuse_anisotropic ? 3 : 1;
    for (int i = 0; i < axes; i++) {
        DB_TRY(check_range(context, "sigma of the diffuse halo", crystal->diffuse_sigma[i], -100,
                           100, "A"));
        DB_TRY(check_range(context, "gamma of the diffuse halo", crystal->diffuse_gamma[i],
                           i > 0 ? 1e-6 : 0, 1e6, "A"));
    }
    return DB_OK;
}

/* What a halo is not made for. */
static db_status check_halo_fits(db_context *context, const db_experiment *e) {
    const db_structure_factors *const f = &e->structure_factors;
    const char *const what = e->reference.on                  ? "nanoBragg's arithmetic (compat)"
                             : f->amplitude && f->sites       ? "structure factors by photon energy"
                             : f->amplitude && f->interpolate ? "interpolated structure factors"
                                                              : NULL;
    if (!db_has_halo(&e->crystal) || !what) return DB_OK;
    return db_fail(
        context, DB_ERROR_UNSUPPORTED,
        "diffuse halo: expected a crystal without one (diffuse_gamma) with %s, found gamma "
        "%g A",
        what, e->crystal.diffuse_gamma[0]);
}

static db_status check_crystal(db_context *context, const db_crystal *crystal) {
    DB_TRY(check_cell(context, crystal->cell));
    DB_TRY(check_orientation(context, crystal->orientation));
    for (int i = 0; i < 3; i++) {
        DB_TRY(check_range(context, "misset", crystal->misset[i], -1e6, 1e6, "degree"));
        DB_TRY(
            check_range(context, "frame of misset", crystal->misset_frame[i], -1e6, 1e6, "degree"));
        DB_TRY(check_range(context, "position of the crystal", crystal->position[i], -1000, 1000,
                           "mm"));
        DB_TRY(check_range(context, "crystal size N", crystal->Ncells[i], 0.1, 1e6, "cells"));
    }
    /* mosaic spread, N and polarization: a little wider than physical, so that finite differences
     * may step over the physical ends; what users type is checked by db_setup_resolve */
    if ((unsigned)crystal->shape > DB_SHAPE_TOPHAT)
        return db_fail(context, DB_ERROR_USAGE, "crystal shape: unknown value %d",
                       (int)crystal->shape);
    DB_TRY(check_range(context, "fudge", crystal->fudge, 0, 1e6, ""));
    DB_TRY(check_range(context, "B factor", crystal->b_factor, -1e6, 1e6, "A^2"));
    DB_TRY(check_halo(context, crystal));
    DB_TRY(check_range(context, "mosaic spread", crystal->mosaic_spread, -180, 180, "degree"));
    for (int i = 0; i < 3; i++)
        DB_TRY(check_range(context, "anisotropic mosaic spread", crystal->mosaic_abc[i], -180, 180,
                           "degree"));
    return check_count(context, "mosaic domains", crystal->mosaic_domains, LARGEST_COUNT);
}

/* Unpolarized light may come from anywhere; the reference takes any. */
static int needs_field(const db_experiment *experiment) {
    const db_beam *beam = &experiment->beam;
    return beam->polarized && beam->polarization != 0 && !experiment->reference.on;
}

static db_status check_sources(db_context *context, const db_experiment *experiment) {
    const db_beam *beam = &experiment->beam;
    if (beam->source_count < 1)
        return db_fail(context, DB_ERROR_INPUT, "beam: expected at least one source, found none");
    double total = 0;
    for (size_t j = 0; j < beam->source_count; j++) {
        const db_source *s = &beam->sources[j];
        DB_TRY(check_unit_vector(context, "source direction", s->direction));
        if (needs_field(experiment) &&
            fabs(db_dot(s->direction, beam->polarization_axis)) > 1 - 1e-9)
            return db_fail(context, DB_ERROR_INPUT,
                           "source %zu: its direction is the polarization axis, where no E field "
                           "is possible; expected another direction, or no polarization",
                           j + 1);
        for (int i = 0; i < 3; i++)
            DB_TRY(check_range(context, "place of a source in the beam's ranges", s->spread[i],
                               -1e3, 1e3, ""));
        DB_TRY(check_range(context, "wavelength within the dispersion / central wavelength",
                           1 + s->spread[2] * beam->dispersion, 1e-6, 1e6, ""));
        DB_TRY(check_range(context, "source wavelength / beam wavelength", s->wavelength_ratio,
                           1e-6, 1e6, ""));
        DB_TRY(check_range(context, "source weight", s->weight, 0, 1e300, ""));
        total += s->weight;
    }
    if (!(total > 0 && isfinite(total)))
        return db_fail(context, DB_ERROR_INPUT, "source weights: expected a positive sum, found %g",
                       total);
    return DB_OK;
}

/* A negative B, as of amplitudes sharper than the data, makes intensities grow with resolution;
 * this keeps the factor within the range of single precision. |q| is at most 2/wavelength. */
static db_status check_b_factor(db_context *context, double b, double wavelength) {
    const double least = -LARGEST_EXPONENT * wavelength * wavelength / 2;
    if (b >= least) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "B factor: expected at least %g A^2 at a wavelength of %g A, found %g", least,
                   wavelength, b);
}

/* Wavelengths are linear in the sources' ratios, hence extreme where these are, for each place in
 * the dispersion, which check_sources looks at. */
static db_status check_wavelengths(db_context *context, const db_experiment *experiment) {
    const db_beam *beam = &experiment->beam;
    size_t extreme[4] = { 0, 0, 0, 0 };
    for (size_t j = 1; j < beam->source_count; j++) {
        const db_source *s = beam->sources;
        if (s[j].wavelength_ratio < s[extreme[0]].wavelength_ratio) extreme[0] = j;
        if (s[j].wavelength_ratio > s[extreme[1]].wavelength_ratio) extreme[1] = j;
        if (s[j].spread[2] < s[extreme[2]].spread[2]) extreme[2] = j;
        if (s[j].spread[2] > s[extreme[3]].spread[2]) extreme[3] = j;
    }
    for (int k = 0; k < 4; k++) {
        const double wavelength = db_experiment_source_wavelength(experiment, extreme[k]);
        DB_TRY(check_range(context, "wavelength of a source, with stretch and dispersion",
                           wavelength, 1e-9, 1e10, "angstrom"));
        DB_TRY(check_b_factor(context, experiment->crystal.b_factor, wavelength));
    }
    return DB_OK;
}

/* Refuses what the reference program does not have. */
static db_status check_reference(db_context *context, const db_experiment *experiment) {
    DB_TRY(check_halo_fits(context, experiment));
    const struct {
        const char *name;
        double value;
    } absent[] = {
        { "B factor", experiment->crystal.b_factor },
        { "position of the crystal", experiment->crystal.position[0] },
        { "position of the crystal", experiment->crystal.position[1] },
        { "position of the crystal", experiment->crystal.position[2] },
        { "tilt of the spindle", experiment->goniometer.tilt[0] },
        { "tilt of the spindle", experiment->goniometer.tilt[1] },
        { "stretch of the spectrum", experiment->beam.spectrum_stretch - 1 },
        { "shift of panels", experiment->detector.panel_shift[0] },
        { "shift of panels", experiment->detector.panel_shift[1] },
        { "shift of panels", experiment->detector.panel_shift[2] },
        { "rotation of panels", experiment->detector.panel_turn[0] },
        { "rotation of panels", experiment->detector.panel_turn[1] },
        { "rotation of panels", experiment->detector.panel_turn[2] },
    };
    for (size_t i = 0; experiment->reference.on && i < sizeof absent / sizeof *absent; i++)
        if (absent[i].value != 0)
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "nanoBragg's arithmetic (compat) has no %s: expected 0, found %g",
                           absent[i].name, absent[i].value);
    return DB_OK;
}

static db_status check_beam(db_context *context, const db_experiment *experiment) {
    const db_beam *beam = &experiment->beam;
    DB_TRY(check_range(context, "wavelength", beam->wavelength, 1e-3, 1e4, "angstrom"));
    DB_TRY(check_unit_vector(context, "beam direction", beam->direction));
    DB_TRY(check_unit_vector(context, "polarization axis", beam->polarization_axis));
    if (fabs(db_dot(beam->direction, beam->polarization_axis)) > 0.999)
        return db_fail(context, DB_ERROR_INPUT, "polarization axis: parallel to the beam");
    for (int i = 0; i < 2; i++) {
        DB_TRY(check_range(context, "beam tilt", beam->tilt[i], -1570, 1570, "mrad"));
        DB_TRY(check_range(context, "divergence", beam->divergence[i], -6300, 6300, "mrad"));
    }
    DB_TRY(check_range(context, "dispersion", beam->dispersion, -1e3, 1e3, ""));
    DB_TRY(check_range(context, "spectrum stretch", beam->spectrum_stretch, -1e6, 1e6, ""));
    DB_TRY(check_range(context, "polarization", beam->polarization, -2, 2, ""));
    DB_TRY(check_range(context, "fluence", beam->fluence, 0, 1e60, "photons/m^2"));
    DB_TRY(check_range(context, "scale", beam->scale, -1e30, 1e30, ""));
    return check_sources(context, experiment);
}

static const double LEAST_DISTANCE =
    1e-9; /* metres: nearer panels contain the sample but for rounding */

static db_status check_panel(db_context *context, const db_panel *panel,
                             const db_panel_interface *placed) {
    DB_TRY(check_unit_vector(context, "panel fast axis", panel->fast_axis));
    DB_TRY(check_unit_vector(context, "panel slow axis", panel->slow_axis));
    DB_TRY(check_unit_vector(context, "panel normal", panel->normal));
    for (int i = 0; i < 2; i++)
        DB_TRY(check_range(context, "pixel size", panel->pixel_size[i], 1e-6, 1e4, "mm"));
    DB_TRY(check_count(context, "detector pixels (fast)", panel->fast_pixels, LARGEST_PANEL));
    DB_TRY(check_count(context, "detector pixels (slow)", panel->slow_pixels, LARGEST_PANEL));
    if (!(placed->z.v > LEAST_DISTANCE))
        return db_fail(context, DB_ERROR_INPUT,
                       "detector: the panel lies at %g mm along its normal, i.e. behind or through "
                       "the sample; "
                       "expected a positive distance",
                       1e3 * placed->z.v);
    return DB_OK;
}

/* A curved panel ends opposite to the direct beam, half way around the sphere. */
static db_status check_sphere(db_context *context, const db_panel *panel,
                              const db_panel_interface *placed) {
    for (int corner = 0; corner < 4; corner++) {
        const double fast = corner & 1 ? 1e-3 * panel->fast_pixels * panel->pixel_size[0] : 0,
                     slow = corner & 2 ? 1e-3 * panel->slow_pixels * panel->pixel_size[1] : 0;
        const double angle =
            hypot(fast - placed->beam_fast.v, slow - placed->beam_slow.v) / placed->radius.v;
        if (!(angle <= 3.14159265358979))
            return db_fail(context, DB_ERROR_INPUT,
                           "curved detector: expected corners at most 180 degree from the direct "
                           "beam around the sphere of radius %g mm, found one at %g degree",
                           1e3 * placed->radius.v, angle * DB_RADIAN);
    }
    return DB_OK;
}

/* The thickness may be a little negative, so that finite differences may step over 0. */
static db_status check_sensor(db_context *context, const db_detector *d) {
    DB_TRY(check_count(context, "sensor layers", d->sensor_layers, 10000));
    DB_TRY(check_range(context, "sensor thickness", d->sensor_thickness, -1e3, 1e6, "um"));
    if (d->sensor_thickness == 0) return DB_OK;
    return check_range(context, "attenuation depth of the sensor", d->attenuation_depth, 1e-6, 1e12,
                       "um");
}

static db_status check_detector(db_context *context, const db_experiment *experiment) {
    const db_detector *d = &experiment->detector;
    DB_TRY(check_unit_vector(context, "detector fast axis", d->fast_axis));
    DB_TRY(check_unit_vector(context, "detector slow axis", d->slow_axis));
    DB_TRY(check_unit_vector(context, "detector normal", d->normal));
    DB_TRY(check_unit_vector(context, "two-theta axis", d->twotheta_axis));
    for (int i = 0; i < 3; i++)
        DB_TRY(check_range(context, "detector rotation", d->rotation[i], -1e6, 1e6, "degree"));
    DB_TRY(check_range(context, "two-theta", d->twotheta, -1e6, 1e6, "degree"));
    DB_TRY(check_range(context, "detector distance", d->distance, 1e-6, 1e9, "mm"));
    for (int i = 0; i < 3; i++) {
        DB_TRY(check_range(context, "panel shift", d->panel_shift[i], -1e6, 1e6, "mm"));
        DB_TRY(check_range(context, "panel turn", d->panel_turn[i], -1e6, 1e6, "degree"));
    }
    for (int i = 0; i < 2; i++)
        DB_TRY(check_range(context, "beam centre", d->centre[i], -1e7, 1e7, "mm"));
    if (d->panel_count < 1)
        return db_fail(context, DB_ERROR_INPUT,
                       "detector: expected at least one panel, found none");
    if (d->curved && d->panel_count > 1)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "curved detector: expected one panel, found %zu", d->panel_count);
    if (d->curved && db_is_off_origin(&experiment->crystal))
        return db_fail(
            context, DB_ERROR_UNSUPPORTED,
            "curved detector: it is a sphere around the crystal; expected the position 0 0 0 "
            "of the crystal, found %g %g %g mm",
            experiment->crystal.position[0], experiment->crystal.position[1],
            experiment->crystal.position[2]);
    DB_TRY(check_sensor(context, d));
    for (size_t p = 0; p < d->panel_count; p++) {
        db_experiment one = *experiment;
        db_panel_interface placed;
        one.detector.panels += p;
        one.detector.panel_count = 1;
        db_model_panels_from_crystal(&one, &placed);
        DB_TRY(check_panel(context, &d->panels[p], &placed));
        if (d->curved && !experiment->reference.on)
            DB_TRY(check_sphere(context, &d->panels[p], &placed));
    }
    return DB_OK;
}

static db_status check_structure_factors(db_context *context, const db_structure_factors *f) {
    DB_TRY(check_range(context, "default F", f->default_F, -1e30, 1e30, "electrons"));
    if (!f->amplitude) return DB_OK;
    if (f->interpolate != 0 && f->interpolate != 1)
        return db_fail(context, DB_ERROR_USAGE,
                       "structure factors: interpolate: expected 0 or 1, found %d", f->interpolate);
    for (int i = 0; i < 3; i++)
        DB_TRY(check_count(context, "structure factor table extent", f->extent[i], LARGEST_COUNT));
    size_t entries;
    return db_amplitude_box_check(context, "structure factor table", f->extent,
                                  db_physical_memory(), &entries);
}

static db_status check_background(db_context *context, const db_background *b) {
    DB_TRY(check_range(context, "water size", b->water_size, -1e9, 1e9, "um"));
    if (b->count == 0) return DB_OK;
    DB_TRY(check_range(context, "amorphous thickness", b->thickness, -1e6, 1e6, "mm"));
    DB_TRY(check_range(context, "amorphous area", b->area, 0, 1e12, "mm^2"));
    DB_TRY(check_range(context, "density of the amorphous layer", b->density, 0, 1e6, "g/cm^3"));
    DB_TRY(check_range(context, "molecular weight of the amorphous layer", b->molecular_weight,
                       1e-6, 1e12, "g/mol"));
    for (size_t i = 0; i < b->count; i++) {
        DB_TRY(
            check_range(context, "amorphous amplitude", b->amplitude[i], -1e30, 1e30, "electrons"));
        DB_TRY(check_range(context, "sin(theta)/lambda of an amorphous amplitude", b->stol[i], 0,
                           1e6, "1/angstrom"));
        if (i > 0 && !(b->stol[i] > b->stol[i - 1]))
            return db_fail(context, DB_ERROR_INPUT,
                           "amorphous amplitudes: expected ascending sin(theta)/lambda, found %g "
                           "after %g",
                           b->stol[i], b->stol[i - 1]);
    }
    return DB_OK;
}

static db_status check_reserved(db_context *context, const db_experiment *e) {
    DB_TRY(DB_NEED_ZEROS(context, "experiment", e));
    DB_TRY(DB_NEED_ZEROS(context, "crystal", &e->crystal));
    DB_TRY(DB_NEED_ZEROS(context, "beam", &e->beam));
    DB_TRY(DB_NEED_ZEROS(context, "goniometer", &e->goniometer));
    DB_TRY(DB_NEED_ZEROS(context, "detector", &e->detector));
    DB_TRY(DB_NEED_ZEROS(context, "structure factors", &e->structure_factors));
    DB_TRY(DB_NEED_ZEROS(context, "background", &e->background));
    return DB_NEED_ZEROS(context, "spread", &e->spread);
}

db_status db_experiment_check(db_context *context, const db_experiment *experiment) {
    DB_TRY(db_experiment_need_lists(context, experiment));
    DB_TRY(check_reserved(context, experiment));
    DB_TRY(check_crystal(context, &experiment->crystal));
    DB_TRY(check_beam(context, experiment));
    DB_TRY(check_wavelengths(context, experiment));
    DB_TRY(check_unit_vector(context, "spindle axis", experiment->goniometer.spindle_axis));
    for (int i = 0; i < 2; i++)
        DB_TRY(check_range(context, "spindle tilt", experiment->goniometer.tilt[i], -1e6, 1e6,
                           "degree"));
    DB_TRY(check_range(context, "phi", experiment->goniometer.phi, -1e6, 1e6, "degree"));
    DB_TRY(check_range(context, "phi step", experiment->goniometer.phi_step, -1e6, 1e6, "degree"));
    DB_TRY(check_count(context, "phi steps", experiment->goniometer.phi_steps, LARGEST_COUNT));
    DB_TRY(check_detector(context, experiment));
    DB_TRY(check_reference(context, experiment));
    DB_TRY(db_spread_check(context, experiment));
    DB_TRY(check_structure_factors(context, &experiment->structure_factors));
    DB_TRY(db_site_kinds_check(context, experiment));
    DB_TRY(check_background(context, &experiment->background));
    DB_TRY(check_range(context, "dmin", experiment->dmin, 0, 1e6, "angstrom"));
    return check_count(context, "oversample", experiment->oversample, DB_MOST_OVERSAMPLE);
}
