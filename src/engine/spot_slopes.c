/* Slopes of a plan's spots: passes of wide duals over all of them. */
#include "engine/spots.h"

#include "base/threads.h"
#include "kernel/spot_slopes.h"

db_status db_spots_fill_slopes(db_plan *plan) {
    db_kernel_spots *job = &plan->job.spots;
    const size_t length = job->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS;
    const long count = (long)job->count;
    const db_spot_slopes_function fill = db_spot_slopes_instance(plan->context->isa);
    float *narrow;
    double *slope = db_spots_slope_room(plan, job->count * job->parameters * length, &narrow);
    if (!slope) return db_fail_memory(plan->context, "the slopes of spots");
    for (size_t first = 0; first < plan->parameter_count; first += DB_SLOPES_AT_ONCE) {
        const db_parameter_slots slots = db_plan_slots(plan, first);
        db_model_dual(&plan->experiment, plan->directions, &slots, &plan->dual);
        const db_spot_slopes_work work = { &plan->experiment,
                                           &plan->dual,
                                           &slots,
                                           plan->position + first,
                                           job->parameters,
                                           db_spots_entries(plan),
                                           job->spot,
                                           job->moving,
                                           slope,
                                           narrow };
#if defined(_OPENMP)
        const int threads = db_threads_for(plan->context, count);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
        for (long i = 0; i < count; i++) fill(&work, (size_t)i);
    }
    job->slope_double = slope;
    job->slope_float = narrow;
    return DB_OK;
}
