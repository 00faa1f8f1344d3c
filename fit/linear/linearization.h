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
    double *prior_loss;             /* 1: priors of local quantities */
    double *prior_slope;            /* [local] half the slope of the priors */
    double *prior_curvature;        /* [local] half their second derivative */
    uint32_t *reflection;           /* [count] number of the box's intensity */
    float *intensity;               /* [count] at the point */
    float *loss, *pull, *curvature; /* [count]; curvature 0: nothing is known of the intensity */
    float *partiality, *light;      /* [count] as in a record; partiality 0: no weight */
    float *slope, *mixed;           /* [count][most] */
    float *normal;                  /* [count][most (most + 1)/2], lower triangle */
    uint16_t *moved;                /* [count] number of quantities that move the box */
    uint16_t *place;                /* [count][most] these quantities */
    int16_t (*hkl)[3];              /* [count] */
} db_linearization;

/* Bytes of a linearization, and its arrays in memory of this size, which is aligned for doubles. */
size_t db_linearization_size(size_t count, size_t local, size_t shared, size_t most);
db_linearization db_linearization_in(size_t count, size_t local, size_t shared, size_t most,
                                     void *memory);

/* Are all its numbers of reflections and quantities in range? In a file they may not be. meets: shared quantities
 * that may move a box. */
int db_linearization_is_sound(const db_linearization *linearization, size_t reflections,
                              size_t meets);

/* A point near the one of the linearization. */
typedef struct db_linearization_point {
    const double *intensity; /* of all reflections */
    const double *local, *shared;
} db_linearization_point;

/* The box's own best intensity at a point; the curvature must not be 0. */
double db_linearization_own(const db_linearization *linearization, size_t box,
                            const db_linearization_point *point);

/* Changes what x stands for: intensities that fall as the light grows with other quantities, so that the light is the same at
 * x = 0. growth: [local + shared] of the light by a quantity, as a part of the light. */
void db_linearization_hold_light(const db_linearization *linearization, const double *growth);

/* Doubles of room for db_linearization_reduce. */
size_t db_linearization_room(const db_linearization *linearization);

/* The record of a point, with the weights in record->trust. */
void db_linearization_reduce(const db_linearization *linearization,
                             const db_linearization_point *point, double *room,
                             db_reduced_equations *record);

/* The loss at the linearization's point, with these weights of the boxes. */
double db_linearization_loss(const db_linearization *linearization, const float *trust);

#endif
