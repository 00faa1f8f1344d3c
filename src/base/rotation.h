/* Rotations of the crystal during an image. */
#ifndef DB_BASE_ROTATION_H
#define DB_BASE_ROTATION_H

#include <math.h>

/* Does the crystal turn? width: of the rotation (degree), negative backwards. Below 1e-5 degree it is a still, as for
 * DIALS; NAN, not stated: no. */
static inline int db_turns(double width) { return fabs(width) >= 1e-5; }

/* The turn in (-180, 180] that ends at the same angle (degree). */
static inline double db_folded_turn(double angle) { return angle - 360 * ceil(angle / 360 - 0.5); }

/* The turn of one image by its first and last angle: past 360 degree (359.5 to 0.5) it is the short way round, unless that is
 * a quarter turn or more, or none, as of an image that does turn so far. */
static inline double db_turn_of_ends(double width) {
    const double folded = db_folded_turn(width);
    return db_turns(folded) && fabs(folded) < 90 ? folded : width;
}

#endif
