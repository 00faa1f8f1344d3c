/* Slopes of a plan's spots: passes over blocks of them for each wide interface. */
#include "engine/spot_slopes.h"

#include "engine/spots.h"
#include "engine/plan_state.h"
#include "engine/spot_physics.h"

#include "base/threads.h"
#include "kernel/spot_slopes.h"

/* Of a block of spots. */
static void fill_block(const db_plan *plan, const db_spot_slopes_work *work, long block) {
    const db_structure_factors *f = &plan->experiment.structure_factors;
    const size_t first = (size_t)block * DB_SPOT_SLOPES_BLOCK, left = plan->job.spots.count - first;
    const int count = left < DB_SPOT_SLOPES_BLOCK ? (int)left : (int)DB_SPOT_SLOPES_BLOCK;
    double amplitude[DB_SPOT_SLOPES_BLOCK];
    for (int i = 0; i < count; i++) {
        const int *hkl = work->entry[first + (size_t)i].name.hkl;
        const double node[3] = { hkl[0], hkl[1], hkl[2] };
        amplitude[i] = node_amplitude_double_0(f, NULL, node).v;
    }
    db_spot_slopes_instance(plan->context->isa)(work, first, count, amplitude);
}

db_status db_spots_fill_slopes(db_plan *plan) {
    db_kernel_spots *job = &plan->job.spots;
    const size_t length = job->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS;
    const long blocks = (long)((job->count + DB_SPOT_SLOPES_BLOCK - 1) / DB_SPOT_SLOPES_BLOCK);
    void *const slope = db_spots_slope_room(plan, job->count * job->parameters * length);
    if (!slope) return db_fail_memory(plan->context, "the slopes of spots");
    const int mixed = plan->precision == DB_PRECISION_MIXED;
    double *const slope_double = mixed ? NULL : slope;
    float *const slope_float = mixed ? slope : NULL;
    for (size_t first = 0; first < plan->parameters.count; first += DB_SLOPES_AT_ONCE) {
        const db_parameter_slots slots = db_parameters_at_once(&plan->parameters, first);
        const db_dual_interface *z = &plan->slopes.interface;
        db_model_dual(&plan->experiment, plan->values.directions, &slots, &plan->slopes.interface);
        const db_spot_slopes_work work = { .experiment = &plan->experiment,
                                           .slots = &slots,
                                           .place = plan->slopes.position + first,
                                           .parameters = job->parameters,
                                           .spread = (const double *)(const void *)&z->spread,
                                           .panel = (const double *)(const void *)z->panel,
                                           .source = (const double *)(const void *)z->source,
                                           .layer_step = &z->layer_step.v,
                                           .attenuation = &z->attenuation.v,
                                           .parts = z->spread.parts,
                                           .entry = plan->job.spots.entry,
                                           .spot = job->spot,
                                           .moving = job->moving,
                                           .slope_double = slope_double,
                                           .slope_float = slope_float };
#if defined(_OPENMP)
        const int threads = db_threads_for(plan->context, blocks);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
        for (long i = 0; i < blocks; i++) fill_block(plan, &work, i);
    }
    plan->versions.spot_slopes++;
    job->slope_double = slope_double;
    job->slope_float = slope_float;
    return DB_OK;
}
