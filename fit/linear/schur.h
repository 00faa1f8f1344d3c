/* The reduced system of many shots: they meet only through the quantities that they share.
 *
 *     | S   B1' B2' ... |
 *     | B1  L1          |       L: local quantities of a shot, S: shared ones
 *     | B2      L2      |
 *
 * Eliminating each shot's local quantities leaves, for the shared ones, the sum over shots of the
 * Schur complements S_i - B_i' L_i^-1 B_i (docs/theory/refinement.md, Many shots). */
#ifndef DB_FIT_LINEAR_SCHUR_H
#define DB_FIT_LINEAR_SCHUR_H

#include "fit/config/quantity.h"

/* A shot's shared and local variables, shared ones first; the same for all shots. */
typedef struct db_schur_order {
    size_t shared, local;
    size_t variable[DB_FIT_MOST_PARAMETERS]; /* numbers of the shot's variables */
    size_t index[DB_FIT_MOST_PARAMETERS];    /* numbers of the settings' parameters */
} db_schur_order;

/* Order for the variables of a stage. shared: one flag per parameter of the settings. */
db_schur_order db_schur_order_make(const db_fit_settings *settings, int stage,
                                   const unsigned char *shared);

/* Dependence of eliminated local quantities on the shared ones. */
typedef struct db_schur_tail {
    double *row;      /* [local][shared + local], triangular */
    double *gradient; /* [local] */
} db_schur_tail;
size_t db_schur_tail_size(const db_schur_order *order); /* doubles */
db_schur_tail db_schur_tail_in(const db_schur_order *order, double *memory);

/* Was local quantity i left out, because it is held or not determined? In a tail of zeros all were. */
int db_schur_is_left_out(const db_schur_order *order, const db_schur_tail *tail, size_t i);

/* Place of an element of a symmetric matrix in its lower triangle. */
static inline size_t db_triangle_at(size_t i, size_t k) {
    return i > k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i;
}

/* Contributions of one or more shots to the shared quantities: loss, gradient, lower triangle of
 * the normal matrix row by row. */
size_t db_schur_sums_size(size_t shared); /* doubles */

/* Eliminates the local quantities of a shot with this loss, gradient and normal matrix (of its variables,
 * symmetric), adds the rest to sums, and keeps the tail. held: one flag per variable; 1: fixed at a bound. work:
 * db_schur_work_size doubles. */
size_t db_schur_work_size(const db_schur_order *order);
void db_schur_reduce(const db_schur_order *order, double loss, const double *gradient,
                     const double *normal, const int *held, db_schur_tail *tail, double *sums,
                     double *work);

/* The best steps of the local quantities for a step of the shared ones. at_rest: the gradient of the local
 * quantities counts as 0, so only their dependence on this step remains. step: [shared + local]; the shared part
 * is given. */
void db_schur_answer(const db_schur_order *order, const db_schur_tail *tail, int at_rest,
                     double *step);

/* Loss, gradient and symmetric normal matrix from sums. */
void db_schur_total(size_t shared, const double *sums, double *loss, double *gradient,
                    double *normal);

#endif
