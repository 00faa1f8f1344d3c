/* Starting kernels, and the arguments that all of them have. */
#include "cuda/plan.h"

db_status db_cuda_start(db_context *context, int number, cudaStream_t stream, const void *kernel,
                        uint32_t blocks, uint32_t threads, size_t bytes,
                        const db_cuda_arguments *a) {
    void *arguments[] = { (void *)(uintptr_t)a };
    const dim3 grid = { blocks, 1, 1 }, block = { threads, 1, 1 };
    return db_cuda_status(context, number,
                          cudaLaunchKernel(kernel, grid, block, arguments, bytes, stream),
                          "starting a kernel");
}

db_status db_cuda_launch(db_context *context, db_device_plan *plan, const void *kernel,
                         uint32_t blocks, uint32_t threads, size_t bytes,
                         const db_cuda_arguments *a) {
    return db_cuda_start(context, plan->number, plan->stream, kernel, blocks, threads, bytes, a);
}

int db_cuda_shape(const db_device_work *work) {
    if (work->kind == DB_KERNEL_GENERAL_FORWARD || work->kind == DB_KERNEL_GENERAL_GRADIENT)
        return work->job.curved || work->job.interpolate || work->job.site_kinds ||
                       work->job.halo.number
                   ? DB_CUDA_SHAPE_ANY
                   : DB_CUDA_SHAPE_FLAT;
    if (db_device_has_spots(work->kind))
        return work->job.spots.moving ? DB_CUDA_SPOTS_MOVE : DB_CUDA_SPOTS_REST;
    if (work->job.shape != DB_SHAPE_SQUARE) return DB_CUDA_SHAPE_COMPACT;
    return work->job.few_cells && work->kind != DB_KERNEL_GRADIENT_CELLS ? DB_CUDA_SHAPE_FEW_CELLS
                                                                         : DB_CUDA_SHAPE_SQUARE;
}

int db_cuda_is_still(const db_device_work *work) {
    const db_kernel_job *job = &work->job;
    return job->source_count == 1 && job->oversample == 1 && job->sample_count == 1 &&
           !job->debye_waller;
}

static db_cuda_still still_of(const db_device_work *work) {
    const db_kernel_job *const job = &work->job;
    db_cuda_still still = { .source_double = job->source_double[0],
                            .sample_double = job->sample_double[0] };
    if (job->source_float) still.source_float = job->source_float[0];
    if (job->sample_float) still.sample_float = job->sample_float[0];
    return still;
}

db_cuda_arguments db_cuda_arguments_of(const db_device_plan *plan, const db_device_work *work,
                                       db_cuda_layout layout) {
    db_cuda_arguments a = { .job = work->job,
                            .region_start = plan->region_start,
                            .row_start = plan->row_start,
                            .region_count = (uint32_t)plan->region_count,
                            .pixels = plan->pixels,
                            .row_chunk = plan->row_chunk,
                            .unlisted = !work->job.table_used &&
                                        (!db_cuda_is_mixed(work) || db_offsets_suffice(&work->job)),
                            .dense = plan->dense };
    if (db_cuda_is_still(work) && !db_device_has_spots(work->kind)) a.still = still_of(work);
    if (work->job.tangent) a.job.parameter_count = db_cuda_tangent_images(work);
    a.job.region = layout == DB_CUDA_PACKED ? plan->packed_region : plan->region;
    return a;
}

/* Waits for the work of a call that failed. A captured stream has no work, and waiting for it would break the
 * capture. */
static void stop_work(const db_device_plan *plan) {
    const int captured = db_cuda_is_captured(plan->stream);
    if (!captured || plan->captured)
        (void)cudaStreamSynchronize(captured ? plan->own_stream : plan->stream);
    (void)cudaGetLastError();
}

db_status db_cuda_finish(db_device_plan *plan, db_status status, const db_cuda_scope *scope) {
    if (status != DB_OK) stop_work(plan);
    db_cuda_leave(scope);
    return status;
}
