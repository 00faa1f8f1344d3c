/* The stream that a plan works on, and copies for calls that do not wait. */
#include "cuda/plan.h"

#include "cuda/operations.h"

#include <string.h>

/* The most that a box holds. Larger arrays are copied directly, and the call waits for the copy. */
static const size_t MOST_BOX_BYTES = (size_t)32 << 20;

/* A call that is captured has memory of its own, so that only calls before it must be over. */
static db_status turn_captured(db_context *context, db_device_plan *plan, cudaStream_t stream,
                               int from_captured) {
    if (!from_captured) DB_TRY(db_cuda_wait_apart(context, plan));
    plan->stream = stream;
    return DB_OK;
}

/* Changes the stream: work on the new one waits for the work on the old one. */
static db_status turn_to(db_context *context, db_device_plan *plan, cudaStream_t stream) {
    static const char what[] = "changing the stream";
    const int from_captured = db_cuda_is_captured(plan->stream);
    if (from_captured || db_cuda_is_captured(stream))
        return turn_captured(context, plan, stream, from_captured);
    DB_CUDA_TRY(context, plan->number, cudaEventRecord(plan->turned, plan->stream), what);
    DB_CUDA_TRY(context, plan->number, cudaStreamWaitEvent(stream, plan->turned, 0), what);
    /* of another GPU, it can wait but not work */
    const cudaError_t error = cudaEventRecord(plan->turned, stream);
    if (error == cudaErrorInvalidResourceHandle) {
        (void)cudaGetLastError();
        return db_fail(
            context, DB_ERROR_INPUT,
            "cuda:%d: stream: expected a stream of this GPU, found a stream of another GPU",
            plan->number);
    }
    DB_CUDA_TRY(context, plan->number, error, what);
    plan->stream = stream;
    return DB_OK;
}

db_status db_cuda_plan_set_stream(db_context *context, db_device_plan *plan, db_stream_use use,
                                  void *stream) {
    cudaStream_t const wanted = use == DB_STREAM_OWN ? plan->own_stream : stream;
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    const db_status status = wanted == plan->stream ? DB_OK : turn_to(context, plan, wanted);
    if (status == DB_OK) plan->asynchronous = use == DB_STREAM_ASYNCHRONOUS;
    db_cuda_leave(&scope);
    return status;
}

db_status db_cuda_plan_wait(db_context *context, db_device_plan *plan) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    db_status status = db_cuda_refuse_captured(context, plan);
    if (status == DB_OK)
        status =
            db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream), "rendering");
    db_cuda_leave(&scope);
    return status;
}

db_status db_cuda_results_there(db_context *context, db_device_plan *plan, int on_host) {
    DB_TRY(db_cuda_box_close(context, plan));
    if (plan->captured) return DB_OK;
    if (plan->asynchronous && !on_host) return DB_OK;
    return db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream), "rendering");
}

db_status db_cuda_need_more(db_context *context, db_device_plan *plan, db_cuda_buffer *buffer,
                            size_t bytes, const char *what) {
    if (buffer->bytes && buffer->bytes < bytes)
        DB_CUDA_TRY(context, plan->number, cudaStreamSynchronize(plan->stream), what);
    return db_cuda_need(context, plan->number, buffer, bytes, what);
}

db_status db_cuda_copy_there(db_context *context, db_device_plan *plan, void *to, const void *from,
                             size_t bytes, const char *what) {
    return db_cuda_status(context, plan->number,
                          cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, plan->stream),
                          what);
}

db_status db_cuda_copy_back(db_context *context, db_device_plan *plan, void *to, const void *from,
                            size_t bytes, const char *what) {
    return db_cuda_status(context, plan->number,
                          cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, plan->stream),
                          what);
}

db_status db_cuda_box_open(db_context *context, db_device_plan *plan) {
    if (!plan->asynchronous) return DB_OK;
    plan->box_in_use = (plan->box_in_use + 1) % DB_CUDA_BOXES;
    db_cuda_box *box = &plan->box[plan->box_in_use];
    if (!box->sent)
        DB_CUDA_TRY(context, plan->number,
                    cudaEventCreateWithFlags(&box->sent, cudaEventDisableTiming),
                    "creating an event");
    if (box->used)
        DB_CUDA_TRY(context, plan->number, cudaEventSynchronize(box->sent), "copying parameters");
    box->used = 0;
    return DB_OK;
}

/* Makes room for `bytes` more bytes in the box. */
static db_status widen_box(db_context *context, db_device_plan *plan, db_cuda_box *box,
                           size_t bytes) {
    const size_t wanted = box->used + bytes;
    if (wanted <= box->memory.bytes) return DB_OK;
    /* copies of this call may still read the old memory */
    if (box->used)
        DB_CUDA_TRY(context, plan->number, cudaStreamSynchronize(plan->stream),
                    "copying parameters");
    box->used = 0;
    return db_cuda_need_locked(context, plan->number, &box->memory, wanted + wanted / 4);
}

db_status db_cuda_send(db_context *context, db_device_plan *plan, void *to, const void *from,
                       size_t bytes, const char *what) {
    enum { ALIGNMENT = 64 };
    if (plan->asynchronous && bytes <= MOST_BOX_BYTES) {
        db_cuda_box *box = &plan->box[plan->box_in_use];
        const size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        DB_TRY(widen_box(context, plan, box, room));
        char *const copy = (char *)box->memory.memory + box->used;
        memcpy(copy, from, bytes);
        box->used += room;
        from = copy;
    }
    const int waits = plan->asynchronous && bytes > MOST_BOX_BYTES;
    DB_TRY(db_cuda_copy_there(context, plan, to, from, bytes, what));
    return waits ? db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream), what)
                 : DB_OK;
}

db_status db_cuda_box_close(db_context *context, db_device_plan *plan) {
    db_cuda_box *box = &plan->box[plan->box_in_use];
    if (!plan->asynchronous || !box->used) return DB_OK;
    return db_cuda_status(context, plan->number, cudaEventRecord(box->sent, plan->stream),
                          "copying parameters");
}
