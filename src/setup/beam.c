/* Wavelength, fluence and the list of sources (docs/theory/beam.md, Sources). */
#include "setup/parts.h"
#include "setup/spectrometer.h"

#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/beam_files.h>

#include "base/context_internal.h"
#include "base/photon_energy.h"

static const double COUNT_LIMIT = 1e6;

/* One direction of the grid of sources: points step * k - range/2, k = 0 ... count-1. */
typedef struct grid_axis {
    double range, step;
    int count;
} grid_axis;

/* Messages have the user's unit. */
static db_status check_grid_input(db_context *context, const char *name, double unit,
                                  const char *unit_name, const grid_axis *given) {
    if (given->range < 0)
        return db_fail(context, DB_ERROR_INPUT, "%s range: expected 0 %s or more, found %g", name,
                       unit_name, given->range / unit);
    if (given->step <= 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s step: expected a positive number (%s), found %g", name, unit_name,
                       given->step / unit);
    if (given->count < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s steps: expected 0 (automatic) or more, found %d", name, given->count);
    return DB_OK;
}

/* Negative ranges, and steps up to 0, are open in the reference. */
static grid_axis open_below_zero(grid_axis axis) {
    if (axis.range < 0) axis.range = NAN;
    if (axis.step <= 0) axis.step = NAN;
    return axis;
}

/* Points for a range and a step. A range that is not a whole number of steps is adjusted, so that the points stay
 * centred and reach both ends. The reference's points begin at the lower end and omit the upper one. */
static db_status divide_range(db_context *context, const char *name, double unit,
                              const char *unit_name, int compat, grid_axis *axis) {
    const double intervals =
        compat ? db_setup_intervals(axis->range, axis->step) : rint(axis->range / axis->step);
    if (!(intervals < COUNT_LIMIT))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: a step of %g divides the range %g %s into too many steps", name,
                       axis->step / unit, axis->range / unit, unit_name);
    axis->count = (int)intervals + !compat;
    if (!compat) axis->range = axis->step * intervals;
    return DB_OK;
}

/* Completes open numbers from given ones (docs/theory/beam.md, Grid of sources). */
static db_status resolve_axis(db_context *context, const char *name, double unit,
                              const char *unit_name, int compat, grid_axis *axis,
                              const db_setup_notes *notes) {
    static const grid_axis single = { 0, 0, 1 };
    if (compat) *axis = open_below_zero(*axis);
    DB_TRY(check_grid_input(context, name, unit, unit_name, axis));
    const int has_range = db_setup_given(axis->range), has_step = db_setup_given(axis->step);
    if (!has_range && !has_step) {
        if (axis->count > 1)
            return db_fail(context, DB_ERROR_INPUT, "%s: %d steps need a range, found none", name,
                           axis->count);
        *axis = single;
    } else if (!has_range) {
        if (axis->count > 0 && axis->count != 2)
            db_setup_note(notes,
                          "%s: a step without a range makes two points; the count %d is not used",
                          name, axis->count);
        axis->range = axis->step;
        axis->count = 2;
    } else if (!has_step) {
        if (axis->range > 0 && axis->count < 2) {
            db_setup_note(notes, "%s: a range of %g %s makes two points, one at each end", name,
                          axis->range / unit, unit_name);
            axis->count = 2;
        }
        axis->step = axis->count > 1 ? axis->range / (axis->count - 1) : 0;
    } else if (axis->count == 0) {
        DB_TRY(divide_range(context, name, unit, unit_name, compat, axis));
    }
    if (!(axis->range > 0 && axis->step > 0 && axis->count > 0)) *axis = single;
    return DB_OK;
}

