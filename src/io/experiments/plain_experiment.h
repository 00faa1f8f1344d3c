/* Beam, goniometer and panels of files that say little about them: one source, a flat detector at rest. */
#ifndef DB_IO_PLAIN_EXPERIMENT_H
#define DB_IO_PLAIN_EXPERIMENT_H

#include "io/experiments/panel_plate.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>

/* One source along a unit vector, E along x of the laboratory of dxtbx. polarization: the Kahn factor; NAN: unknown, which
 * the content keeps. */
void db_beam_set_simple(double wavelength, const double direction[3], double polarization,
                        db_beam *beam, db_expt_content *content);

/* No two-theta, which would be about the spindle, backwards; no other turn, not curved. */
void db_detector_set_flat(const double spindle_axis[3], db_detector *detector);

/* Allocates the panels of a detector and content of each, all zero. *frame: memory for the place of each, owned by
 * the caller. */
db_status db_panels_create(db_context *context, const char *path, size_t count,
                           db_detector *detector, db_expt_content *content, db_frame **frame);

#endif
