/* How uncertain intensities are because all else is refined beside them. */
#ifndef DB_FIT_INTENSITIES_SPREAD_H
#define DB_FIT_INTENSITIES_SPREAD_H

#include "fit/intensities/system.h"

/* Takes changes out of x, [reflections], along which the system determines nothing. */
typedef void (*db_joint_projector)(const void *user, double *x);

/* Estimates D diag(H^-1), by how much the variance of each intensity is larger than with all others
 * and the shared quantities known, after the sums of these groups. At least the first terms of the
 * series, 1 + diag(V V') / D. project may be NULL. Costs about twenty products for each probe. */
db_status db_joint_system_spread(db_joint_system *system, unsigned groups, int probes,
                                 db_joint_projector project, const void *user, double *spread);

#endif
