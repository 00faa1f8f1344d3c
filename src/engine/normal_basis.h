/* The basis of normal equations: a few images of which all derivative images are linear combinations. Products of
 * every two of them are summed over pixels; the derivatives' products follow from these sums
 * (docs/theory/normal-equations.md, Basis). */
#ifndef DB_ENGINE_NORMAL_BASIS_H
#define DB_ENGINE_NORMAL_BASIS_H

#include "engine/plan_state.h"

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
