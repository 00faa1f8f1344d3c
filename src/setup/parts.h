/* The parts of db_setup_resolve: each fills its share of the experiment from the user's
 * description. They run in the order in which they stand here. */
#ifndef DB_SETUP_PARTS_H
#define DB_SETUP_PARTS_H

#include "base/vector.h"

#include <dualbragg/expert/setup_fields.h>

/* Where notices go; line may be NULL. */
typedef struct db_setup_notes {
    void (*line)(void *user, const char *text);
    void *user;
} db_setup_notes;

/* Hands one line (printf style, without a line end) to the caller of db_setup_resolve. */
void db_setup_note(const db_setup_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* First of all: for spots in closed form, a set-up with standard deviations in place of caps and
 * full ranges; for sampled ones a copy. What one of the two has no room for is refused. */
db_status db_setup_spots(db_context *context, const db_setup *setup, db_setup *settled,
                         const db_setup_notes *notes);

/* Plate, panel, and the axes of beam, polarization and spindle that come with a convention. */
db_status db_setup_detector(db_context *context, const db_setup *setup, db_experiment *experiment,
                            const db_setup_notes *notes);
/* The same, goniometer's axis and crystal's lattice from the setup's experiment list. */
db_status db_setup_expt(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes);
db_status db_setup_beam(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes);
/* The plate's sensor, which absorbs as its material does at the beam's wavelength. */
db_status db_setup_sensor(db_context *context, const db_setup *setup, db_experiment *experiment,
                          const db_setup_notes *notes);
db_status db_setup_crystal(db_context *context, const db_setup *setup, db_experiment *experiment,
                           const db_setup_notes *notes);

/* Variances from the standard deviations of a settled set-up; the strains' ties ask for the cell. */
db_status db_setup_spread(db_context *context, const db_setup *setup, db_experiment *experiment);

/* The amorphous matter; without a file of amplitudes none. */
db_status db_setup_background(db_context *context, const db_setup *setup, db_experiment *experiment,
                              const db_setup_notes *notes);

/* Largest |s1 - s0|, 2 sin(theta), of unit vectors to the corners of panels. */
double db_setup_farthest(const db_experiment *experiment);

/* Notes on numbers of a settled set-up and its experiment that are hardly meant, each with the unit in which it would be usual
 * (plausible.c); returns how many. first: receives the first of them; notes may be NULL. */
int db_setup_implausible(const db_setup *setup, const db_experiment *experiment,
                         const db_setup_notes *notes, char *first, size_t size);

/* A note where reflections are to be shown by a crystal of one cell. */
void db_setup_remark_one_cell(const db_setup *setup, const db_experiment *experiment,
                              const db_setup_notes *notes);

/* The list of structure factors, last of all: a model's are calculated for what is known by then. */
db_status db_setup_structure_factors(db_context *context, const db_setup *setup,
                                     db_experiment *experiment, const db_setup_notes *notes);

/* Parts of db_setup_crystal. */

/* Misset angles: given, or those of a random rotation. */
db_status db_setup_misset(db_context *context, const db_setup *setup, db_crystal *crystal,
                          const db_setup_notes *notes);

/* DB_ERROR_INPUT, naming the seed, unless it starts a proper stream. */
db_status db_setup_check_seed(db_context *context, const char *name, long seed);

/* Parts of db_setup_detector. */

/* The convention that holds: vectors given make it CUSTOM, and the user is told; in the reference's
 * way it is the one that was said, and vectors count in CUSTOM alone. */
db_convention db_setup_effective_convention(const db_setup *setup, const db_setup_notes *notes);

/* The first axis that is given of those that make a convention CUSTOM; NULL. */
const db_setup_field *db_setup_axis_given(const db_setup *setup);

/* The pivot of a convention; CUSTOM: while no flag implies another. */
db_pivot db_setup_convention_pivot(db_convention convention);

/* Axes of beam, polarization, spindle, two-theta and plate: unit vectors, the plate's
 * perpendicular. */
db_status db_setup_axes(db_context *context, const db_setup *setup, db_convention convention,
                        db_experiment *experiment, const db_setup_notes *notes);

/* Pixel counts; size[] is that of the plate (mm), which need not be a whole number of pixels
 * (docs/theory/detector.md, Size and centre). */
db_status db_setup_panel_size(db_context *context, const db_setup *setup, db_panel *panel,
                              double size[2]);

/* Beam centre for pivot beam, near point for pivot sample, along fast and slow (mm;
 * docs/theory/detector.md, Size and centre). What the user says must have a meaning there; in the
 * reference's way it is passed over. */
db_status db_setup_centre(db_context *context, const db_setup *setup, db_convention convention,
                          const double size[2], db_detector *detector, const db_setup_notes *notes);

/* An image may state the direct beam or the near point, and one distance or the other: works out
 * the rest, the experiment's axes and rotations of the detector being known. */
void db_setup_complete_placement(const db_experiment *experiment, db_stated_placement *stated);

/* 1 if a number that may be left open was given. */
static inline int db_setup_given(double value) { return !isnan(value); }

/* Number of intervals of one size that cover a length; rounding noise in the quotient does not add
 * one. */
static inline double db_setup_intervals(double length, double interval) {
    return ceil(length / interval - 1e-9);
}

#endif