static db_status spread_sources(db_context *context, const db_setup *setup, db_beam *beam,
                                const db_setup_notes *notes) {
    static const char *const names[2] = { "horizontal divergence", "vertical divergence" };
    grid_axis angle[2];
    for (int i = 0; i < 2; i++) {
        angle[i] = (grid_axis){ setup->divergence_range[i], setup->divergence_step[i],
                                setup->divergence_steps[i] };
        DB_TRY(resolve_axis(context, names[i], 1e-3, "mrad", setup->compat, &angle[i], notes));
    }
    grid_axis wavelength = { setup->dispersion, NAN, setup->dispersion_steps };
    DB_TRY(resolve_axis(context, "dispersion", 1e-2, "percent", setup->compat, &wavelength, notes));
    const db_beam_spread spread = {
        .horizontal_range = angle[0].range,
        .vertical_range = angle[1].range,
        .horizontal_step = angle[0].step,
        .vertical_step = angle[1].step,
        .horizontal_steps = angle[0].count,
        .vertical_steps = angle[1].count,
        .round = setup->round_divergence,
        .dispersion = wavelength.range,
        .dispersion_step = wavelength.step,
        .dispersion_steps = wavelength.count,
    };
    return db_beam_set_spread(context, beam, &spread);
}

static int spread_given(const db_setup *setup) {
    for (int i = 0; i < 2; i++)
        if (db_setup_given(setup->divergence_range[i]) ||
            db_setup_given(setup->divergence_step[i]) || setup->divergence_steps[i] > 0)
            return 1;
    return setup->dispersion > 0 || setup->dispersion_steps > 0;
}

/* A spectrum may be a shape that was measured elsewhere, at up to this many times its wavelength or photon energy. What is farther
 * is in another unit. */
static const double most_shift = 3;

/* Spectrometers and monochromators agree within a percent, a machine's drift included: so near must a number be for a unit
 * to be suspected, while it is not so near as it stands. */
static const double same_wavelength = 1.1;

/* Wavelengths that differ by less are both X-rays', whatever their product. */
static const double few_shifts = 1.5;

static int are_near(double a, double b) {
    return a < same_wavelength * b && b < same_wavelength * a;
}

/* The unit that brings the mean of a spectrum near the given wavelength (A); NULL: none. Of a wavelength and its energy in keV the
 * longer number is the energy, unless both could be either. */
static const char *mistaken_unit(double mean, double given) {
    const double kev = 1e-3 * DB_EV_ANGSTROM;
    if (are_near(mean, given)) return NULL;
    if (are_near(mean * given, kev) && !(mean < few_shifts * given && given < few_shifts * mean))
        return fmax(mean, given) < DB_MOST_EITHER ? "one of them looks like keV: energies are in eV"
               : mean > given ? "the file looks like keV: its energies are to be in eV"
                              : "the given wavelength looks like keV: it is to be in A";
    return are_near(mean, 1e-3 * given) ? "the given energy looks like keV: it is to be in eV"
           : are_near(kev / mean, 1e-3 * given) ? "both look like keV: energies are in eV"
           : are_near(10 * mean, given) ? "the file looks like nm: its wavelengths are to be in A"
                                        : NULL;
}

/* Refuses a spectrum that is to be shifted from another unit: it would also be mirrored, or too wide. The wavelength of a header
 * or list makes way for the mean, but not for one in keV that says the same. */
static db_status check_unit(db_context *context, const db_setup *setup, double mean) {
    const double known = setup->wavelength;
    const char *const unit = mistaken_unit(mean, known);
    const int given = setup->wavelength_given,
              far = !(mean < most_shift * known && known < most_shift * mean);
    if (!unit && !(given && far)) return DB_OK;
    if (!given && (mean < DB_MOST_EITHER || known == DB_UNKNOWN_WAVELENGTH)) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "spectrum file %s: expected a mean near the %s wavelength, %.6g A (%.6g eV), "
                   "found %.6g A; %s",
                   setup->spectrum_file, given ? "given" : "stated", known, DB_EV_ANGSTROM / known,
                   mean, unit ? unit : "a spectrum is moved by a factor of 3 at most");
}

static double mean_wavelength(const db_spectrum *read) {
    double total = 0, mean = 0;
    for (size_t k = 0; k < read->count; k++) {
        total += read->weight[k];
        mean += read->weight[k] * read->wavelength[k];
    }
    return mean / total;
}

