/* The table of compiled kernel instances. */
#ifndef DB_KERNEL_INSTANCES_H
#define DB_KERNEL_INSTANCES_H

#include "base/context_internal.h"
#include "kernel/job.h"
#include "kernel/spot_slopes.h"

#include <dualbragg/plan.h>

typedef enum db_kernel_kind {
    DB_KERNEL_FORWARD,
    DB_KERNEL_GRADIENT,
    DB_KERNEL_GRADIENT_CELLS,  /* with the cell counts N among the parameters */
    DB_KERNEL_GENERAL_FORWARD, /* for jobs that are not plain */
    DB_KERNEL_GENERAL_GRADIENT,
    DB_KERNEL_SPOTS_FORWARD, /* spots in closed form */
    DB_KERNEL_SPOTS_GRADIENT,
    DB_KERNEL_AMPLITUDES, /* derivatives by structure factors, of sampled spots */
    DB_KERNEL_KIND_COUNT
} db_kernel_kind;

/* The instance for this instruction set; never NULL. */
db_kernel_function db_kernel_instance(db_isa isa, db_precision precision, db_kernel_kind kind);
db_spot_slopes_function db_spot_slopes_instance(db_isa isa);

#endif
