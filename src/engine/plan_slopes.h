/* Input of gradient kernels beside the input of images: slopes of sources and sample rotations, and for
 * each parameter the coefficients that contract the kernel's columns with dz/dparameter. */
#ifndef DB_ENGINE_PLAN_SLOPES_H
#define DB_ENGINE_PLAN_SLOPES_H

#include "engine/plan_parameters.h"
#include "engine/plan_values.h"
#include "engine/spot_passes.h"

typedef struct db_plan_slopes {
    db_dual_interface interface;
    int current; /* 1: slopes belong to the experiment's present values */
    db_kernel_source_double *source_double;
    db_kernel_source_float *source_float;
    double *site_curve; /* as job.site_curve_slope */
    double *lattice_double;
    float *lattice_float;
    double *halo;                       /* as db_kernel_halo.slope */
    db_kernel_contraction *contraction; /* [panel][count], in the order of the job */
    size_t count;                       /* number of parameters */
    size_t *position;      /* [count]: place of each parameter in the order of the job */
    void **derivative;     /* [count]: the caller's images, in the order of the job */
    db_spot_passes passes; /* spots in closed form */
} db_plan_slopes;

/* Allocates the slopes, and sets the order of the parameters in the job. Clear slopes after a failure, too. */
db_status db_plan_slopes_create(db_context *context, const db_plan_parameters *parameters,
                                size_t sample_count, db_plan_slopes *slopes, db_kernel_job *job);
void db_plan_slopes_clear(db_plan_slopes *slopes);

/* Runs the dual model and fills slopes and contraction coefficients, unless they are current. */
void db_plan_slopes_fill(db_context *context, const db_plan_parameters *parameters,
                         const db_plan_values *values, db_plan_slopes *slopes, db_kernel_job *job);

/* Parameter k's coefficients on a panel. */
static inline const db_kernel_contraction *db_slopes_contraction(const db_plan_slopes *slopes,
                                                                 size_t panel, size_t k) {
    return &slopes->contraction[panel * slopes->count + slopes->position[k]];
}

#endif
