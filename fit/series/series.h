/* The frames of a series in a joint stage, and what is unknown of them. */
#ifndef DB_FIT_SERIES_SERIES_H
#define DB_FIT_SERIES_SERIES_H

#include "fit/objective/frames.h"
#include "fit/shots/shot_fit.h"

/* An unknown: what all frames share, the value of one at a knot, or that of a frame. */
typedef struct db_series_unknown {
    size_t index; /* of its parameter */
    double start, lower, upper;
    double centre, sigma; /* prior */
} db_series_unknown;

/* Held where it is: a scale that the others are relative to, or what no frame tells of. */
static inline int db_series_is_held(const db_series_unknown *unknown) {
    return !(unknown->lower < unknown->upper);
}

typedef struct db_series {
    db_shots *all;
    int stage;
    db_arrow_order order;
    size_t count;        /* frames in use */
    size_t *shot;        /* [count] their numbers */
    db_open_shot *open;  /* [count] */
    db_frame *frame;     /* [count] */
    db_frame_link *link; /* of all frames */
    size_t unknowns;     /* shared ones first, in the order of order */
    db_series_unknown *unknown;
    db_frames frames;
} db_series;

/* Opens the frames whose pixels are in the spool. */
db_status db_series_open(db_shots *all, int stage, db_series *series);
void db_series_close(db_series *series);

/* The parts of a frame's local quantity, number `local` of them: at most two. */
size_t db_series_parts(const db_series *series, size_t frame, size_t local,
                       const db_frame_link *part[2]);

/* The local values of all frames become those at values of the unknowns. */
void db_series_set_local(const db_series *series, const double *value);

#endif
