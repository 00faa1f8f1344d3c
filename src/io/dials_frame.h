/* The laboratory frame that dxtbx gives simulated images: x along the spindle, z against the
 * beam. */
#ifndef DB_IO_DIALS_FRAME_H
#define DB_IO_DIALS_FRAME_H

#include <dualbragg/experiment.h>

/* Rows: unit vectors x, y = z x x, and z in the laboratory. A spindle along the beam says nothing
 * about x: then the E field does. An experiment whose beam is within 10 degree of -z stands in such
 * a frame already, that of the list it came from, and stays there. */
void db_dials_frame(const db_experiment *experiment, double frame[3][3]);

/* Turns a vector about a unit axis (degree, right-handed). */
void db_turn_by_degrees(const double axis[3], double angle, double vector[3]);

#endif
