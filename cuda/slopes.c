/* Slopes of spots in closed form, which a plan makes and keeps on the GPU. */
#include "cuda/plan.h"

/* Sets the pointer in the plan's precision. */
static void set_slopes(const db_device_work *work, const void *slopes, db_cuda_arguments *a) {
    if (db_cuda_is_mixed(work))
        a->job.spots.slope_float = slopes;
    else
        a->job.spots.slope_double = slopes;
}

static db_status make_all(db_context *context, db_device_plan *plan, const db_device_work *work,
                          size_t bytes, db_cuda_arguments *a) {
    const uint32_t blocks = db_cuda_blocks((uint32_t)a->job.spots.count, DB_CUDA_SLOPES_BLOCK);
    const int are_there = plan->slopes_version == work->slopes_version;
    DB_TRY(db_cuda_need_more(context, plan, &plan->slopes, bytes, "the slopes of spots"));
    set_slopes(work, plan->slopes.memory, a);
    if (are_there) return DB_OK;
    plan->slopes_version = 0;
    a->slopes = plan->slopes.memory;
    DB_TRY(db_cuda_launch(context, plan, db_cuda_spot_slopes,
                          blocks * (uint32_t)work->job.spots.passes, DB_CUDA_SLOPES_BLOCK,
                          DB_CUDA_MODEL_BYTES, a));
    plan->slopes_version = work->slopes_version;
    return DB_OK;
}

/* One slope of each spot in place of one for each parameter. */
static db_status make_tangent(db_context *context, db_device_plan *plan, const db_device_work *work,
                              size_t columns, size_t bytes, db_cuda_arguments *a) {
    const uint32_t threads = (uint32_t)(a->job.spots.count * columns);
    DB_TRY(db_cuda_need_more(context, plan, &plan->tangent, bytes, "the slopes of spots"));
    a->slopes = plan->tangent.memory;
    DB_TRY(db_cuda_launch(context, plan, db_cuda_spot_tangent,
                          db_cuda_blocks(threads, DB_CUDA_SLOPES_BLOCK), DB_CUDA_SLOPES_BLOCK, 0,
                          a));
    set_slopes(work, plan->tangent.memory, a);
    a->job.spots.parameters = 1;
    return DB_OK;
}

db_status db_cuda_make_slopes(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_arguments *a) {
    const db_kernel_spots *const spots = &a->job.spots;
    const int mixed = db_cuda_is_mixed(work);
    const size_t slopes = mixed ? DB_CUDA_SPOT_SLOPES : DB_CUDA_DOUBLE_SPOT_SLOPES,
                 columns = spots->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS,
                 pass = spots->count * columns * slopes * (mixed ? sizeof(float) : sizeof(double));
    if (!db_device_has_slopes(work->kind) || !spots->parameters || !spots->count) return DB_OK;
    DB_TRY(make_all(context, plan, work, DB_CUDA_SPOT_PASSES(spots->parameters, slopes) * pass, a));
    return work->job.tangent ? make_tangent(context, plan, work, columns, pass, a) : DB_OK;
}
