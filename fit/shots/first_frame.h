/* What the model of the first shot in use says of all, in all processes, of which one has the model. */
#ifndef DB_FIT_SHOTS_FIRST_FRAME_H
#define DB_FIT_SHOTS_FIRST_FRAME_H

#include "fit/shots/shots.h"

typedef struct db_first_frame {
    int known; /* 0: no shot is in use, and the rest is 0 */
    double distance, wavelength, cell[6];
    double a_star[9]; /* columns a*, b*, c* of the crystal (1/angstrom) */
    double width;     /* rotation on it (degree) */
    int is_flat;      /* the Ewald sphere (db_fit_sphere_is_flat) */
} db_first_frame;

/* result: with the refined models of this process' shots. All processes call it. */
db_status db_first_frame_tell(const db_shots *all, const db_fit_shots_result *result,
                              db_first_frame *first);

#endif
