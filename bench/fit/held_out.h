/* How well a model predicts spots that it has not been refined on. */
#ifndef DB_BENCH_FIT_HELD_OUT_H
#define DB_BENCH_FIT_HELD_OUT_H

#include "fit/pixels/shoeboxes.h"
#include "fit/pixels/observed_spots.h"

/* Figures of a model on held-out reflections. */
typedef enum db_held_out_figure {
    DB_HELD_POSITION, /* pixels: rms distance of observed centroids from predicted positions, of
                         the best 90 % */
    DB_HELD_MEDIAN,   /* pixels: median of these distances */
    DB_HELD_TURN,     /* degree: rms turn that brings observed reflections onto the Ewald sphere */
    DB_HELD_RENDERED, /* pixels: rms distance of observed centroids from those of rendered spots */
    DB_HELD_CHI2,     /* per degree of freedom, in the boxes of observed spots */
    DB_HELD_CORRELATION, /* there: rendered with measured, background removed */
    DB_HELD_EXPLAINED,   /* there: percent of the strong pixels */
    /* probability that an observed reflection has more rendered light than one that is predicted
     * near the Ewald sphere and not observed (area under the ROC curve) */
    DB_HELD_RANKING,
    /* percent of the brightest rendered reflections, as many as are observed, that are observed:
     * precision and recall in one */
    DB_HELD_PRECISION,
    DB_HELD_FIGURES
} db_held_out_figure;

extern const char *const db_held_out_name[DB_HELD_FIGURES];

/* What the figures are taken on: one half of all reflections. Pixels and candidates are chosen by
 * one model, `placed_by`, whichever is measured. */
typedef struct db_held_out {
    const db_fit_data *data;
    const db_experiment *placed_by;
    const db_observed_spots *spots; /* indexed */
    int (*is_held_out)(void *user, const int hkl[3]);
    void *user;
    int on_sphere; /* 1: places as if on the Ewald sphere, of a model without spreads */
} db_held_out;

db_status db_held_out_measure(db_context *context, const db_held_out *held,
                              const db_experiment *model, double figure[DB_HELD_FIGURES]);

#endif
