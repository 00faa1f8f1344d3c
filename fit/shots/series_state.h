/* What a series in a joint stage is made of; for the files of the series alone. */
#ifndef DB_FIT_SHOTS_SERIES_STATE_H
#define DB_FIT_SHOTS_SERIES_STATE_H

#include "fit/shots/links.h"
#include "fit/shots/part_light.h"

#include <dualbragg/expert/boxes.h>
#include <math.h>
#include <stdint.h>

/* A box of a reflection. */
typedef struct db_series_part {
    int hkl[3];
    uint32_t shot, box;
} db_series_part;

/* The background of a box where it was summed up last, and where it is best as the intensity changes. */
typedef struct db_part_background {
    double intensity; /* with which */
    double at[DB_LINEAR - 1], step[DB_LINEAR - 1], slope[DB_LINEAR - 1];
} db_part_background;

struct db_series {
    const db_joint_links *links;
    int stage;
    size_t count;         /* reflections */
    size_t *first;        /* [count + 1] */
    db_series_part *part; /* of reflection r: part[first[r]] to part[first[r + 1] - 1] */
    uint32_t **number;    /* [shots][boxes] of the reflection of each box */
    double *value[2];     /* [count]: intensities of the starting models, and of the rendering */
    double *begun;        /* [count] intensities with which the stage began */
    /* [count] what the frames say that were summed last (db_series_sum), on rank 0: intensities of either sign, by one step
     * from those of the rendering; half second derivatives of the loss */
    double *best, *curvature;
    /* [shots] what a frame's loss changes from the intensities of the rendering to the best ones, if chi2 is quadratic; with the
     * best scales of frames, if these wait for a later stage */
    double *change;
    /* [shots][boxes] of this process' shots: of the last pass, and of that with which the stage began */
    db_part_background **background[2];
    size_t *boxes; /* [shots] */
    /* Linearizations: [shots] of this process, and on rank 0 of all; their bytes. */
    void **linearization;
    size_t *bytes;
    size_t most; /* quantities that may move a box */
    /* Light at the minimum: [shots], as linearizations, of db_part_light [boxes]; its bytes. */
    void **light;
    size_t *light_bytes;
};

/* Width of the narrower frames beside the model's. */
#define DB_NARROWER 0.8

/* What frames, which have been noted and gathered, say of unknowns of these links, on rank 0: as db_series_sum. step: [unknowns]
 * pulls get the gradients after this step, which are linear in it; NULL: where the frames were rendered. */
db_status db_series_sum_here(const db_shots *all, const db_joint_links *links, const double *step,
                             double *sums, double *const pulls[2]);

/* An intensity after a Newton step, of which others follow or none. Newton's steps on Poisson's likelihood fall below 0 from
 * twice the best intensity, and hardly rise from 0 where the background is faint: a tenth is left if others follow. */
static inline double db_series_step(double value, double fall, int others_follow) {
    const double most_fall = 0.1;
    return fmax(others_follow ? most_fall * value : 0, value - fall);
}

#endif
