/* The random part of the mosaic domains: an axis and a fraction of the mosaic spread for each.
 * Fixed by the seed, so that the rotations are smooth functions of the spread. */
#ifndef DB_MODEL_MOSAIC_DIRECTIONS_H
#define DB_MODEL_MOSAIC_DIRECTIONS_H

typedef struct db_mosaic_direction {
    double axis[3];  /* unit vector, uniform on the sphere */
    double fraction; /* rotation angle / mosaic spread */
} db_mosaic_direction;

/* Fills `domains` directions from the seed; the first domain is the identity (fraction 0). Source:
 * docs/theory/crystal.md, Mosaic domains. The reference program rounds each rotation angle to single precision.
 * The fractions here give these rounded angles at this spread (degree), and do not change with the spread: the
 * same seed gives the same crystal, smoothly in the spread. */
void db_mosaic_directions(long seed, double spread, int domains, db_mosaic_direction *directions);

#endif
