/* The amplitude of an amorphous molecule as cubics of sin(theta)/lambda, one per interval of its
 * points. */
#ifndef DB_ENGINE_AMORPHOUS_CURVE_H
#define DB_ENGINE_AMORPHOUS_CURVE_H

#include "kernel/job.h"

#include <dualbragg/experiment.h>

typedef struct db_amorphous_curve {
    db_kernel_amorphous job; /* points into what follows */
    double *knot;
    double *cubic;
    int32_t *bin;
} db_amorphous_curve;

/* Allocates for `count` points; 0: nothing, and job.bins is 0. DB_ERROR_MEMORY. */
db_status db_amorphous_curve_create(db_context *context, size_t count, db_amorphous_curve *curve);

/* Cubics through four neighbouring points (one below the interval, its two ends, one above); parabolas through
 * three points in the outermost intervals; constant beyond the first and the last point. Allocates nothing.
 * Source: docs/theory/pixel.md, Scattering without a lattice. */
void db_amorphous_curve_fill(db_amorphous_curve *curve, const db_background *background);

void db_amorphous_curve_clear(db_amorphous_curve *curve);

#endif
