/* Frames of one crystal that turns: parts of a reflection on several of them have one intensity,
 * which is an unknown that their objectives share and that is eliminated as in
 * fit/objective/shared_intensities.h. What they refine may vary along the frames: each variable of
 * an objective is a sum of unknowns, such as the values at the knots beside its frame. */
#ifndef DB_FIT_OBJECTIVE_FRAMES_H
#define DB_FIT_OBJECTIVE_FRAMES_H

#include "fit/objective/shared_intensities.h"

/* A part of a frame's variable. */
typedef struct db_frame_link {
    size_t variable, unknown;
    double weight;
} db_frame_link;

typedef struct db_frame {
    db_objective *objective;         /* made with is_frame; borrowed */
    const db_reflection *reflection; /* of its blocks; borrowed */
    const db_frame_link *link;       /* borrowed */
    size_t link_count;
    size_t number; /* in the series, those that are left aside counted */
} db_frame;

typedef struct db_frames {
    db_context *context;
    const db_frame *frame; /* borrowed */
    size_t count, unknowns;
    size_t reflections;
    size_t *first;  /* [reflections + 1] */
    db_part *part;  /* of reflection r: part[first[r]] to part[first[r + 1] - 1] */
    double degrees; /* of freedom */

    /* Results of the last evaluation. */
    double loss;
    double *gradient;      /* [unknowns] */
    double *normal;        /* [unknowns][unknowns] */
    double *scatter;       /* likewise: sum over reflections of the products of half their
                              gradients, with their intensities eliminated */
    double *frame_scatter; /* likewise, of the sums over those that begin on the same frame */

    double *work;
    int fresh; /* no evaluation yet */
} db_frames;

/* Finds the parts of each reflection. The frames must outlive it. */
db_status db_frames_make(db_context *context, const db_frame *frame, size_t count, size_t unknowns,
                         db_frames *frames);
void db_frames_clear(db_frames *frames);

/* Fills the results at values of the unknowns; without unknowns only the frames' coefficients.
 * DB_ERROR_INPUT: a model is not possible. */
db_status db_frames_evaluate(db_frames *frames, const double *value);

/* How many intensities the blocks of a frame take: each reflection is divided by its parts. */
double db_frames_intensities(const db_frames *frames, size_t frame);

#endif
