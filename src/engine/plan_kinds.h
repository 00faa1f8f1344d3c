/* Chooses the kind of kernel for a plan's images. */
#ifndef DB_ENGINE_PLAN_KINDS_H
#define DB_ENGINE_PLAN_KINDS_H

#include "engine/plan_state.h"
#include "kernel/instances.h"

static inline db_kernel_kind db_plan_forward_kind(const db_plan *plan) {
    return plan->spots         ? DB_KERNEL_SPOTS_FORWARD
           : plan->job.general ? DB_KERNEL_GENERAL_FORWARD
                               : DB_KERNEL_FORWARD;
}

static inline db_kernel_kind db_plan_gradient_kind(const db_plan *plan) {
    if (plan->spots) return DB_KERNEL_SPOTS_GRADIENT;
    if (plan->job.general) return DB_KERNEL_GENERAL_GRADIENT;
    return db_parameters_moving(&plan->parameters, DB_MOVES_CELLS) ? DB_KERNEL_GRADIENT_CELLS
                                                                   : DB_KERNEL_GRADIENT;
}

#endif
