/* Parts of db_setup_resolve: each fills its part of the experiment from the user's set-up. They run in this order. */
#ifndef DB_SETUP_PARTS_H
#define DB_SETUP_PARTS_H

#include "base/vector.h"

#include <dualbragg/expert/setup_fields.h>

/* Wavelength (A) of a set-up for which nobody has named one. */
#define DB_UNKNOWN_WAVELENGTH 1.

/* Receiver of notices; line may be NULL. */
typedef struct db_setup_notes {
    void (*line)(void *user, const char *text);
    void *user;
} db_setup_notes;

/* Passes a line (printf style, without a line end) to the caller of db_setup_resolve. */
void db_setup_note(const db_setup_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* First part: for spots in closed form, a set-up with standard deviations instead of caps and full ranges; for
 * sampled ones a copy. Settings that one of the two cannot express are refused. */
db_status db_setup_spots(db_context *context, const db_setup *setup, db_setup *settled,
                         const db_setup_notes *notes);

/* Plate, panel, and the axes of beam, polarization and spindle that come with a convention. */
db_status db_setup_detector(db_context *context, const db_setup *setup, db_experiment *experiment,
                            const db_setup_notes *notes);
/* Plate, axes, goniometer's axis and crystal's lattice from the set-up's experiment list. */
db_status db_setup_expt(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes);
db_status db_setup_beam(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes);
/* The plate's sensor, with its material's absorption at the beam's wavelength. */
db_status db_setup_sensor(db_context *context, const db_setup *setup, db_experiment *experiment,
                          const db_setup_notes *notes);
db_status db_setup_crystal(db_context *context, const db_setup *setup, db_experiment *experiment,
                           const db_setup_notes *notes);

/* Variances from the standard deviations of a resolved set-up; the strains' ties need the cell. */
db_status db_setup_spread(db_context *context, const db_setup *setup, db_experiment *experiment);

/* The amorphous matter; without a file of amplitudes none. */
db_status db_setup_background(db_context *context, const db_setup *setup, db_experiment *experiment,
                              const db_setup_notes *notes);

/* Length of the longest scattering vector (1/A) to the corners of panels, for all sources. */
db_status db_setup_longest(db_context *context, const db_experiment *experiment, double *longest);

/* Notes on implausible numbers of a resolved set-up and its experiment, each with the unit in which it would be
 * usual (plausible.c); returns their number. first: receives the first note; notes may be NULL. */
int db_setup_implausible(const db_setup *setup, const db_experiment *experiment,
                         const db_setup_notes *notes, char *first, size_t size);

/* A note on a crystal of one cell that is to show reflections. */
void db_setup_remark_one_cell(const db_setup *setup, const db_experiment *experiment,
                              const db_setup_notes *notes);

/* The list of structure factors, the last part: a model's are calculated for everything known by then. */
db_status db_setup_structure_factors(db_context *context, const db_setup *setup,
                                     db_experiment *experiment, const db_setup_notes *notes);

/* Parts of db_setup_crystal. */

/* Misset angles: given, or of a random rotation. */
db_status db_setup_misset(db_context *context, const db_setup *setup, db_crystal *crystal,
                          const db_setup_notes *notes);

/* DB_ERROR_INPUT, naming the seed, unless it starts a proper stream. */
db_status db_setup_check_seed(db_context *context, const char *name, long seed);

/* Parts of db_setup_detector. */

/* The convention in effect: given vectors make it CUSTOM, with a notice; in the reference's way it is the given
 * one, and vectors count only in CUSTOM. */
db_convention db_setup_effective_convention(const db_setup *setup, const db_setup_notes *notes);

/* The first given axis that makes a convention CUSTOM; NULL. */
const db_setup_field *db_setup_axis_given(const db_setup *setup);

/* The pivot of a convention; of CUSTOM, unless a flag implies another. */
db_pivot db_setup_convention_pivot(db_convention convention);

/* Axes of beam, polarization, spindle, two-theta and plate: unit vectors, the plate's
 * perpendicular. */
db_status db_setup_axes(db_context *context, const db_setup *setup, db_convention convention,
                        db_experiment *experiment, const db_setup_notes *notes);

/* Pixel counts; size[]: of the plate (mm), which need not be a whole number of pixels (docs/theory/detector.md,
 * Size and centre). */
db_status db_setup_panel_size(db_context *context, const db_setup *setup, db_panel *panel,
                              double size[2]);

/* Beam centre for pivot beam, near point for pivot sample, along fast and slow (mm; docs/theory/detector.md, Size
 * and centre). Given values must have a meaning there; in the reference's way others are ignored. */
db_status db_setup_centre(db_context *context, const db_setup *setup, db_convention convention,
                          const double size[2], db_detector *detector, const db_setup_notes *notes);

/* An image may contain the direct beam or the near point, and one of two distances: derives the others from the
 * experiment's axes and rotations of the detector. */
void db_setup_complete_placement(const db_experiment *experiment, db_stated_placement *stated);

/* 1 if a number that may be left open was given. */
static inline int db_setup_given(double value) { return !isnan(value); }

/* Number of intervals of one size that cover a length; rounding noise in the quotient does not add
 * one. */
static inline double db_setup_intervals(double length, double interval) {
    return ceil(length / interval - 1e-9);
}

#endif
