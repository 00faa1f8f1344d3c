/* Are the reflections with spots those near the Ewald sphere? */
#ifndef DB_FIT_VERDICT_EXCITED_SPOTS_H
#define DB_FIT_VERDICT_EXCITED_SPOTS_H

#include "fit/verdict/judged_spots.h"

typedef struct db_excited_spots {
    size_t predicted; /* reflections */
    size_t seen;      /* of them, with a spot */
    double sigma; /* by how many standard deviations these are nearer to the sphere than the others;
                         NAN: there is but one kind */
} db_excited_spots;

/* Looks at all reflections that are predicted. */
db_status db_excited_spots_rank(db_context *context, const db_judged_spots *judged,
                                db_excited_spots *found);

#endif
