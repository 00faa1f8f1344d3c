/* Rotations of mosaic domains. */
#ifndef DB_BASE_MOSAIC_CAP_H
#define DB_BASE_MOSAIC_CAP_H

/* Standard deviation of a component of a domain's rotation about a random axis by cap * (1 - r^2)^(1/3), with r
 * uniform in -1 to 1 (model/ran1.h): the root of the mean square, a third of the integral of (1 - r^2)^(2/3) from
 * 0 to 1, is sqrt(pi) Gamma(5/3)/(6 Gamma(13/6)). */
static const double DB_RMS_OF_CAP = 0.49637826966267710;

#endif
