/* Light of a box at the minimum, and sums of a frame's boxes (docs/theory/verdict.md, Light of a series). */
#ifndef DB_FIT_SHOTS_PART_LIGHT_H
#define DB_FIT_SHOTS_PART_LIGHT_H

#include "fit/objective/objective.h"
#include "fit/shots/shots.h"

#include <stdint.h>

/* Sums over strong pixels, for the mean of a coordinate x by their counts and its variance by their noise. */
typedef struct db_strong_place {
    double counts, first;         /* counts, counts x */
    double noise, across, square; /* variance of the counts, times x, times x^2 */
} db_strong_place;

void db_strong_place_add(db_strong_place *to, double counts, double variance, double x);

/* What a box shows at the minimum: sums over its pixels in use. */
typedef struct db_part_light {
    double intensity; /* with which it was rendered */
    int listed;   /* 0: without a say, as boxes of reflections that joint intensities leave out */
    double shape; /* of the model's image for an intensity of 1, */
    double third; /* its third brightest pixel */
    double of_rival[DB_LIGHT_RIVALS]; /* and of rivals; 0: not known */
    double resolution;                /* d spacing (angstrom) */
    double recorded;                  /* part of the reflection, by the model at the minimum */
    int from[2], to[2];               /* its pixels, as the position */
    double background;                /* counts */
    double gain, dark_variance; /* counts per photon; variance of the background with the readout */
    double excess; /* counts above the local background, which the model has no part in */
    double light, light_variance; /* counts above the background, and their variance by noise */
    double chi2;
    double position[2];      /* of the model's spot, in pixels of the panel (fast, slow) */
    db_strong_place seen[2]; /* fast, slow */
    uint32_t panel, pixels, strong;
} db_part_light;

/* Light of a box in pixels in use, for an intensity of 1. */
double db_box_shape(const db_objective *objective, size_t b);

/* Of an evaluated objective. */
db_part_light db_part_light_of(const db_objective *objective, const db_stored *pixels, size_t b);

/* A box's light for comparisons (counts). */
typedef struct db_compared_light {
    double measured, model;
    double variance; /* of the measured counts */
    double expected; /* expected variance, by these or the model's counts */
    double weight;   /* bright boxes are weighted by their light, dim ones by their noise */
} db_compared_light;

db_compared_light db_light_compare(const db_part_light *part);

/* Adds squared differences from the model, minus half of the differences from a rival; both without the expected
 * part of noise. share: part of the noise that the rival does not follow. */
void db_light_add_margin(const db_compared_light *part, double rival, double share,
                         db_light_margin *margin);

/* Adds a box: what the model misses of its light, also beside no light, and whether a spot is alike. */
void db_frame_light_add(const db_part_light *part, db_frame_light *frame);

#endif
