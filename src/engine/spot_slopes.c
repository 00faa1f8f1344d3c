/* Slopes of a plan's spots: the values that they are made from and, for kernels of the processor, the slopes
 * themselves. */
#include "engine/spot_slopes.h"

#include "engine/plan_state.h"
#include "engine/spots.h"

#include "base/threads.h"
#include "kernel/instances.h"

void db_spots_outdate_slopes(db_plan *plan) {
    plan->job.spots.slope_double = NULL;
    plan->job.spots.slope_float = NULL;
    plan->versions.spot_slopes++;
}

/* The memory for all slopes: one of both, by the plan's precision. */
typedef struct {
    double *wide;
    float *fine;
} slope_room;

/* Fills the slopes of a block of spots. */
static void fill_block(const db_plan *plan, size_t first, slope_room to) {
    const db_structure_factors *f = &plan->experiment.structure_factors;
    const db_kernel_spots *const spots = &plan->job.spots;
    const size_t left = spots->count - first;
    const int count = left < DB_SPOT_SLOPES_BLOCK ? (int)left : (int)DB_SPOT_SLOPES_BLOCK;
    double amplitude[DB_SPOT_SLOPES_BLOCK];
    for (int i = 0; i < count; i++) {
        const int *hkl = spots->entry[first + (size_t)i].name.hkl;
        const double node[3] = { hkl[0], hkl[1], hkl[2] };
        amplitude[i] = node_amplitude_double_0(f, NULL, node).v;
    }
    db_spot_slopes_instance(plan->context->isa)(spots, plan->experiment.detector.panel_count, first,
                                                count, amplitude, to.wide, to.fine);
}

db_status db_spots_fill_slopes(db_plan *plan) {
    db_kernel_spots *const job = &plan->job.spots;
    DB_TRY(db_spots_fill(plan));
    if (job->slope_double || job->slope_float) return DB_OK;
    const size_t length = job->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS;
    const long blocks = (long)((job->count + DB_SPOT_SLOPES_BLOCK - 1) / DB_SPOT_SLOPES_BLOCK);
    void *const slope = db_spots_slope_room(plan, job->count * job->each * length);
    if (!slope) return db_fail_memory(plan->context, "the slopes of spots");
    const int mixed = plan->precision == DB_PRECISION_MIXED;
    const slope_room to = { mixed ? NULL : slope, mixed ? slope : NULL };
#if defined(_OPENMP)
    const int threads = db_threads_for(plan->context, blocks);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
    for (long i = 0; i < blocks; i++) fill_block(plan, (size_t)i * DB_SPOT_SLOPES_BLOCK, to);
    job->slope_double = to.wide;
    job->slope_float = to.fine;
    return DB_OK;
}
