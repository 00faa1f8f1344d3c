#include "cuda/runtime.h"

db_status db_cuda_status(db_context *context, int number, cudaError_t error, const char *what) {
    if (error == cudaSuccess) return DB_OK;
    (void)cudaGetLastError();
    return db_fail(context, error == cudaErrorMemoryAllocation ? DB_ERROR_MEMORY : DB_ERROR_DEVICE,
                   "cuda:%d: %s: %s", number, what,
                   error == cudaErrorMemoryAllocation ? "out of the GPU's memory"
                                                      : cudaGetErrorString(error));
}

db_status db_cuda_enter(db_context *context, int number, db_cuda_scope *scope) {
    DB_CUDA_TRY(context, number, cudaGetDevice(&scope->before), "choosing the GPU");
    if (scope->before == number) return DB_OK;
    return db_cuda_status(context, number, cudaSetDevice(number), "choosing the GPU");
}

void db_cuda_leave(const db_cuda_scope *scope) { (void)cudaSetDevice(scope->before); }

db_status db_cuda_need(db_context *context, int number, db_cuda_buffer *buffer, size_t bytes,
                       const char *what) {
    if (buffer->bytes >= bytes) return DB_OK;
    db_cuda_release(buffer);
    const cudaError_t error = cudaMalloc(&buffer->memory, bytes);
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
    buffer->bytes = bytes;
    return DB_OK;
}

db_status db_cuda_need_locked(db_context *context, int number, db_cuda_buffer *buffer,
                              size_t bytes) {
    if (buffer->bytes >= bytes) return DB_OK;
    db_cuda_release_locked(buffer);
    DB_CUDA_TRY(context, number, cudaHostAlloc(&buffer->memory, bytes, cudaHostAllocDefault),
                "memory of the host for copies");
    buffer->bytes = bytes;
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

db_cuda_place db_cuda_place_of(const void *memory) {
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return DB_CUDA_PAGEABLE;
    }
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged
               ? DB_CUDA_ON_DEVICE
           : attributes.type == cudaMemoryTypeHost ? DB_CUDA_LOCKED
                                                   : DB_CUDA_PAGEABLE;
}
