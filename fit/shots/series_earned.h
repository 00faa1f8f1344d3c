/* Quantities of a series that its reflections have to earn: scales of frames and tilts of the spindle. Few reflections of
 * fine slices do not determine them, and would drive them far off (docs/theory/refinement.md, Rotation series). */
#ifndef DB_FIT_SHOTS_SERIES_EARNED_H
#define DB_FIT_SHOTS_SERIES_EARNED_H

#include <dualbragg/context.h>

#include <stddef.h>

typedef enum db_earning { DB_EARNING_NONE, DB_EARNING_SCALE, DB_EARNING_TILT } db_earning;

/* What an evaluation of a series says of its unknowns. */
typedef struct db_series_evidence {
    size_t unknowns, reflections;
    const double *sums;           /* db_schur_sums_size: slopes and curvatures */
    const double *scatter;        /* as sums: products of half the slopes of single reflections */
    const unsigned char *earning; /* [unknowns] db_earning */
} db_series_evidence;

/* Holds what is not earned. held: [unknowns] 1: does not move, and on return stays so; then also scales and tilts that are
 * not earned. A tilt (degree) is earned if its error, misfit included, is smaller than the tilt of a spindle that is mounted
 * with care. Scales are earned together, by Schwarz's criterion with the scatter of single reflections in place of their
 * variance, since most of it is misfit: the loss has to fall by more than its fall by chance times the logarithm of the
 * number of reflections. */
db_status db_series_earn(db_context *context, const db_series_evidence *evidence,
                         unsigned char *held);

#endif
