/* Puts panels that a file places on the plate that carries them in an experiment. */
#ifndef DB_IO_PANEL_PLATE_H
#define DB_IO_PANEL_PLATE_H

#include <dualbragg/experiment.h>

/* Unit vectors, perpendicular to each other, and an origin (mm): a local frame seen from outside;
 * of a panel its axes and the outer corner of its first pixel. */
typedef struct db_frame {
    double fast[3], slow[3], normal[3], origin[3];
} db_frame;

/* Completes a frame whose fast and slow axes are perpendicular up to rounding. */
void db_frame_complete(db_frame *frame);

/* Places the detector's panels, whose sizes are known. One panel is its own plate. Several panels lie on a plate
 * through the mean of their middles, with their mean normal, the fast axis of `outer`, and its origin where the
 * beam hits. Returns NULL, or a text of what was expected. */
const char *db_hang_panels(const db_frame *placed, const db_frame *outer, const db_beam *beam,
                           db_detector *detector);

#endif
