/* Does the crystal turn during an image? */
#ifndef DB_BASE_ROTATION_H
#define DB_BASE_ROTATION_H

#include <math.h>

/* width: of the rotation (degree), negative backwards. Below 1e-5 degree it is a still, as for DIALS; NAN, not stated: no. */
static inline int db_turns(double width) { return fabs(width) >= 1e-5; }

#endif
