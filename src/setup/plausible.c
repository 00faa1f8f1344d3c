/* Numbers that may be, but hardly are what was meant: in another unit, or forgotten. */
#include "setup/parts.h"

#include "base/degree.h"
#include "base/photon_energy.h"

#include <dualbragg/expert/setup_fields.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What people take for a field's unit: as if `unit` had been meant, `factor` times the number would be right. */
typedef struct mistaken_unit {
    const char *unit;
    double factor;
} mistaken_unit;

enum { MISTAKEN = 3 };

/* What exists in the world, in the field's unit. 0 stands for "none" and is never remarked on. */
typedef struct plausible {
    db_setup_field_id field;
    int from, count;    /* which of its values */
    double least, most; /* of their magnitude */
    double gap[2];      /* nothing lies between these, either; 0 0: there is no gap */
    mistaken_unit mistaken[MISTAKEN];
} plausible;

/* Electrons from 60 keV to 3 MeV, then X-rays from 110 keV and neutrons; detectors from the surface of a sample holder to the
 * end of a long hutch; cells from metals to viruses and beyond; spectrometers of single pulses. */
static const plausible table[] = {
    { DB_FIELD_WAVELENGTH,
      0,
      1,
      0.003,
      12,
      { 0.05, 0.11 },
      { { "nm", 10 }, { "keV instead of eV", 1e-3 } } },
    { DB_FIELD_DISTANCE, 0, 1, 2, 50000, { 0, 0 }, { { "m", 1000 }, { "um", 1e-3 } } },
    { DB_FIELD_PIXEL_SIZE, 0, 1, 5e-4, 5, { 0, 0 }, { { "um", 1e-3 }, { "m", 1000 } } },
    { DB_FIELD_CELL, 0, 3, 1.5, 5000, { 0, 0 }, { { "nm", 10 }, { "pm", 0.01 } } },
    { DB_FIELD_CELL, 3, 3, 20, 160, { 0, 0 }, { { "radian", DB_RADIAN } } },
    { DB_FIELD_MOSAIC_SPREAD, 0, 1, 0, 30, { 0, 0 }, { { "millidegree", 1e-3 } } },
    { DB_FIELD_MOSAIC_ABC, 0, 3, 0, 30, { 0, 0 }, { { "millidegree", 1e-3 } } },
    { DB_FIELD_MOSAIC_RMS, 0, 1, 0, 15, { 0, 0 }, { { "millidegree", 1e-3 } } },
    { DB_FIELD_MOSAIC_RMS_ABC, 0, 3, 0, 15, { 0, 0 }, { { "millidegree", 1e-3 } } },
    { DB_FIELD_STRAIN_RMS, 0, 1, 0, 0.1, { 0, 0 }, { { "percent", 0.01 } } },
    { DB_FIELD_BANDWIDTH_RMS, 0, 1, 0, 0.05, { 0, 0 }, { { "percent", 0.01 } } },
    { DB_FIELD_SPECTRUM_RESOLUTION,
      0,
      1,
      0.1,
      500,
      { 0, 0 },
      { { "keV", 1000 }, { "meV", 1e-3 } } },
    { DB_FIELD_DISPERSION, 0, 1, 0, 60, { 0, 0 }, { { NULL, 0 } } },
    { DB_FIELD_DIVERGENCE, 0, 2, 0, 200, { 0, 0 }, { { "urad", 1e-3 } } },
    { DB_FIELD_DIVERGENCE_RMS, 0, 2, 0, 100, { 0, 0 }, { { "urad", 1e-3 } } },
    { DB_FIELD_FOOTPRINT_RMS, 0, 2, 0, 20, { 0, 0 }, { { "um", 1e-3 } } },
    { DB_FIELD_POINT_SPREAD_RMS, 0, 2, 0, 5, { 0, 0 }, { { "um", 1e-3 } } },
    { DB_FIELD_SENSOR_THICKNESS, 0, 1, 0.5, 2e4, { 0, 0 }, { { "mm", 1000 }, { "m", 1e6 } } },
    { DB_FIELD_ATTENUATION_DEPTH, 0, 1, 0.01, 1e6, { 0, 0 }, { { "m", 1e6 } } },
    { DB_FIELD_OSC, 0, 1, 0, 360, { 0, 0 }, { { "millidegree", 1e-3 } } },
    { DB_FIELD_DIFFUSE_SIGMA, 0, 1, 0, 3, { 0, 0 }, { { "nm", 10 }, { "pm", 0.01 } } },
    { DB_FIELD_DIFFUSE_GAMMA, 0, 1, 1, 10000, { 0, 0 }, { { "nm", 10 } } },
    { DB_FIELD_B_FACTOR, 0, 1, 0, 2000, { 0, 0 }, { { NULL, 0 } } },
};

