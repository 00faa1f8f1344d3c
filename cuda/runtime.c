#include "cuda/runtime.h"

#include <string.h>

/* After these errors every call of the process fails, until it ends. */
static int ends_the_process(cudaError_t error) {
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure: return 1;
    default: return 0;
    }
}

db_status db_cuda_status(db_context *context, int number, cudaError_t error, const char *what) {
    if (error == cudaSuccess) return DB_OK;
    (void)cudaGetLastError();
    return db_fail(context, error == cudaErrorMemoryAllocation ? DB_ERROR_MEMORY : DB_ERROR_DEVICE,
                   "cuda:%d: %s: %s%s", number, what,
                   error == cudaErrorMemoryAllocation ? "out of the GPU's memory"
                                                      : cudaGetErrorString(error),
                   ends_the_process(error) ? "; this process cannot use the GPU any more" : "");
}

/* Room for a buffer: half as much more if it grows, since it may grow again. Allocating takes long, and freeing
 * waits for the whole GPU. */
static size_t room_for(const db_cuda_buffer *before, size_t bytes) {
    return before->bytes ? bytes + bytes / 2 : bytes;
}

db_status db_cuda_need(db_context *context, int number, db_cuda_buffer *buffer, size_t bytes,
                       const char *what) {
    if (buffer->bytes >= bytes) return DB_OK;
    size_t room = room_for(buffer, bytes);
    db_cuda_release(buffer);
    cudaError_t error = cudaMalloc(&buffer->memory, room);
    if (error == cudaErrorMemoryAllocation && context && context->device_pool) {
        (void)cudaGetLastError();
        context->pool_destroy(context->device_pool);
        context->device_pool = NULL;
        error = cudaMalloc(&buffer->memory, room);
    }
    if (error == cudaErrorMemoryAllocation && room > bytes) {
        (void)cudaGetLastError();
        room = bytes;
        error = cudaMalloc(&buffer->memory, room);
    }
    if (error == cudaErrorMemoryAllocation) {
        size_t left = 0, all = 0;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&left, &all);
        buffer->memory = NULL;
        return db_fail(context, DB_ERROR_MEMORY,
                       "cuda:%d: out of the GPU's memory: %s needs %zu MB, %zu of %zu MB are left",
                       number, what, (bytes >> 20) + 1, left >> 20, all >> 20);
    }
    DB_CUDA_TRY(context, number, error, what);
    buffer->bytes = room;
    return DB_OK;
}

db_status db_cuda_need_locked(db_context *context, int number, db_cuda_buffer *buffer,
                              size_t bytes) {
    if (buffer->bytes >= bytes) return DB_OK;
    const size_t room = room_for(buffer, bytes);
    db_cuda_release_locked(buffer);
    DB_CUDA_TRY(context, number, cudaHostAlloc(&buffer->memory, room, cudaHostAllocDefault),
                "memory of the host for copies");
    buffer->bytes = room;
    return DB_OK;
}

void db_cuda_release(db_cuda_buffer *buffer) {
    if (buffer->bytes) (void)cudaFree(buffer->memory);
    *buffer = (db_cuda_buffer){ 0 };
}

void db_cuda_release_locked(db_cuda_buffer *buffer) {
    if (buffer->bytes) (void)cudaFreeHost(buffer->memory);
    *buffer = (db_cuda_buffer){ 0 };
}

db_cuda_place db_cuda_place_of(int number, const void *memory) {
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, memory);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return error == cudaErrorInvalidValue ? DB_CUDA_PAGEABLE : DB_CUDA_UNKNOWN;
    }
    switch (attributes.type) {
    case cudaMemoryTypeDevice:
        return attributes.device == number ? DB_CUDA_ON_DEVICE : DB_CUDA_ELSEWHERE;
    case cudaMemoryTypeManaged: return DB_CUDA_ON_DEVICE;
    case cudaMemoryTypeHost: return DB_CUDA_LOCKED;
    default: return DB_CUDA_PAGEABLE;
    }
}

db_status db_cuda_check_place(db_context *context, int number, const void *memory, const char *what,
                              int *there) {
    struct cudaPointerAttributes attributes;
    const db_cuda_place place = memory ? db_cuda_place_of(number, memory) : DB_CUDA_PAGEABLE;
    *there = place == DB_CUDA_ON_DEVICE;
    if (place != DB_CUDA_ELSEWHERE && place != DB_CUDA_UNKNOWN) return DB_OK;
    DB_CUDA_TRY(context, number, cudaPointerGetAttributes(&attributes, memory), what);
    return db_fail(
        context, DB_ERROR_INPUT,
        "cuda:%d: %s: expected memory of this GPU or of the host, found memory of cuda:%d", number,
        what, attributes.device);
}
