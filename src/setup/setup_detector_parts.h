/* The parts of db_setup_detector: axes of a convention, size and centre of the panel, the reference
 * program's placement. */
#ifndef DB_SETUP_SETUP_DETECTOR_PARTS_H
#define DB_SETUP_SETUP_DETECTOR_PARTS_H

#include "base/vector.h"
#include "setup/parts.h"

/* The convention that holds: vectors given make it CUSTOM, and the user is told; in the reference's
 * way it is the one that was said, and vectors count in CUSTOM alone. */
db_convention db_setup_effective_convention(const db_setup *setup, const db_setup_notes *notes);

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

/* Where the reference program puts the detector described by the setup; fills
 * experiment->reference. The experiment's detector is complete but for a plate that looks away from
 * the beam before two-theta, whose distance becomes one along the normal, as the reference has
 * it. */
void db_setup_reference_placement(const db_setup *setup, db_convention convention,
                                  db_experiment *experiment);

#endif
