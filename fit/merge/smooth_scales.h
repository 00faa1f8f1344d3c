/* Scales that vary smoothly while a crystal turns (docs/theory/merging.md, Frames of a series). A measurement of a
 * reflection at the time t of a sweep is modelled as
 *
 *     J = k(t) exp(-B(t) / (2 d^2)) I
 *
 * with log k and B linear between knots, each sweep with its own. Both are relative to the first knot of the first
 * sweep. Steps from knot to knot are restrained to 0, as strongly as they themselves make likeliest. */
#ifndef DB_FIT_MERGE_SMOOTH_SCALES_H
#define DB_FIT_MERGE_SMOOTH_SCALES_H

#include "fit/merge/observations.h"

/* Time of a measurement, in frames. */
typedef struct db_sweep_time {
    uint32_t sweep;
    float at; /* frames since the series began */
} db_sweep_time;

typedef struct db_smooth_scales {
    size_t sweeps;
    size_t
        *first; /* [sweeps + 1]: knots of a sweep are first[s] to first[s + 1] - 1, at least two */
    double *begin;         /* [sweeps] frames before it */
    double *spacing;       /* [sweeps] frames between its knots */
    double *log_k, *b;     /* [knots]; b: angstrom^2 */
    double step_k, step_b; /* standard deviations of steps from knot to knot, of log k and B */
    size_t shared;         /* measurements of reflections that were measured more than once */
} db_smooth_scales;

/* Knots about `apart` frames apart; begin: [sweeps + 1] frames before each sweep, and of all. Scales of 1. */
db_status db_smooth_scales_make(db_context *context, size_t sweeps, const double *begin,
                                double apart, db_smooth_scales *scales);
void db_smooth_scales_clear(db_smooth_scales *scales);

/* Finds the scales by which measurements of the same reflections agree. time: [measurements]. */
db_status db_smooth_scales_fit(db_context *context, const db_asu_list *list,
                               const db_observations *observations, const db_sweep_time *time,
                               db_smooth_scales *scales);

/* k exp(-B fall) with fall = 1 / (2 d^2). */
double db_smooth_scale_at(const db_smooth_scales *scales, const db_sweep_time *time, double fall);

#endif