/* Those that the set-up may leave to headers, lists and spectra are asked of the experiment. */
static double value_of(const plausible *p, int i, const db_setup *setup,
                       const db_experiment *experiment) {
    const db_setup_field *const field = &db_setup_fields[p->field];
    double stored;
    switch (p->field) {
    case DB_FIELD_WAVELENGTH: return experiment->beam.wavelength;
    case DB_FIELD_DISTANCE: /* the distance of a list's panels may be anything */
        return setup->expt_file ? NAN : experiment->detector.distance;
    case DB_FIELD_PIXEL_SIZE: return experiment->detector.panels[0].pixel_size[0];
    case DB_FIELD_CELL: return experiment->crystal.cell[p->from + i];
    default:
        memcpy(&stored, (const char *)setup + field->offset + (size_t)(p->from + i) * sizeof stored,
               sizeof stored);
        return stored / field->factor;
    }
}

static int is_plausible(const plausible *p, double value) {
    const double magnitude = fabs(value);
    return (magnitude >= p->least && magnitude <= p->most &&
            !(magnitude > p->gap[0] && magnitude < p->gap[1]));
}

/* "detector distance: 0.15 mm is hardly meant (2 to 50000 mm are usual); if it is in m, write 150" */
static void describe_value(const plausible *p, double value, char *text, size_t size) {
    const db_setup_field *const field = &db_setup_fields[p->field];
    const char *const unit = p->field == DB_FIELD_CELL ? (p->from ? "degree" : "A") : field->unit;
    const char *const blank = *unit ? " " : "";
    int length =
        snprintf(text, size, "%s: %g%s%s is unusual; expected ", field->what, value, blank, unit);
    const size_t left = size - (size_t)length;
    if (p->gap[1] > 0)
        length += snprintf(text + length, left, "%g to %g and %g to %g%s%s", p->least, p->gap[0],
                           p->gap[1], p->most, blank, unit);
    else
        length += snprintf(text + length, left, "%g to %g%s%s", p->least, p->most, blank, unit);
    const double from_energy = 1e-3 * DB_EV_ANGSTROM / value;
    if (p->field == DB_FIELD_WAVELENGTH && from_energy > p->gap[1] &&
        is_plausible(p, from_energy)) {
        snprintf(text + length, size - (size_t)length, " (if it is an energy in keV, write %g)",
                 from_energy);
        return;
    }
    for (int k = 0; k < MISTAKEN && p->mistaken[k].unit; k++)
        if (is_plausible(p, value * p->mistaken[k].factor)) {
            snprintf(text + length, size - (size_t)length, " (if it is in %s, write %g)",
                     p->mistaken[k].unit, value * p->mistaken[k].factor);
            return;
        }
}

int db_setup_implausible(const db_setup *setup, const db_experiment *experiment,
                         const db_setup_notes *notes, char *first, size_t size) {
    int found = 0;
    if (size) *first = '\0';
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (int i = 0; i < table[k].count; i++) {
            char text[256];
            const double value = value_of(&table[k], i, setup, experiment);
            if (isnan(value) || value == 0 || isinf(value) || is_plausible(&table[k], value))
                continue;
            describe_value(&table[k], value, text, sizeof text);
            if (!found++ && size) snprintf(first, size, "%s", text);
            if (notes) db_setup_note(notes, "%s", text);
            break; /* its other values will be in the same unit */
        }
    return found;
}

void db_setup_remark_one_cell(const db_setup *setup, const db_experiment *experiment,
                              const db_setup_notes *notes) {
    const double *const cells = experiment->crystal.Ncells;
    const int reflections = setup->default_F != 0 || setup->hkl_file || setup->cache_file;
    if (reflections && !(cells[0] > 1) && !(cells[1] > 1) && !(cells[2] > 1))
        db_setup_note(notes, "crystal size: one unit cell has no spots (N or Na, Nb, Nc are "
                             "numbers of cells; sample sizes are in mm)");
}
