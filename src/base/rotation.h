/* Rotations of the crystal during an image. */
#ifndef DB_BASE_ROTATION_H
#define DB_BASE_ROTATION_H

#include <math.h>

/* Does the crystal turn? width: of the rotation (degree), negative backwards. Below 1e-5 degree it is a still, as for
 * DIALS; NAN, not stated: no. */
static inline int db_turns(double width) { return fabs(width) >= 1e-5; }

/* The turn in (-180, 180] that ends at the same angle (degree). */
static inline double db_folded_turn(double angle) { return angle - 360 * ceil(angle / 360 - 0.5); }

#endif
