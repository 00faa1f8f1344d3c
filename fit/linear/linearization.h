/* The losses of a shot's boxes to second order around the point where it was rendered, each with weight 1.
 *
 * The loss of a box, its background at its best, is to second order in changes x of its intensity
 * and z of the quantities that move it
 *
 *     loss + 2 (pull x + slope'z) + curvature x^2 + 2 x mixed'z + z'normal z
 *
 * so that weights and values may change, and a record of them (fit/linear/reduced.h) be made,
 * without rendering. */
#ifndef DB_FIT_LINEAR_LINEARIZATION_H
#define DB_FIT_LINEAR_LINEARIZATION_H

#include "fit/linear/reduced.h"

/* Quantities are numbered as in a record: local ones first, then shared ones. */
typedef struct db_linearization {
    size_t count, local, shared;    /* boxes, quantities */
    size_t most;                    /* quantities that may move a box */
    double *at;                     /* [local + shared] values of the point */
    double *lower, *upper;          /* [local] bounds */
    double *near;                   /* [local] a value so near to a bound is at it */
    double *prior_loss;             /* 1: of local quantities */
    double *prior_slope;            /* [local] half of it */
    double *prior_curvature;        /* [local] half the second derivative */
    uint32_t *reflection;           /* [count] which intensity a box has */
    float *intensity;               /* [count] of the point */
    float *loss, *pull, *curvature; /* [count]; nothing is known of an intensity: curvature 0 */
    float *partiality, *light;      /* [count] as in a record */
    float *slope, *mixed;           /* [count][most] */
    float *normal;                  /* [count][most (most + 1)/2], lower triangle */
    uint16_t *moved;                /* [count] how many quantities move it */
    uint16_t *place;                /* [count][most] which ones */
    int16_t (*hkl)[3];              /* [count] */
} db_linearization;

/* Bytes of a linearization, and its arrays in so much memory, which is aligned for doubles. */
size_t db_linearization_size(size_t count, size_t local, size_t shared, size_t most);
db_linearization db_linearization_in(size_t count, size_t local, size_t shared, size_t most,
                                     void *memory);

/* Are all its numbers of reflections and quantities in range? They may not be if it comes from a file. meets: shared
 * quantities that may move a box. */
int db_linearization_is_sound(const db_linearization *linearization, size_t reflections,
                              size_t meets);

/* A point near the one of the linearization. */
typedef struct db_linearization_point {
    const double *intensity; /* of all reflections */
    const double *local, *shared;
} db_linearization_point;

/* The intensity that a box has by itself at a point, for which the curvature must not be 0. */
double db_linearization_own(const db_linearization *linearization, size_t box,
                            const db_linearization_point *point);

/* Doubles of room for the following. */
size_t db_linearization_room(const db_linearization *linearization);

/* The record of a point, with the weights that record->trust holds. */
void db_linearization_reduce(const db_linearization *linearization,
                             const db_linearization_point *point, double *room,
                             db_reduced_equations *record);

/* The loss where the linearization was made, for these weights of its boxes. */
double db_linearization_loss(const db_linearization *linearization, const float *trust);

#endif