static void remark_spectrum(const db_setup *setup, const db_spectrum *read, double mean,
                            double wavelength, const db_setup_notes *notes) {
    if (setup->wavelength_given)
        db_setup_note(notes, "spectrum of %zu wavelengths shifted from a mean of %.6g A to %.6g A",
                      read->count, mean, wavelength);
    else
        db_setup_note(notes, "spectrum of %zu wavelengths with a mean of %.6g A%s", read->count,
                      wavelength,
                      wavelength > DB_MOST_EITHER ? " (if these are keV, give eV)" : "");
}

/* Replaces the dispersion by a spectrum, for every direction of the grid. */
static db_status spectrum(db_context *context, const db_setup *setup, db_beam *beam,
                          const db_setup_notes *notes) {
    db_spectrum read;
    if (setup->compat)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "spectrum file %s: nanoBragg (compat) has none; expected a source file",
                       setup->spectrum_file);
    if (setup->source_file || setup->dispersion > 0 || setup->dispersion_steps > 0)
        return db_fail(context, DB_ERROR_USAGE,
                       "spectrum file %s: a spectrum file and a %s exclude each other; expected "
                       "one of them",
                       setup->spectrum_file, setup->source_file ? "source file" : "dispersion");
    DB_TRY(spread_sources(context, setup, beam, notes));
    DB_TRY_STAGE(context, "read files", db_read_spectrum(context, setup->spectrum_file, &read));
    const double mean = mean_wavelength(&read);
    db_status status = check_unit(context, setup, mean);
    if (status == DB_OK && setup->spectrum_resolution > 0)
        status = db_spectrometer_undo(context, setup->spectrum_resolution, &read);
    if (status == DB_OK)
        status = db_beam_set_spectrum(context, beam, read.wavelength, read.weight, read.count,
                                      setup->wavelength_given);
    if (status == DB_OK) remark_spectrum(setup, &read, mean, beam->wavelength, notes);
    db_spectrum_clear(&read);
    return status;
}

static db_status fluence(db_context *context, const db_setup *setup, db_beam *beam,
                         const db_setup_notes *notes) {
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_SCALE));
    beam->scale = setup->scale;
    beam->fluence = setup->fluence;
    if (setup->flux == 0) return DB_OK;
    if (setup->compat && setup->exposure <= 0) return DB_OK; /* the fluence stays */
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_FLUX));
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_EXPOSURE));
    if (!(setup->beamsize > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "beam size: a flux needs a positive size (mm), found %g", setup->beamsize);
    const double edge = setup->beamsize / 1000;
    beam->fluence = setup->flux * setup->exposure / (edge * edge);
    if (setup->fluence != DB_DEFAULT_FLUENCE)
        db_setup_note(notes,
                      "flux and fluence given: the fluence follows from the flux, %g photons/m^2",
                      beam->fluence);
    return DB_OK;
}

db_status db_setup_beam(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes) {
    db_beam *const beam = &experiment->beam;
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_WAVELENGTH));
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_POLARIZATION));
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_SPECTRUM_RESOLUTION));
    beam->wavelength = setup->wavelength;
    beam->polarization = setup->polarization;
    /* the reference polarizes at every sample even where polarization is switched off */
    beam->polarized = setup->polarized || (setup->compat && setup->oversample_polar);
    DB_TRY(fluence(context, setup, beam, notes));
    beam->spectrum_stretch = setup->spectrum_stretch;
    if (setup->spectrum_file) return spectrum(context, setup, beam, notes);
    if (setup->spectrum_resolution > 0)
        db_setup_note(notes, "spectrum resolution: %g eV has no effect without a spectrum file",
                      setup->spectrum_resolution);
    if (!setup->source_file) return spread_sources(context, setup, beam, notes);
    if (spread_given(setup))
        db_setup_note(notes, "source file given: divergence and dispersion are not used");
    DB_TRY_STAGE(context, "read files", db_read_sources(context, setup->source_file, beam));
    if (setup->compat) /* the reference reads weights and does not use them */
        for (size_t j = 0; j < beam->source_count; j++) beam->sources[j].weight = 1;
    return DB_OK;
}
