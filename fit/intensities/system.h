/* The linear system of joint intensities: changes of the intensities of all reflections, and of what
 * shots share, that minimize the sum of the shots' quadratic models, each with its local quantities
 * eliminated (fit/linear/reduced.h):
 *
 *     H x = r,   H = sum over shots of (D - V V') and their shared borders, + restraints and priors
 *
 * a diagonal with a few ranks less for each shot. H is never stored. Conjugate gradients need its
 * products, which are sums over the records as they pass by; their preconditioner is the diagonal,
 * with the shared quantities' own matrix. Sums are taken shot by shot within chunks of shots, and these
 * are added along a fixed tree (fit/shots/tree_sum.h), so that neither threads nor processes change a
 * bit. */
#ifndef DB_FIT_INTENSITIES_SYSTEM_H
#define DB_FIT_INTENSITIES_SYSTEM_H

#include "fit/linear/reduced.h"
#include "fit/shots/tree_sum.h"

typedef struct db_joint_system {
    db_context *context;
    size_t reflections, shared, shots;
    int threads;
    size_t chunk;         /* consecutive shots whose sums are one */
    db_fit_team team;     /* processes, each with the records of some chunks */
    db_piece_owner owner; /* process of a chunk */
    const void *owner_of; /* argument of owner */
    /* The record of a shot, valid until the thread asks for the next; called by several threads at
     * once. */
    db_status (*read)(void *user, size_t shot, int thread, db_reduced_equations *record);
    void *user;
    const unsigned char *group; /* [shots] bits of the shot's groups; 0: none */

    /* Results of db_joint_system_sum, to which restraints and priors may be added */
    double *diagonal;  /* [reflections] of H without V V' */
    double *remainder; /* [reflections] diagonal of V V' */
    double *right;     /* [reflections + shared] r: minus half the slopes, local ones eliminated */
    double *normal;    /* [shared][shared] */

    db_tree_sum sums, products;
    double *total; /* of either */
    double *room;
} db_joint_system;

static inline size_t db_joint_system_chunks(const db_joint_system *system) {
    return (system->shots + system->chunk - 1) / system->chunk;
}

/* Makes the lists of the system, whose first members are set. */
db_status db_joint_system_make(db_joint_system *system);
void db_joint_system_clear(db_joint_system *system);

/* Adds a shot to the sums of its chunk; called by several threads at once. */
typedef void (*db_joint_adder)(const void *user, const db_reduced_equations *record, double *sums);

/* Sums over the records of shots in any of these groups (bits), along the tree: in total, of all processes. tree:
 * as many pieces as there are chunks. */
db_status db_joint_system_over(const db_joint_system *system, unsigned groups, db_tree_sum *tree,
                               db_joint_adder add, const void *user, double *total);

/* Sums of the shots in any of these groups. */
db_status db_joint_system_sum(db_joint_system *system, unsigned groups);

/* Holds a shared quantity until the next sum. */
void db_joint_system_hold(db_joint_system *system, size_t shared);

/* Solves (H + damping diag) x = right for these groups, after their sums; right may differ from the system's, both
 * [reflections + shared]. Reflections that no shot shows stay 0. shared_moves 0: shared quantities are held. Ends
 * when the residual, in the norm of the preconditioner, has decreased to tolerance. */
db_status db_joint_system_solve(db_joint_system *system, unsigned groups, double damping,
                                double tolerance, int shared_moves, const double *right, double *x,
                                int *iterations);

/* Growth of errors of intensities by all other refined quantities. */

/* Removes changes from x, [reflections], along which the system determines nothing. */
typedef void (*db_joint_projector)(const void *user, double *x);

/* Estimates D diag(H^-1), the factor on the variance of each intensity compared with all others and the shared
 * quantities known, after the sums of these groups; at least the first terms of the series, 1 + diag(V V') / D.
 * project may be NULL. Costs about twenty products for each probe. */
db_status db_joint_system_spread(db_joint_system *system, unsigned groups, int probes,
                                 db_joint_projector project, const void *user, double *spread);

#endif
