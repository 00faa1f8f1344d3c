/* Sums over a plan's pixels: normal equations, and products with a cotangent, which are one row of them. */
#ifndef DB_ENGINE_PLAN_NORMAL_H
#define DB_ENGINE_PLAN_NORMAL_H

#include "engine/plan_state.h"
#include <dualbragg/plan.h>

/* A plan's data for normal equations. db_normal_destroy ignores NULL. */
typedef struct db_normal db_normal;
void db_normal_destroy(db_normal *normal);

/* Gradient by the plan's parameters, of which there may be none. by_spot: NULL, or receives the sums for spots in
 * closed form from which the gradient by structure factors is made; the caller frees them, also after an error. */
db_status db_plan_vjp_sums(db_plan *plan, const void *cotangent, void *image, double *gradient,
                           double **by_spot);

/* DB_OK if the cotangent is not NULL and all its pixels are finite. */
db_status db_plan_check_cotangent(const db_plan *plan, const void *cotangent);

/* The basis of normal equations: a few images of which all derivative images are linear combinations. Products of
 * every two of them are summed over pixels; the derivatives' products follow from these sums
 * (docs/theory/normal-equations.md, Basis). */

typedef struct db_normal_basis {
    size_t count;
    size_t lattice_wanted, single_wanted; /* as in db_kernel_job */
    int lattice_columns;                  /* 1: the columns of the lattice replace its parameters */
    db_kernel_contraction *image; /* [panel][count]: how the kernel forms them from columns */
    double *step;        /* [count]: factors of the kernel's images, for spots in closed form */
    double *combination; /* [parameter_count][count]: derivative = sum of images */
} db_normal_basis;

/* Chooses and allocates the basis for the plan's parameters. Clear it after a failure, too. */
db_status db_normal_basis_create(const db_plan *plan, db_normal_basis *basis);
void db_normal_basis_clear(db_normal_basis *basis);

/* Fills it from the plan's slopes, which must be current. Allocates nothing. */
void db_normal_basis_fill(const db_plan *plan, db_normal_basis *basis);

#endif
