/* The Park-Miller generator with Bays-Durham shuffle, which the reference program uses for mosaic domains, so that
 * the same seed gives the same crystal. Source: docs/theory/crystal.md, Random numbers; P. Bratley, B. Fox, L.
 * Schrage, A Guide to Simulation (1983) for the factorization-free form with 64-bit products. */
#ifndef DB_MODEL_RAN1_H
#define DB_MODEL_RAN1_H

#include <stdint.h>

typedef struct db_ran1 {
    int64_t x;
    int64_t table[32];
    int64_t y;
} db_ran1;

/* Starts a stream; seeds below 1 act like 1. */
void db_ran1_seed(db_ran1 *generator, long seed);

/* Next integer, 1 to 2^31 - 2. */
int64_t db_ran1_integer(db_ran1 *generator);

/* Next uniform deviate in (0, 1), in single precision as all users of this generator get it. */
float db_ran1_uniform(db_ran1 *generator);

/* Draws three numbers: a unit vector, uniform on the sphere, and a rotation angle about it as a fraction of the
 * largest angle, in single precision. The angle is not that of uniform rotations within the cap. */
float db_ran1_direction(db_ran1 *generator, double axis[3]);

#endif
