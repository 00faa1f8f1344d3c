#include "cuda/runtime.h"

#include <cuda.h>
#include <string.h>

/* After these errors every call of the process fails, until it ends. */
static int ends_the_process(cudaError_t error) {
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
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

/* The driver's calls by which a thread's context is changed and put back. cudaSetDevice would make a
 * context on the GPU that it goes back to, half a gigabyte of its memory, even if nothing runs
 * there. */
typedef struct driver_calls {
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*push)(CUcontext);
    CUresult (*pop)(CUcontext *);
} driver_calls;

static cudaError_t find_call(const char *name, void **call) {
    enum { MEANING = 12000 }; /* of the calls: that of CUDA 12.0 */
    enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, call, MEANING, cudaEnableDefault, &found);
#else
    const cudaError_t error = cudaGetDriverEntryPoint(name, call, cudaEnableDefault, &found);
    (void)MEANING;
#endif
    if (error != cudaSuccess) return error;
    return found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorInsufficientDriver;
}

static cudaError_t find_calls(driver_calls *calls) {
    void *call[3];
    static const char *const names[] = { "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent",
                                         "cuCtxPopCurrent" };
    for (int i = 0; i < 3; i++) {
        const cudaError_t error = find_call(names[i], &call[i]);
        if (error != cudaSuccess) return error;
    }
    memcpy(&calls->retain, &call[0], sizeof calls->retain);
    memcpy(&calls->push, &call[1], sizeof calls->push);
    memcpy(&calls->pop, &call[2], sizeof calls->pop);
    return cudaSuccess;
}

/* The context is the one that the runtime uses, too. It is kept for as long as the process lives, as
 * the runtime keeps it: without a user it would be destroyed, with all memory. */
db_status db_cuda_enter(db_context *context, int number, db_cuda_scope *scope) {
    static const char what[] = "choosing the GPU";
    driver_calls driver;
    CUcontext own;
    int before;
    scope->pushed = 0;
    DB_CUDA_TRY(context, number, cudaGetDevice(&before), what);
    if (before == number) return DB_OK;
    DB_CUDA_TRY(context, number, find_calls(&driver), what);
    /* numbers of the runtime are those of the driver */
    CUresult result = driver.retain(&own, number);
    if (result == CUDA_SUCCESS) result = driver.push(own);
    scope->pushed = result == CUDA_SUCCESS;
    if (scope->pushed) return DB_OK;
    return db_fail(context, result == CUDA_ERROR_OUT_OF_MEMORY ? DB_ERROR_MEMORY : DB_ERROR_DEVICE,
                   "cuda:%d: %s: %s", number, what,
                   result == CUDA_ERROR_OUT_OF_MEMORY ? "out of the GPU's memory"
                                                      : "the driver makes no context");
}

void db_cuda_leave(const db_cuda_scope *scope) {
    driver_calls driver;
    CUcontext own;
    if (scope->pushed && find_calls(&driver) == cudaSuccess) (void)driver.pop(&own);
}

db_status db_cuda_need(db_context *context, int number, db_cuda_buffer *buffer, size_t bytes,
                       const char *what) {
    if (buffer->bytes >= bytes) return DB_OK;
    db_cuda_release(buffer);
    cudaError_t error = cudaMalloc(&buffer->memory, bytes);
    if (error == cudaErrorMemoryAllocation && context && context->device_pool) {
        (void)cudaGetLastError();
        context->pool_backend->pool_destroy(context->device_pool);
        context->device_pool = NULL;
        error = cudaMalloc(&buffer->memory, bytes);
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

db_cuda_place db_cuda_place_of(int number, const void *memory) {
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return DB_CUDA_PAGEABLE;
    }
    switch (attributes.type) {
    case cudaMemoryTypeDevice:
        return attributes.device == number ? DB_CUDA_ON_DEVICE : DB_CUDA_ELSEWHERE;
    case cudaMemoryTypeManaged: return DB_CUDA_ON_DEVICE;
    case cudaMemoryTypeHost: return DB_CUDA_LOCKED;
    default: return DB_CUDA_PAGEABLE;
    }
}

db_status db_cuda_check_place(db_context *context, int number, const void *memory,
                              const char *what) {
    struct cudaPointerAttributes attributes;
    if (!memory || db_cuda_place_of(number, memory) != DB_CUDA_ELSEWHERE) return DB_OK;
    DB_CUDA_TRY(context, number, cudaPointerGetAttributes(&attributes, memory), what);
    return db_fail(
        context, DB_ERROR_INPUT,
        "cuda:%d: %s: expected memory of this GPU or of the host, found memory of cuda:%d", number,
        what, attributes.device);
}
