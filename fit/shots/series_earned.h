/* Quantities of a series that its reflections have to earn: scales of frames, tilts of the spindle, and rotations of blocks
 * that differ by direction. Few reflections of fine slices do not determine them, and would drive them far off
 * (docs/theory/refinement.md, Rotation series). */
#ifndef DB_FIT_SHOTS_SERIES_EARNED_H
#define DB_FIT_SHOTS_SERIES_EARNED_H

#include <dualbragg/context.h>

#include <stddef.h>

/* Tilt (degree) of a spindle that is mounted with care. */
#define DB_USUAL_SPINDLE_TILT 0.25

typedef enum db_earning {
    DB_EARNING_NONE,
    DB_EARNING_SCALE,
    DB_EARNING_TILT,
    DB_EARNING_ROTATION,
    DB_EARNINGS /* their number */
} db_earning;

/* What an evaluation of a series says of its unknowns. */
typedef struct db_series_evidence {
    size_t unknowns, reflections;
    const double *sums;           /* db_schur_sums_size: slopes and curvatures */
    const double *scatter;        /* as sums: products of half the slopes of single reflections */
    const unsigned char *earning; /* [unknowns] db_earning */
} db_series_evidence;

/* Which kinds are not earned? unearned: [DB_EARNINGS] gets flags. held: [unknowns] 1: does not move. A kind of which nothing
 * moves is not asked. Tilts (degree) are earned if their errors, misfit included, are smaller than the tilt of a spindle that
 * is mounted with care. Scales are earned together, and so are rotations, by Schwarz's criterion with the scatter of single
 * reflections in place of their variance, since most of it is misfit: the loss has to fall by more than its fall by chance
 * times the logarithm of the number of reflections. */
db_status db_series_earn(db_context *context, const db_series_evidence *evidence,
                         const unsigned char *held, int unearned[DB_EARNINGS]);

#endif
