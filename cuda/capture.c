/* Calls on a stream that is captured into a CUDA graph. Only kernels are captured: parameters and lists are
 * copied at once, on the plan's own stream, to memory that the graph keeps, since it may be launched when the
 * plan has others. */
#include "cuda/plan.h"

#include <stdlib.h>

/* 1 if the stream is being captured. A failure of the GPU shows in the next call. */
int db_cuda_is_captured(cudaStream_t stream) {
    enum cudaStreamCaptureStatus found = cudaStreamCaptureStatusNone;
    if (!stream || stream == cudaStreamLegacy) return 0; /* it never is */
    if (cudaStreamIsCapturing(stream, &found) == cudaSuccess)
        return found != cudaStreamCaptureStatusNone;
    (void)cudaGetLastError();
    return 0;
}

static db_status refuse(db_context *context, const db_device_plan *plan) {
    return db_fail(
        context, DB_ERROR_UNSUPPORTED,
        "cuda:%d: the stream is captured into a graph: expected a call whose results all "
        "stay in the GPU's memory, found one that waits for them",
        plan->number);
}

db_status db_cuda_refuse_captured(db_context *context, const db_device_plan *plan) {
    return db_cuda_is_captured(plan->stream) ? refuse(context, plan) : DB_OK;
}

db_status db_cuda_capture_stays(db_context *context, const db_device_plan *plan, int there) {
    return plan->captured && !there ? refuse(context, plan) : DB_OK;
}

/* A plan for a captured call; it shares what never changes with its plan. */
static db_device_plan *plan_of_graph(const db_device_plan *plan) {
    db_device_plan *const made = calloc(1, sizeof *made);
    if (!made) return NULL;
    *made = (db_device_plan){ .number = plan->number,
                              .own_stream = plan->own_stream,
                              .stream = plan->stream,
                              .captured = 1,
                              .region_count = plan->region_count,
                              .pixels = plan->pixels,
                              .row_blocks = plan->row_blocks,
                              .row_chunk = plan->row_chunk,
                              .dense = plan->dense,
                              .wide = plan->wide,
                              .span = plan->span,
                              .span_count = plan->span_count,
                              .region = plan->region,
                              .packed_region = plan->packed_region,
                              .region_start = plan->region_start,
                              .row_start = plan->row_start,
                              .of_graphs = plan->of_graphs };
    return made;
}

/* Changes the thread's capture mode: only the relaxed mode allows to allocate, and to wait for other streams. */
static enum cudaStreamCaptureMode change_mode(enum cudaStreamCaptureMode mode) {
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

db_status db_cuda_capture_begin(db_context *context, db_device_plan *plan, db_cuda_capture *c) {
    *c = (db_cuda_capture){ .plan = plan };
    if (!db_cuda_is_captured(plan->stream)) return DB_OK;
    db_device_plan *const made = plan_of_graph(plan);
    if (!made) return db_fail_memory(context, "a plan");
    plan->of_graphs = c->plan = made;
    c->mode_before = change_mode(cudaStreamCaptureModeRelaxed);
    return DB_OK;
}

void db_cuda_capture_end(const db_cuda_capture *c) {
    if (c->plan->captured) (void)change_mode(c->mode_before);
}

db_status db_cuda_wait_apart(db_context *context, const db_device_plan *plan) {
    const enum cudaStreamCaptureMode before = change_mode(cudaStreamCaptureModeRelaxed);
    const cudaError_t error = cudaStreamSynchronize(plan->stream);
    (void)change_mode(before);
    return db_cuda_status(context, plan->number, error, "rendering");
}
