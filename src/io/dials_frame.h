/* The laboratory frame that dxtbx gives simulated images: x along the spindle, z against the
 * beam. */
#ifndef DB_IO_DIALS_FRAME_H
#define DB_IO_DIALS_FRAME_H

#include <dualbragg/experiment.h>

/* Turns a vector about a unit axis (degree, right-handed). */
void db_turn_by_degrees(const double axis[3], double angle, double vector[3]);

#endif
